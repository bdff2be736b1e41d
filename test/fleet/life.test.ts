import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { failRun } from '../../src/fleet/ending.ts';
import { listRuns, load, readRun } from '../../src/fleet/runs.ts';
import { move } from '../../src/fleet/state.ts';
import { violations } from '../../src/ledger/invariants.ts';
import { InsufficientCredits } from '../../src/ledger/refused.ts';
import { balance } from '../../src/ledger/transfer.ts';
import { SYNTHETIC, strategy } from '../run/runs.ts';
import { Fleet } from './fleet.ts';

let fleet: Fleet;
const folder = mkdtempSync(join(tmpdir(), 'backtest-strategies-'));

beforeAll(async () => {
  fleet = await Fleet.open({ limits: { backoff_ms: 10, faults: 3 } });
});
afterEach(async () => {
  expect(await violations(fleet.db)).toEqual([]);
});
afterAll(async () => {
  await fleet.close();
  rmSync(folder, { recursive: true });
});

/** A strategy in JavaScript whose onStart is `body`; `sweep` gives it params. */
function written(name: string, body: string, manifest: object = {}): string {
  const at = mkdtempSync(join(folder, name));
  const whole = {
    contract: 1,
    name,
    language: 'nodejs@24',
    entry: 'strategy.js',
    datasets: ['prices'],
    ...manifest,
  };
  writeFileSync(join(at, 'manifest.json'), JSON.stringify(whole));
  writeFileSync(join(at, 'strategy.js'), `export class Strategy { onStart(ctx) { ${body} } }`);
  return at;
}

const quick = { assets: ['BTC'], days: 1 };

test('customers take turns: a single day is not behind the many days that another customer submitted before', async () => {
  const busy = await fleet.customer('busy', 100);
  const small = await fleet.customer('small', 1);
  const many = written('many', '', { sweep: { a: [1, 2, 3, 4, 5, 6, 7, 8] }, params: { a: 1 } });
  const first = await fleet.submit(busy, many, quick);
  const second = await fleet.submit(busy, many, quick);
  const third = await fleet.submit(small, written('small', ''), quick);
  const places = await Promise.all([
    readRun(fleet.db, busy, first.run_id),
    readRun(fleet.db, busy, second.run_id),
    readRun(fleet.db, small, third.run_id),
  ]);
  expect(places.map((run) => run!.queue_position)).toEqual([1, 3, 2]);
  expect(await load(fleet.db)).toMatchObject({ queued_runs: 3, running_runs: 0, queued_tasks: 17 });

  const worker = await fleet.work(1);
  await Promise.all([
    fleet.over(busy, first.run_id),
    fleet.over(busy, second.run_id),
    fleet.over(small, third.run_id),
  ]);
  const claimed = fleet.events.flatMap((event) => (event.event === 'claimed' ? [event.claim.run] : []));
  expect(claimed.indexOf(third.run_id)).toBe(1);
  expect(claimed.lastIndexOf(third.run_id)).toBe(3);
  expect(claimed.indexOf(second.run_id)).toBeGreaterThan(claimed.lastIndexOf(first.run_id));
  await worker.stop();
}, 60_000);

test('a run becomes an archive that is paid for, and a later look tells all about it', async () => {
  await fleet.work(2);
  const customer = await fleet.customer('pays', 10);
  const { run_id, credits_held } = await fleet.submit(customer, strategy('momentum-node'));
  const run = await fleet.over(customer, run_id);
  expect(run).toMatchObject({
    status: 'done',
    credits_held: 2,
    credits_spent: credits_held,
    archive_available: true,
    queue_position: null,
    rejection: null,
    progress: { phase: 'report', done: 2, total: 2, eta_ms: 0 },
  });
  expect(run.report!.cells).toMatchObject([{ cell: 0, failure: null, markets: 18 }]);
  expect(await fleet.store.head((await archive(run_id))!)).toBe(run.archive_bytes);
  expect(await balance(fleet.db, customer)).toBe(8);
  expect(await listRuns(fleet.db, customer, 5)).toEqual([run]);
});

