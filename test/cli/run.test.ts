import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runResult } from '../../contract/run.ts';
import { ARCHIVE, BUYER, backtest, folder, found, jsonOf, SCOPE, strategy } from './support.ts';

const ON_PROCESS = ['--archive', ARCHIVE, '--sandbox', 'process', ...SCOPE];

test.concurrent('a completed run exits with 0, tells its figures on stdout and leaves the report in out/<name>', async () => {
  const cwd = folder();
  const ended = await backtest(['run', strategy('node', BUYER.node), ...ON_PROCESS], { cwd });
  expect(ended).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^buyer {2}BTC 5m on venue_a[\s\S]*net pnl/),
  });
  expect(ended.stdout).toContain(join('out', 'buyer', 'report.zip'));
  expect(found(join(cwd, 'out/buyer'))).toEqual(
    expect.arrayContaining(['report.json', 'report.zip', 'fills.csv']),
  );
});

test.concurrent('without a terminal, progress is a few plain lines on stderr', async () => {
  const ended = await backtest(['run', strategy('node', BUYER.node), ...ON_PROCESS], { cwd: folder() });
  expect(ended.stderr).toMatch(/^(reading|replaying|reporting) \d+\/1 market-days.*\n/m);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminal control is what must not be there
  expect(ended.stderr).not.toMatch(/\u001b|\r/);
});

test.concurrent('with --json, stdout is one result and nothing else', async () => {
  const out = join(folder(), 'report');
  const ended = await backtest(['run', strategy('node', BUYER.node), ...ON_PROCESS, '--json', '--out', out]);
  const result = runResult.parse(jsonOf(ended));
  expect(result).toMatchObject({ outcome: 'completed', archive: join(out, 'report.zip'), rejection: null });
  expect(result.report?.orders.count).toBe(9);
  expect(ended.code).toBe(0);
});

test.concurrent('--seed takes the place of the seed in the manifest', async () => {
  const args = ['run', strategy('node', BUYER.node, { seed: 1 }), ...ON_PROCESS, '--json', '--seed', '7'];
  const { report } = runResult.parse(jsonOf(await backtest(args, { cwd: folder() })));
  expect(report?.identity.seed).toBe(7);
});

test.concurrent('a strategy in TypeScript runs without a word about it', async () => {
  const dir = strategy('node', '', { entry: 'main.ts' });
  writeFileSync(join(dir, 'main.ts'), 'export class Strategy { onBook(ctx: object) {} }');
  const ended = await backtest(['run', dir, ...ON_PROCESS], { cwd: folder() });
  expect(ended).toMatchObject({ code: 0, stderr: expect.not.stringContaining('Warning') });
});

test.concurrent('a sweep leaves one report for each cell', async () => {
  const cwd = folder();
  const swept = strategy('node', BUYER.node, { sweep: { note: ['two\nlines', 'b', ''] } });
  const { code, stdout } = await backtest(['run', swept, ...ON_PROCESS], { cwd });
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /"two\\nlines" .* out\/buyer\/cells\/000\/report\.zip\n +"b" .*\n +"" .*\/002\/report\.zip\n/,
  );
  expect(found(join(cwd, 'out/buyer/cells'))).toEqual(['000', '001', '002']);
  expect(found(join(cwd, 'out/buyer/cells/002'))).toContain('report.zip');
});

test.concurrent.each([
  [
    'python',
    "class Strategy:\n    def on_book(self, ctx, change):\n        raise ValueError('no idea')\n",
    'strategy.py',
    3,
    'on_book',
  ],
  [
    'node',
    "export class Strategy {\n  onBook() {\n    throw new Error('no idea');\n  }\n}\n",
    'strategy.js',
    3,
    'onBook',
  ],
] as const)(
  'a %s strategy that fails exits with 2 and shows hook, market, replay time and its own line',
  async (language, code, file, line, hook) => {
    const cwd = folder();
    const dir = strategy(language, code);
    const { code: exit, stderr } = await backtest(['run', dir, ...ON_PROCESS], { cwd });
    expect(exit).toBe(2);
    expect(stderr).toContain('E_STRATEGY');
    expect(stderr).toMatch(new RegExp(`hook +${hook}`));
    expect(stderr).toMatch(/market +btc-updown-5m-\d+/);
    expect(stderr).toMatch(/time +2026-10-14T23:1\d:/);
    expect(stderr).toMatch(new RegExp(`${file}"?(:|, line )${line}`));
    expect(stderr).toContain('no idea');
    expect(stderr).not.toContain('harness');
    expect(found(join(cwd, 'out'))).toEqual([]);
  },
);

test.concurrent('the JSON of a failed run holds the failure', async () => {
  const dir = strategy(
    'node',
    "export class Strategy {\n  onStart(ctx) {\n    ctx.log('here');\n    null.x;\n  }\n}\n",
  );
  const ended = await backtest(['run', dir, ...ON_PROCESS, '--json'], { cwd: folder() });
  const result = runResult.parse(jsonOf(ended));
  expect(result).toMatchObject({
    outcome: 'failed',
    report: null,
    rejection: { kind: 'strategy_error', place: { hook: 'onStart' } },
  });
  expect(ended.code).toBe(2);
});

test.concurrent('a report is never written over files that are not a report', async () => {
  const out = folder();
  writeFileSync(join(out, 'thesis.txt'), 'years of work');
  const ended = await backtest(['run', strategy('node', BUYER.node), ...ON_PROCESS, '--out', out]);
  expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining('it holds thesis.txt') });
  expect(found(out)).toEqual(['thesis.txt']);
});

test.concurrent('the next run takes the place of its former report', async () => {
  const cwd = folder();
  const dir = strategy('node', BUYER.node);
  await backtest(['run', dir, ...ON_PROCESS], { cwd });
  const before = readFileSync(join(cwd, 'out/buyer/sha256sums.txt'));
  expect(await backtest(['run', dir, ...ON_PROCESS], { cwd })).toMatchObject({ code: 0 });
  expect(readFileSync(join(cwd, 'out/buyer/sha256sums.txt'))).toEqual(before);
  expect(found(join(cwd, 'out'))).toEqual(['buyer']);
  expect(existsSync(join(cwd, 'out/buyer/report.zip'))).toBe(true);
});
