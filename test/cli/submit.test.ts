import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { Run, SubmitAnswer } from '../../contract/api.ts';
import type { Balance } from '../../contract/ledger.ts';
import { freePort } from '../services/service.ts';
import { type Meddler, meddler, type Serving, serving } from './serving.ts';
import { BUYER, backtest, FIXTURES, folder, jsonOf, strategy } from './support.ts';

/** A strategy goes to a server once, at the price that was shown, and comes back as a verified report. */

let server: Serving;
let between: Meddler;
let env: Readonly<Record<string, string>>;

const submit = (dir: string, ...args: string[]) =>
  backtest(['submit', dir, '--days', '1', ...args], { cwd: folder(), env });
const runs = async () => (jsonOf(await backtest(['status', '--json'], { env })) as { runs: Run[] }).runs;
const buyer = () => strategy('node', BUYER.node);

beforeAll(async () => {
  const port = await freePort();
  between = await meddler(`http://127.0.0.1:${port}`);
  server = await serving({ port, env: { BACKTEST_PUBLIC_URL: between.url } });
  env = { ...server.env, BACKTEST_SERVER: between.url };
}, 180_000);
beforeEach(() => {
  between.meddle = () => null;
});

test('with --watch and --out, one object tells what the run came to and where its report lies', async () => {
  const cwd = folder();
  const args = ['submit', buyer(), '--days', '1', '--yes', '--watch', '--json', '--out', 'reports'];
  const ended = await backtest(args, { cwd, env });
  expect(ended.code).toBe(0);
  const { run_id, ...run } = jsonOf(ended) as Run & { archive: string };
  expect(run).toMatchObject({
    status: 'done',
    credits_held: 2,
    credits_spent: 2,
    archive: `reports/${run_id}.zip`,
  });
  expect(readFileSync(join(cwd, run.archive)).length).toBe(run.archive_bytes);
  expect(ended.stderr).toMatch(/2 market-days: BTC ETH on venue_a.*\n2 of your \d+ credits/);
});

test('without a terminal nothing is spent unless --yes says so', async () => {
  const before = (await runs()).length;
  expect(await submit(buyer())).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('--yes'),
  });
  expect(await runs()).toHaveLength(before);
});

test('a submission whose answer was lost on the way is sent again, and is one run', async () => {
  const before = (await runs()).length;
  let lost = 0;
  between.meddle = (path) => (path.endsWith('/submit') && lost++ === 0 ? { bytes: 0 } : null);
  expect(await submit(buyer(), '--yes', '--json')).toMatchObject({ code: 0 });
  expect(lost).toBe(2);
  expect(await runs()).toHaveLength(before + 1);
});

test('a busy server is asked again, as late as it wants', async () => {
  let asked = 0;
  const answers = [{ status: 503 }, { status: 429, headers: { 'retry-after': '1' } }];
  between.meddle = (path) => (path.endsWith('/quote') ? (answers[asked++] ?? null) : null);
  const ended = await submit(buyer(), '--yes');
  expect(ended).toMatchObject({ code: 0, stderr: expect.stringContaining('asks to wait 1 s') });
  expect(ended.stdout).toMatch(/^run_\w+: queued, 2 credits held\n.*backtest status run_\w+ --watch\n$/);
});

test('series are uploaded beside the source', async () => {
  const dir = join(FIXTURES, 'strategies/kline-series-node');
  const ended = await submit(dir, '--assets', 'BTC', '--yes', '--watch', '--json');
  expect(jsonOf(ended)).toMatchObject({ status: 'done', rejection: null });
});

test('a strategy that fails ends with 2, and its author is told where', async () => {
  const dir = strategy('node', 'export class Strategy { onBook() { null.price; } }');
  const ended = await submit(dir, '--yes', '--watch');
  expect(ended).toMatchObject({ code: 2, stdout: expect.stringMatching(/hook +onBook\n +market +\w/) });
  expect(ended.stdout).toMatch(/traceback:\n.*strategy\.js/s);
  expect(ended.stdout).toMatch(/0 credits charged, 2 returned/);
  const { run_id } = (await runs())[0]!;
  expect(await backtest(['status', run_id], { env })).toMatchObject({ code: 2 });
  expect(await backtest(['fetch', run_id], { env })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('failed'),
  });
});

test('credits that are not enough are told, and nothing is submitted', async () => {
  const before = (await runs()).length;
  const limits = Array.from({ length: 256 }, (_, at) => at);
  const dir = strategy('node', BUYER.node, { params: { limit: 1 }, sweep: { limit: limits } });
  const ended = await backtest(['submit', dir, '--days', '2', '--yes'], { env });
  expect(ended).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/needs 1024, the balance is \d+/),
  });
  expect(await runs()).toHaveLength(before);
});

test.each([
  [
    'a key that the server does not know',
    { BACKTEST_KEY: 'bk_wrong' },
    1,
    /does not take the key.*BACKTEST_KEY/,
  ],
  ['no key', { BACKTEST_KEY: '' }, 1, /BACKTEST_KEY/],
  ['no server', { BACKTEST_SERVER: '' }, 1, /BACKTEST_SERVER.*backtest serve/],
  [
    'a server that is not there',
    { BACKTEST_SERVER: 'http://127.0.0.1:1' },
    3,
    /127\.0\.0\.1:1 does not answer/,
  ],
  [
    'an address with a password',
    { BACKTEST_SERVER: 'http://me:bk_secret@127.0.0.1:1' },
    1,
    /name or a password.*Leave them out/,
  ],
])('%s is told in a sentence that does not show the key', async (_, wrong, code, message) => {
  const ended = await backtest(['status'], { env: { ...env, ...wrong } });
  expect(ended).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(message) });
  expect(ended.stderr).not.toMatch(/bk_|\n +at /);
});

test('a run that nobody knows is told with the way to those that are there', async () => {
  for (const command of ['status', 'fetch'])
    expect(await backtest([command, 'run_0'], { env })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/no such run of yours: npx backtest status/),
    });
});

test('a key is made for no longer than a date can say', async () => {
  const ended = await backtest(['keys', 'create', 'somebody', '--expires', '99999999999']);
  expect(ended).toMatchObject({ code: 1, stderr: '--expires: give a number of days from 1 to 36500.\n' });
});

test('what the server refuses is told like what a run refuses', async () => {
  const ended = await submit(buyer(), '--assets', 'DOGE', '--yes', '--json');
  expect(ended.code).toBe(1);
  expect(jsonOf(ended)).toMatchObject({
    ok: false,
    code: 'E_SCOPE',
    detail: expect.stringContaining('DOGE'),
  });
});

test('the balance tells what is left, and what each run did to it', async () => {
  const { balance, history } = jsonOf(await backtest(['balance', '--json'], { env })) as Balance;
  expect(history[0]).toMatchObject({ kind: expect.stringMatching(/hold|settle|release/) });
  const { code, stdout } = await backtest(['balance'], { env });
  expect(code).toBe(0);
  expect(stdout).toContain(`${balance} credits\n`);
  expect(stdout).toContain(history.at(-1)!.run_id ?? 'grant');
});

test('--json without --watch is the answer of the service', async () => {
  const answer = jsonOf(await submit(buyer(), '--yes', '--json')) as SubmitAnswer;
  expect(answer).toMatchObject({ ok: true, status: 'queued', credits_held: 2 });
});
