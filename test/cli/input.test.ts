import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { rejection } from '../../contract/rejection.ts';
import { runResult } from '../../contract/run.ts';
import {
  ARCHIVE,
  BUYER,
  backtest,
  folder,
  found,
  jsonOf,
  type Language,
  SCOPE,
  strategy,
} from './support.ts';

/** What is wrong, and all that the message has to name. */
const REJECTED: [what: string, dir: () => string, args: string[], code: string, named: RegExp[]][] = [
  ['an unknown manifest key', ours({ capitol: 5 }), [], 'E_MANIFEST', [/"?capitol"?/, /capital/]],
  [
    'a manifest that is no JSON',
    broken('manifest.json', '{ "contract": 1,, }'),
    [],
    'E_MANIFEST',
    [/manifest\.json/, /1/],
  ],
  ['a folder without a manifest', folder, [], 'E_MANIFEST', [/manifest\.json/]],
  ['a folder that is not there', () => '/nowhere/at-all', [], 'E_MANIFEST', [/\/nowhere\/at-all/]],
  [
    'a syntax error in Python',
    coded('python', 'class Strategy:\n    def on_book(self, ctx:\n        pass\n'),
    [],
    'E_SYNTAX',
    [/strategy\.py/, /[23]/],
  ],
  [
    'a syntax error in JavaScript',
    coded('node', 'export class Strategy {\n  onBook( {\n}\n'),
    [],
    'E_SYNTAX',
    [/strategy\.js/],
  ],
  [
    'a missing class',
    coded('python', 'def on_book(ctx, change): pass\n'),
    [],
    'E_ENTRY',
    [/strategy\.py/, /Strategy/],
  ],
  ['a missing entry file', ours({ entry: 'main.js' }), [], 'E_ENTRY', [/main\.js/]],
  [
    'a misspelt hook',
    coded('python', 'class Strategy:\n    def on_bok(self, ctx, change): pass\n'),
    [],
    'E_HOOK',
    [/strategy\.py/, /on_bok/, /on_book/],
  ],
  [
    'an import that the box lacks',
    coded('python', `import requests\n${BUYER.python}`),
    [],
    'E_IMPORT',
    [/strategy\.py/, /requests/],
  ],
  [
    'a dataset that the archive lacks',
    ours({ datasets: ['book', 'klines'], kline_intervals: ['12h'] }),
    [],
    'E_COVERAGE',
    [/klines 12h/, /2026-10-14/],
  ],
  [
    'days that are not archived',
    ours(),
    ['--from', '2026-10-20', '--to', '2026-10-21'],
    'E_SCOPE',
    [/2026-10-20/, /2026-10-14 to 2026-10-15/],
  ],
  ['an asset that is not archived', ours(), ['--assets', 'DOGE'], 'E_SCOPE', [/DOGE/, /BTC/]],
  ['a day that is none', ours(), ['--from', '2026-02-30'], 'E_SCOPE', [/--from/, /YYYY-MM-DD/]],
];

test.concurrent.each(REJECTED)(
  'a run refuses %s with exit code 1 and names the place',
  async (_, dir, args, code, named) => {
    const cwd = folder();
    const scope = args.length > 0 ? args : SCOPE;
    const ended = await backtest(
      ['run', dir(), '--archive', ARCHIVE, '--sandbox', 'process', '--json', ...scope],
      { cwd },
    );
    const { outcome, rejection: why } = runResult.parse(jsonOf(ended));
    expect({ code: ended.code, outcome, why: why?.code }).toEqual({
      code: 1,
      outcome: 'rejected',
      why: code,
    });
    for (const part of named) expect(why?.detail).toMatch(part);
    expect(ended.stderr).not.toMatch(/\n +at /);
    expect(found(join(cwd, 'out'))).toEqual([]);
  },
);

test.concurrent('the check says the same, before a run', async () => {
  const dir = coded('python', 'class Strategy:\n    def on_bok(self, ctx, change): pass\n')();
  const ended = await backtest(['check', dir, '--json']);
  expect(rejection.parse(jsonOf(ended))).toMatchObject({
    code: 'E_HOOK',
    detail: expect.stringContaining('on_bok'),
  });
  expect(ended.code).toBe(1);
});

test.concurrent.each([
  [['run'], /missing required argument 'dir'/],
  [['run', 'somewhere'], /--archive/],
  [['run', 'somewhere', '--archve', 'x'], /Did you mean --archive\?/],
  [['run', 'somewhere', '--archive', 'x', '--days', 'many'], /whole number/],
  [['run', 'somewhere', '--archive', 'x', '--sandbox', 'none'], /docker, process/],
  [['rnu'], /Did you mean run\?/],
  [['init', 'somewhere'], /--language/],
])('%j exits with 1 and a message that helps', async (args, message) => {
  const ended = await backtest(args);
  expect(ended).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(message) });
});

test.concurrent('a rejection is also told in words', async () => {
  const ended = await backtest(
    ['run', ours({ capitol: 5 })(), '--archive', ARCHIVE, '--sandbox', 'process'],
    { cwd: folder() },
  );
  expect(ended).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^E_MANIFEST: .*capitol/m),
  });
});

test.concurrent.each([
  ['run', [ours()(), '--archive', '/nowhere/at-all', '--sandbox', 'process']],
  ['check', [ours()(), '--archive', '/nowhere/at-all']],
  ['archive index', ['/nowhere/at-all']],
])('%s names an archive folder that is not there', async (command, args) => {
  const ended = await backtest([...command.split(' '), ...args], { cwd: folder() });
  expect(ended).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/\/nowhere\/at-all: there is no such folder/),
  });
});

function ours(manifest: Record<string, unknown> = {}): () => string {
  return () => strategy('node', BUYER.node, manifest);
}

function coded(language: Language, code: string): () => string {
  return () => strategy(language, code);
}

function broken(name: string, content: string): () => string {
  return () => {
    const dir = strategy('node', BUYER.node);
    writeFileSync(join(dir, name), content);
    return dir;
  };
}

const USELESS: [what: string, args: string[], code: number, named: RegExp][] = [
  ['run without an archive', ['run', 'x', '--json'], 1, /--archive is missing/],
  ['run with a misspelt option', ['run', 'x', '--asset', 'BTC', '--json'], 1, /--assets/],
  ['check without a folder', ['check', '--json'], 1, /dir/],
  ['check of half a day', ['check', 'x', '--days', '0.5', '--json'], 1, /whole number/],
  ['check of no days', ['check', 'x', '--days', '0', '--json'], 1, /--days: expected at least 1/],
  ['doctor in a broken environment', ['doctor', '--json'], 3, /BACKTEST_CACHE_GB/],
];

test.concurrent.each(USELESS)('with --json, %s is told as one object, too', async (_, args, code, named) => {
  const ended = await backtest(args, { env: { BACKTEST_CACHE_GB: 'many' } });
  expect(ended.code).toBe(code);
  const answer = jsonOf(ended);
  const why = args[0] === 'run' ? runResult.parse(answer).rejection : answer;
  expect(why).toMatchObject({ detail: expect.stringMatching(named) });
});

test.concurrent('an archive that is a file is refused like one that is not there', async () => {
  const ended = await backtest([
    'run',
    ours()(),
    '--archive',
    join(ARCHIVE, 'venue_a/2026-10-14/index.json'),
  ]);
  expect(ended).toMatchObject({ code: 1, stderr: expect.stringMatching(/^E_SCOPE.*no such folder/) });
});
