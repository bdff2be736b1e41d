import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { FAULT, failRun, faulted } from '../../src/fleet/ending.ts';
import { ringAgain, ringFor } from '../../src/fleet/ring.ts';
import { readRun } from '../../src/fleet/runs.ts';
import { sweep } from '../../src/fleet/sweeper.ts';
import { claim, renew } from '../../src/fleet/task.ts';
import { violations } from '../../src/ledger/invariants.ts';
import { strategy } from '../run/runs.ts';
import { Fleet } from './fleet.ts';

let fleet: Fleet;
let customer: string;

beforeAll(async () => {
  fleet = await Fleet.open();
  customer = await fleet.customer('first', 100);
});
afterEach(async () => {
  const open = await fleet.db.query<{ id: string }>('select id from run where finished_ms is null');
  await fleet.db.transaction(async (sql) => {
    for (const { id } of open) if (id !== ODD) await failRun(sql, id, FAULT);
  });
});
afterAll(() => fleet.close());

const ODD = 'run_odd';
const submit = async () => (await fleet.submit(customer, strategy('idle-node'), { days: 1 })).run_id;
const expire = (run: string) => fleet.db.query('update task set lease_ms = 0 where run = $1', [run]);
const HALF = { phase: 'replay', share: 0.5, ticks: 1 } as const;

test('however many tasks wait, the queue holds a bounded number of bells, and gets more when those were answered', async () => {
  const run = await submit();
  await fleet.db.query(
    `insert into task (run, number, kind, customer, cell)
     select $1, number, 'shard', $2, 0 from generate_series(100, 3099) as number`,
    [run, customer],
  );
  await ringFor(fleet, run);
  expect(await fleet.queue.depth()).toBe(1_000);
  expect(await ringAgain(fleet, 60_000)).toBe(0);

  let answers = 0;
  const listener = await fleet.queue.listen(8, async () => void answers++, console.error);
  while ((await fleet.queue.depth()) > 0) await new Promise((resolve) => setImmediate(resolve));
  await listener.stop();
  expect(answers).toBe(1_000);
  expect(await ringAgain(fleet, 60_000)).toBe(1_000);
});

test('a claim that is renewed before the sweeper gets to it is kept, and no fault is counted', async () => {
  await submit();
  const task = (await claim(fleet.db, 'slow', 30_000))!;
  await expire(task.run);
  expect(await renew(fleet.db, task, HALF, 30_000)).toBe(true);
  expect(await faulted(fleet.db, task, fleet.limits, { expired: true })).toEqual({ wait_ms: null });
  expect(await renew(fleet.db, task, HALF, 30_000)).toBe(true);

  await expire(task.run);
  expect(await sweep(fleet, fleet.limits)).toMatchObject({ expired: 1 });
  expect(await renew(fleet.db, task, HALF, 30_000)).toBe(false);
});

test('faults that follow each other are further and further apart, for more than a minute before the run fails', async () => {
  const run = await submit();
  const waits: number[] = [];
  for (;;) {
    const task = (await claim(fleet.db, 'unlucky', 30_000))!;
    const { wait_ms } = await faulted(fleet.db, task, fleet.limits);
    if (wait_ms === null) break;
    waits.push(Math.round(wait_ms / 1_000));
    await fleet.db.query('update task set due_ms = 0');
  }
  expect(waits).toEqual([1, 4, 16, 64]);
  expect(await readRun(fleet.db, customer, run)).toMatchObject({ status: 'failed', credits_spent: 0 });
  expect(await violations(fleet.db)).toEqual([]);
});

test('workers that died are forgotten', async () => {
  await fleet.db.query(
    `insert into worker (id, slots, seen_ms) values ('dead', 1, 0), ('alive', 1, now_ms())`,
  );
  await sweep(fleet, fleet.limits);
  expect(await fleet.db.query('select id from worker')).toEqual([{ id: 'alive' }]);
});

test('a run that cannot be mended keeps no other from being mended, and is told of', async () => {
  const [odd, other] = [await submit(), await submit()];
  // Nothing of ours makes such a run: its hold is of another one.
  await fleet.db.query(
    `insert into run (id, customer, language, mode, venue, assets, from_day, to_day, market_days, cells, credits_held,
       source_sha256, plan, locale, deadline_ms, created_ms)
     select $2, customer, language, mode, venue, assets, from_day, to_day, market_days, cells, credits_held,
       source_sha256, plan, locale, 0, 0 from run where id = $1`,
    [odd, ODD],
  );
  await fleet.db.query('update run set deadline_ms = 0 where finished_ms is null');
  await expect(sweep(fleet, fleet.limits)).rejects.toThrow(`there is no hold of ${ODD}`);
  for (const run of [odd, other])
    expect(await readRun(fleet.db, customer, run)).toMatchObject({ status: 'failed' });
});
