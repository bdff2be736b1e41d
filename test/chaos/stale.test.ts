import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { strategy } from '../run/runs.ts';
import { startProxy } from '../services/proxy.ts';
import { runGate } from './gate.ts';
import { Ground, TWO_DAYS } from './ground.ts';
import { until } from './until.ts';

// Two workers that both believe to have a task: only the younger claim counts, however late the older one speaks up.

const TIMERS = strategy('timers-node');

let ground: Ground;
let customer: string;
beforeEach(async () => {
  ground = await Ground.open();
  customer = await ground.customer('first', 1_000);
});
afterEach(async () => {
  await ground.sound();
  await ground.close();
});

const snapshot = (run: string) =>
  Promise.all([
    ground.db.query('select * from task where run = $1 order by number', [run]),
    ground.db.query('select * from run where id = $1', [run]),
    ground.db.query('select * from transfer order by seq'),
  ]);

const claimed = (run: string) =>
  until('a task is claimed', async () => {
    const found = await ground.db.query(`select run from task where run = $1 and status = 'claimed'`, [run]);
    return found.length > 0;
  });

test('a worker that was frozen beyond its lease changes nothing when it goes on', async () => {
  const stale = await ground.worker();
  const { run_id } = await ground.submit(customer, TIMERS, TWO_DAYS);
  await claimed(run_id);
  stale.pause();
  await ground.worker();
  expect(await ground.over(run_id)).toBe('done');
  const before = await snapshot(run_id);
  stale.resume();
  await until('it notices', () => stale.told.some(({ event, ended }) => event === 'lost' || ended === 'stale'));
  expect(await snapshot(run_id)).toEqual(before);
});

test('a worker whose last word to the database was held up beyond its lease changes nothing by it', async () => {
  const stale = await ground.worker();
  const { run_id } = await ground.submit(customer, TIMERS, TWO_DAYS);
  await claimed(run_id);
  // It waits to bring its shard in when it is frozen; what it asked for is answered long after.
  const gate = await runGate(ground.postgres.url, run_id);
  await gate.reached();
  stale.pause();
  await gate.open();
  await ground.worker();
  expect(await ground.over(run_id)).toBe('done');
  const before = await snapshot(run_id);
  stale.resume();
  await sleep(500);
  expect(await snapshot(run_id)).toEqual(before);
  await until('it takes tasks again', async () => {
    const more = await ground.submit(customer, TIMERS, TWO_DAYS);
    await ground.over(more.run_id);
    return stale.told.some(({ event, claim }) => event === 'done' && (claim as { run: string }).run === more.run_id);
  });
});

test('a worker whose network to the database swallows everything loses its task to another one', async () => {
  const proxy = await startProxy(ground.postgres.url);
  const stale = await ground.worker({ DATABASE_URL: proxy.url });
  const { run_id } = await ground.submit(customer, TIMERS, TWO_DAYS);
  await claimed(run_id);
  proxy.cut();
  await ground.worker();
  expect(await ground.over(run_id)).toBe('done');
  const before = await snapshot(run_id);
  proxy.heal();
  await until('it notices', () => stale.told.some(({ event, ended }) => event === 'lost' || ended === 'stale' || event === 'fault'));
  expect(await snapshot(run_id)).toEqual(before);
  await stale.drain();
  await proxy.stop();
});
