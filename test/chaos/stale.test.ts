import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { strategy } from '../run/runs.ts';
import { startProxy } from '../services/proxy.ts';
import { runGate } from './gate.ts';
import { type Ground, TWO_DAYS } from './ground.ts';
import { chaos } from './scene.ts';
import { until } from './until.ts';

// Two workers that both believe to have a task: only the younger claim counts, however late the older one speaks up.

const TIMERS = strategy('timers-node');

const snapshot = (ground: Ground, run: string) =>
  Promise.all([
    ground.db.query('select * from task where run = $1 order by number', [run]),
    ground.db.query('select * from run where id = $1', [run]),
    ground.db.query('select * from transfer order by seq'),
  ]);

const claimed = (ground: Ground, run: string) =>
  until('a task is claimed', async () => {
    const found = await ground.db.query(`select run from task where run = $1 and status = 'claimed'`, [run]);
    return found.length > 0;
  });

chaos(
  'a worker that was frozen beyond its lease changes nothing when it goes on',
  async (ground, customer) => {
    const stale = await ground.worker();
    const { run_id } = await ground.submit(customer, TIMERS, TWO_DAYS);
    await claimed(ground, run_id);
    stale.pause();
    await ground.worker();
    expect(await ground.over(run_id)).toBe('done');
    const before = await snapshot(ground, run_id);
    stale.resume();
    await until('it notices', () =>
      stale.told.some(({ event, ended }) => event === 'lost' || ended === 'stale'),
    );
    expect(await snapshot(ground, run_id)).toEqual(before);
  },
);

chaos(
  'a worker whose last word to the database was held up beyond its lease changes nothing by it',
  async (ground, customer) => {
    const stale = await ground.worker();
    const { run_id } = await ground.submit(customer, TIMERS, TWO_DAYS);
    await claimed(ground, run_id);
    // It waits to bring its shard in when it is frozen; what it asked for is answered long after.
    const gate = await runGate(ground.postgres.url, run_id);
    await gate.reached();
    stale.pause();
    await gate.open();
    await ground.worker();
    expect(await ground.over(run_id)).toBe('done');
    const before = await snapshot(ground, run_id);
    stale.resume();
    await sleep(500);
    expect(await snapshot(ground, run_id)).toEqual(before);
    await until('it takes tasks again', async () => {
      const more = await ground.submit(customer, TIMERS, TWO_DAYS);
      await ground.over(more.run_id);
      return stale.told.some(({ event, run }) => event === 'done' && run === more.run_id);
    });
  },
);

chaos(
  'a worker whose network to the database swallows everything loses its task to another one',
  async (ground, customer) => {
    const proxy = await startProxy(ground.postgres.url);
    const stale = await ground.worker({ DATABASE_URL: proxy.url });
    const { run_id } = await ground.submit(customer, TIMERS, TWO_DAYS);
    await claimed(ground, run_id);
    proxy.cut();
    await ground.worker();
    expect(await ground.over(run_id)).toBe('done');
    const before = await snapshot(ground, run_id);
    proxy.heal();
    await until('it notices', () =>
      stale.told.some(({ event, ended }) => event === 'lost' || ended === 'stale' || event === 'fault'),
    );
    expect(await snapshot(ground, run_id)).toEqual(before);
    await stale.drain();
    await proxy.stop();
  },
);