test('a strategy that fails costs nothing and is told why', async () => {
  const customer = await fleet.customer('fails', 10);
  const { run_id } = await fleet.submit(customer, written('fails', `throw new Error('no luck')`), {
    days: 1,
  });
  expect(await fleet.over(customer, run_id)).toMatchObject({
    status: 'failed',
    credits_spent: 0,
    archive_available: false,
    rejection: {
      kind: 'strategy_error',
      place: { hook: 'onStart' },
      detail: expect.stringContaining('no luck'),
    },
  });
  expect(await balance(fleet.db, customer)).toBe(10);
});

test('of a sweep only cells with a report are paid for, and the archive tells what became of the others', async () => {
  const customer = await fleet.customer('sweeps', 10);
  const sweep = { sweep: { a: [1, 2, 3] }, params: { a: 1 } };
  const { run_id, credits_held } = await fleet.submit(
    customer,
    written('sweeps', 'if (ctx.params.a === 2) throw new Error(String(ctx.params.a))', sweep),
    { days: 1 },
  );
  const run = await fleet.over(customer, run_id);
  expect(credits_held).toBe(6);
  expect(run).toMatchObject({ status: 'done', credits_spent: 4 });
  expect(run.report!.cells.map(({ failure }) => failure?.code ?? null)).toEqual([null, 'E_STRATEGY', null]);
  expect(await balance(fleet.db, customer)).toBe(6);
});

test('without the credits there is no run', async () => {
  const customer = await fleet.customer('poor', 1);
  const submitted = fleet.submit(customer, strategy('idle-node'));
  await expect(submitted).rejects.toThrow(InsufficientCredits);
  await expect(submitted).rejects.toMatchObject({ balance: 1, required: 2 });
  expect(await listRuns(fleet.db, customer, 5)).toEqual([]);
});

test('a repeated submission is answered like the first one and is no second run', async () => {
  const customer = await fleet.customer('repeats', 10);
  const again = (folder: string) => fleet.submit(customer, folder, quick, { repeat: 'mine' });
  const idle = written('idle', '');
  const answers = await Promise.all([again(idle), again(idle), again(idle)]);
  expect(new Set(answers.map(({ run_id }) => run_id)).size).toBe(1);
  await expect(again(written('other', '1'))).rejects.toMatchObject({ code: 'E_BODY' });
  await fleet.over(customer, answers[0]!.run_id);
  expect(await balance(fleet.db, customer)).toBe(9);
});

test('a run that meets fault after fault of ours ends, and its credits come back', async () => {
  const other = await Fleet.open({ limits: { backoff_ms: 10, faults: 3 } });
  try {
    const customer = await other.customer('unlucky', 10);
    const { run_id } = await other.submit(customer, written('unlucky', ''), quick);
    const [run] = await other.db.query<{ plan: string }>('select plan from run where id = $1', [run_id]);
    await other.store.remove(run!.plan);
    await other.work(1);
    expect(await other.over(customer, run_id)).toMatchObject({
      status: 'failed',
      credits_spent: 0,
      rejection: { code: 'E_FAULT', detail: expect.stringContaining('submit it again') },
    });
    expect(other.events.filter(({ event }) => event === 'fault')).toHaveLength(3);
    expect(await balance(other.db, customer)).toBe(10);
    expect(await violations(other.db)).toEqual([]);
  } finally {
    await other.close();
  }
});

