import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, vi } from 'vitest';

/** The command line as a user meets it: a child process with its own folder, cache and environment. */

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
export const FIXTURES = fileURLToPath(new URL('../../fixtures', import.meta.url));
export const ARCHIVE = join(FIXTURES, 'archive/synthetic');
/** A scope of nine small markets. */
export const SCOPE = ['--assets', 'BTC', '--from', '2026-10-14', '--to', '2026-10-14'];

// Each test starts a process or two: more of them at a time would only wait for each other.
vi.setConfig({ testTimeout: 60_000, maxConcurrency: 2 });

const scratch = mkdtempSync(join(tmpdir(), 'cli-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** A new empty folder, gone after the tests. */
export const folder = (): string => mkdtempSync(join(scratch, 'f-'));

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Given {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
}

export function start(args: readonly string[], { cwd = scratch, env = {} }: Given = {}): Started {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd,
    env: { PATH: process.env.PATH, XDG_CACHE_HOME: join(scratch, 'cache'), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
    });
  }
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject).on('close', (code) => resolve({ code, ...texts }));
  });
  return { child, ended };
}

export const backtest = (args: readonly string[], given?: Given): Promise<Ended> => start(args, given).ended;

/** Its one line of JSON. */
export function jsonOf({ stdout }: Ended): unknown {
  if (!/^[^\n]+\n$/.test(stdout)) throw new Error(`expected one line of JSON: ${stdout}`);
  return JSON.parse(stdout);
}

/** A copy of the archive that a test may damage. */
export function ownArchive(): string {
  const copy = join(folder(), 'archive');
  cpSync(join(ARCHIVE, 'venue_a'), join(copy, 'venue_a'), { recursive: true });
  return copy;
}

/** What lies in a folder, hidden files and all; nothing where there is none. */
export const found = (path: string): string[] => (existsSync(path) ? readdirSync(path) : []);

const MANIFEST = { contract: 1, name: 'buyer', datasets: ['book', 'price_change'] };
const LANGUAGES = {
  python: { language: 'python@3.14', entry: 'strategy.py' },
  node: { language: 'nodejs@24', entry: 'strategy.js' },
};
export type Language = keyof typeof LANGUAGES;

/** Writes a strategy's folder. */
export function strategy(language: Language, code: string, manifest: Record<string, unknown> = {}): string {
  const dir = folder();
  const files = {
    'manifest.json': JSON.stringify({ ...MANIFEST, ...LANGUAGES[language], ...manifest }, null, 2),
    [LANGUAGES[language].entry]: code,
  };
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), content);
  }
  return dir;
}

/** Buys ten shares of up in each market, as soon as it has a price. */
export const BUYER: Record<Language, string> = {
  python: `class Strategy:
    bought = False

    def on_book(self, ctx, change):
        if not self.bought and ctx.book(change.market, 'up').best_ask:
            self.bought = True
            ctx.buy(change.market, 'up', size=10, tag='first')
            ctx.log('bought')
`,
  node: `export class Strategy {
  bought = false;

  onBook(ctx, change) {
    if (this.bought || !ctx.book(change.market, 'up').bestAsk) return;
    this.bought = true;
    ctx.buy({ market: change.market, outcome: 'up', size: 10, tag: 'first' });
    ctx.log('bought');
  }
}
`,
};
