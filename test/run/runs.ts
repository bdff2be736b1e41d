import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LIMITS, type RunResult, type Scope, scope } from '../../contract/index.ts';
import { openCache } from '../../src/archive/cache.ts';
import { openArchive } from '../../src/archive/catalogue.ts';
import { readSource } from '../../src/check/read.ts';
import { openSandbox, PACKAGE, type SandboxKind } from '../../src/compose.ts';
import { readConfig } from '../../src/config.ts';
import { run } from '../../src/run/run.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';

export const STRATEGIES = ['momentum', 'favourite', 'maker', 'kline-series', 'timers', 'idle'] as const;
export const SYNTHETIC = join(PACKAGE, 'fixtures/archive/synthetic');
export const REAL = join(PACKAGE, 'fixtures/archive/real');
export const strategy = (name: string): string => join(PACKAGE, 'fixtures/strategies', name);

/** A place for a test file's runs: one temporary folder, one cache, sandboxes that are closed at the end. */
export class Bench {
  readonly folder = mkdtempSync(join(tmpdir(), 'backtest-runs-'));
  private readonly sandboxes = new Map<SandboxKind, Sandbox>();
  private runs = 0;

  async sandbox(kind: SandboxKind): Promise<Sandbox> {
    const open = this.sandboxes.get(kind) ?? (await openSandbox(kind, readConfig()));
    this.sandboxes.set(kind, open);
    return open;
  }

  /** Runs a strategy folder; the report lies in `out`. */
  async run(folder: string, options: RunOptions = {}): Promise<Ran> {
    const out = join(this.folder, `out-${this.runs++}`);
    const result = await run({
      source: await readSource(folder, LIMITS),
      archive: openArchive(options.archive ?? SYNTHETIC),
      cache: await openCache(join(this.folder, 'cache'), 1e9),
      scope: scope.parse(options.scope ?? {}),
      sandbox: await this.sandbox(options.sandbox ?? 'process'),
      limits: { ...LIMITS, ...options.limits },
      lockstep: options.lockstep ?? false,
      seed: options.seed ?? null,
      concurrency: options.concurrency ?? 1,
      out,
      signal: options.signal ?? new AbortController().signal,
      onProgress: () => {},
    });
    return { result, out };
  }

  async close(): Promise<void> {
    for (const sandbox of this.sandboxes.values()) await sandbox.close();
    rmSync(this.folder, { recursive: true });
  }
}

export interface RunOptions {
  readonly archive?: string;
  readonly scope?: Partial<Scope>;
  readonly sandbox?: SandboxKind;
  readonly lockstep?: boolean;
  readonly concurrency?: number;
  readonly seed?: number;
  readonly limits?: Partial<typeof LIMITS>;
  readonly signal?: AbortSignal;
}

export interface Ran {
  readonly result: RunResult;
  readonly out: string;
}

/** sha256 of every file of a report, by name. */
export async function digests({ out }: Ran): Promise<Record<string, string>> {
  const names = (await readdir(out)).sort();
  const hashed = names.map(async (name) => {
    const hash = createHash('sha256').update(await readFile(join(out, name)));
    return [name, hash.digest('hex')] as const;
  });
  return Object.fromEntries(await Promise.all(hashed));
}

/** A report without what tells who made it and how: source, language, how far rows ran ahead. */
export async function anonymous(ran: Ran): Promise<Record<string, string>> {
  const files = await digests(ran);
  const report = JSON.parse(await readFile(join(ran.out, 'report.json'), 'utf8'));
  report.identity.source_sha256 = '';
  report.identity.manifest = { ...report.identity.manifest, language: '', entry: '' };
  report.assumptions = null;
  for (const name of ['manifest.json', 'provenance.json', 'report.zip', 'sha256sums.txt']) delete files[name];
  return { ...files, 'report.json': JSON.stringify(report) };
}