test('market-days that the archive does not hold any more when their turn comes are not charged', async () => {
  const archive = join(folder, 'archive');
  cpSync(SYNTHETIC, archive, { recursive: true });
  const other = await Fleet.open({ archive });
  try {
    const customer = await other.customer('days', 10);
    const { run_id, credits_held } = await other.submit(customer, written('days', ''), { ...quick, days: 2 });
    const [newest] = readdirSync(join(archive, 'venue_a')).sort().reverse();
    rmSync(join(archive, 'venue_a', newest!), { recursive: true });
    await other.work(1);
    const run = await other.over(customer, run_id);
    expect([credits_held, run.status, run.credits_spent]).toEqual([2, 'done', 1]);
    expect(await balance(other.db, customer)).toBe(9);
    expect(await violations(other.db)).toEqual([]);
  } finally {
    await other.close();
  }
});

test("another customer's run is not there", async () => {
  const [mine, other] = [await fleet.customer('mine', 2), await fleet.customer('other', 0)];
  const { run_id } = await fleet.submit(mine, written('mine', ''), quick);
  expect(await readRun(fleet.db, other, run_id)).toBeNull();
  await fleet.over(mine, run_id);
});

test('a run that is over stays as it ended', async () => {
  const customer = await fleet.customer('over', 2);
  const { run_id } = await fleet.submit(customer, written('over', ''), quick);
  const run = await fleet.over(customer, run_id);
  for (const to of ['queued', 'staging', 'running', 'done', 'failed'] as const)
    expect(await move(fleet.db, run_id, to)).toBe(false);
  await expect(fleet.db.transaction((sql) => failRun(sql, run_id, {}))).rejects.toThrow();
  expect(await readRun(fleet.db, customer, run_id)).toEqual(run);
});

test('a worker that stops hands back what it has not finished, and another one finishes it', async () => {
  const strict = await Fleet.open({ limits: { grace_ms: 100 } });
  try {
    const customer = await strict.customer('moves', 10);
    const leaving = await strict.work(1);
    const { run_id } = await strict.submit(
      customer,
      written('slow', 'for (let i = 0; i < 5e8; i++);'),
      quick,
    );
    while (!strict.events.some(({ event }) => event === 'claimed')) await sleep(20);
    await leaving.stop();
    expect(strict.events.map(({ event }) => event)).toContain('handed_back');
    expect(await readRun(strict.db, customer, run_id)).toMatchObject({
      finished_ms: null,
    });
    await strict.work(1);
    expect(await strict.over(customer, run_id)).toMatchObject({ status: 'done' });
    expect(await violations(strict.db)).toEqual([]);
  } finally {
    await strict.close();
  }
});

async function archive(run: string): Promise<string | null> {
  const [row] = await fleet.db.query<{ archive: string | null }>('select archive from run where id = $1', [
    run,
  ]);
  return row!.archive;
}

test('results and uploads that nobody needs any more leave the store, and the archive stays', async () => {
  const other = await Fleet.open({ limits: { leftovers_ms: 0, run_ms: 5_000 } });
  try {
    const customer = await other.customer('tidy', 10);
    await other.store.put('upload/old', Buffer.from('ts,v\n'));
    await other.db.query(
      `insert into upload (key, customer, bytes, created_ms, expires_ms)
       values ('upload/old', $1, 5, now_ms() - 10001, 0), ('upload/new', $1, 5, now_ms(), 0)`,
      [customer],
    );
    await other.work(1);
    const { run_id } = await other.submit(customer, written('tidy', ''), quick);
    const run = await other.over(customer, run_id);
    const shards = async () => {
      const text = `select result from task where kind = 'shard' and result is not null`;
      return (await other.db.query<{ result: string }>(text)).map(({ result }) => result);
    };
    while ((await shards()).length > 0) await sleep(50);
    expect(await other.store.head('upload/old')).toBeNull();
    expect(await other.db.query('select key from upload')).toEqual([{ key: 'upload/new' }]);
    const [{ archive: kept }] = (await other.db.query<{ archive: string }>('select archive from run')) as [
      { archive: string },
    ];
    expect(await other.store.head(kept)).toBe(run.archive_bytes);
  } finally {
    await other.close();
  }
});
