import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { strategy } from '../run/runs.ts';
import { startProxy } from '../services/proxy.ts';
import { boxesOf, type Hand } from './crew.ts';
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
    ground.db.query('select * from transfer where run = $1 order by seq', [run]),
  ]);

const claimed = (hand: Hand) =>
  until('it claims a task', () => hand.told.some(({ event }) => event === 'claimed'));

for (const kind of ['shard', 'assembly'] as const)
  chaos(
    `a frozen worker whose ${kind} is done meanwhile, by itself and by another one, changes nothing by it`,
    async (ground, customer) => {
      const begun = ground.assembles();
      const stale = await ground.worker();
      const { run_id } = await ground.submit(customer, TIMERS, TWO_DAYS);
      const [replayer] = stale.replayers();
      if (kind === 'shard') await until('a box is at work', () => boxesOf(replayer!).length > 0);
      else await begun;
      // The worker alone: its replayer goes on, and what it says waits to be heard.
      process.kill(stale.pid, 'SIGSTOP');
      const key = kind === 'shard' ? `run/${run_id}/shard/0` : `run/${run_id}/1`;
      await until('its replayer is done', () => ground.objects(key).length > 0);
      await ground.worker();
      expect(await ground.over(run_id)).toBe('done');
      const before = await snapshot(ground, run_id);
      stale.resume();
      await until('it brings in what it has', () => stale.told.some(({ ended }) => ended === 'stale'));
      expect(await snapshot(ground, run_id)).toEqual(before);
    },
  );

chaos(
  'a worker that is frozen with its replayer beyond the lease gives up its task',
  async (ground, customer) => {
    const stale = await ground.worker();
    const { run_id } = await ground.submit(customer, TIMERS, TWO_DAYS);
    await claimed(stale);
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
    await claimed(stale);
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
    await claimed(stale);
    proxy.cut();
    const other = await ground.worker();
    expect(await ground.over(run_id)).toBe('done');
    const before = await snapshot(ground, run_id);
    proxy.heal();
    await other.drain();
    // Now there is nobody else to do it.
    const more = await ground.submit(customer, TIMERS, TWO_DAYS);
    expect(await ground.over(more.run_id)).toBe('done');
    expect(await snapshot(ground, run_id)).toEqual(before);
    await stale.drain();
    await proxy.stop();
  },
);
