import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { LIMITS } from '../../contract/limits.ts';
import type { Failure } from '../../contract/outcome.ts';
import type { RunResult } from '../../contract/run.ts';
import type { SourceFile } from '../../contract/source.ts';
import { parseJson } from '../check/json.ts';
import { readSource } from '../check/read.ts';
import { MANIFEST } from '../check/source.ts';
import { openCache, openSandbox, type SandboxKind } from '../compose.ts';
import { readConfig } from '../config.ts';
import { summary } from '../report/summary.ts';
import { run } from '../run/run.ts';
import { messageOf } from './failure.ts';
import { withSandbox } from './interrupt.ts';
import { meter } from './progress.ts';
import { archiveOf, type ScopeOptions, scopeOf } from './scope.ts';
import { sweepTable } from './sweep.ts';

export interface RunOptions extends ScopeOptions {
  readonly archive: string;
  readonly out?: string;
  readonly sandbox: SandboxKind;
  readonly seed?: number;
  readonly lockstep?: boolean;
  readonly json?: boolean;
}

const EXIT: Record<RunResult['outcome'], number> = { completed: 0, rejected: 1, failed: 2, fault: 3 };

/** `backtest run`. With `json`, stdout gets one RunResult. */
export async function runCommand(dir: string, options: RunOptions): Promise<void> {
  const result = await backtest(dir, options);
  process.exitCode = EXIT[result.outcome];
  const { report, archive } = result;
  if (options.json) process.stdout.write(`${JSON.stringify(result)}\n`);
  else if (report === null || archive === null) process.stderr.write(tell(result));
  else if (report.scope.sweepCells > 1) process.stdout.write(await sweepTable(report, archive));
  else process.stdout.write(summary(report, archive));
}

/** One run with a progress display. `name` stands before the display where there are several. */
export async function backtest(dir: string, options: RunOptions, name = ''): Promise<RunResult> {
  const config = readConfig();
  const scope = scopeOf(options);
  const archive = await archiveOf(options.archive);
  const source = await readSource(dir, LIMITS);
  return withSandbox(
    () => advised(() => openSandbox(options.sandbox, config)),
    async (sandbox, signal) => {
      const display = meter(config.draw && process.stderr.isTTY === true, name);
      try {
        return await run({
          source,
          archive,
          cache: await openCache(config),
          scope,
          sandbox,
          limits: LIMITS,
          lockstep: options.lockstep ?? false,
          seed: options.seed ?? null,
          concurrency: availableParallelism(),
          out: options.out ?? join('out', nameOf(source.files)),
          signal,
          onProgress: display.show,
        });
      } finally {
        display.stop();
      }
    },
  );
}

/** Opens or tries a sandbox, and says what to do where there is none. */
export async function advised<T>(open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    const ways =
      'See what is missing: npx backtest doctor. Or run your own code unprotected: --sandbox process';
    throw new Error(`${messageOf(error)}\n${ways}`, { cause: error });
  }
}

/** The strategy's name, before anybody has checked the manifest; whatever is wrong with it `run` will say. */
function nameOf(files: readonly SourceFile[]): string {
  try {
    const manifest = files.find((file) => file.name === MANIFEST)?.content ?? '';
    const { name } = parseJson(manifest).value as { name: string };
    return /^[a-z0-9-]{1,64}$/.test(name) ? name : 'strategy';
  } catch {
    return 'strategy';
  }
}

/** Why there is no report. */
export function tell({ outcome, rejection }: Pick<RunResult, 'outcome' | 'rejection'>): string {
  if (rejection === null) return `${outcome}\n`;
  if (!('kind' in rejection)) return `${rejection.code}: ${rejection.detail}\n`;
  return tellFailure(rejection);
}

/** What the author of a strategy needs to find the mistake. */
function tellFailure({ kind, code, detail, place, traceback, last_logs }: Failure): string {
  const where = [
    ['hook', place.hook],
    ['market', place.market],
    ['time', place.ts_ms === null ? null : new Date(place.ts_ms).toISOString()],
  ].filter(([, value]) => value !== null);
  return [
    `The strategy failed: ${kind.replaceAll('_', ' ')} (${code})`,
    detail,
    '',
    ...where.map(([label, value]) => `  ${label!.padEnd(7)} ${value}`),
    ...section('traceback', traceback.trimEnd()),
    ...section('last logs', last_logs.join('\n')),
    '',
  ].join('\n');
}

const section = (title: string, text: string): string[] =>
  text === '' ? [] : ['', `${title}:`, ...text.split('\n').map((line) => `  ${line}`)];
