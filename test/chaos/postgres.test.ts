import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { strategy } from '../run/runs.ts';
import { commitGate, runGate } from './gate.ts';
import { TWO_DAYS } from './ground.ts';
import { chaos } from './scene.ts';

// The database is the truth; while it is away nothing can be true, and afterwards everything is.

const TIMERS = strategy('timers-node');

chaos(
  'a database that is killed while a shard is brought in, and again at the settlement, loses no credit',
  async (ground, customer) => {
    await Promise.all([ground.worker(), ground.worker()]);
    for (const [table, gate] of [
      ['task', await commitGate(ground.postgres.url, 'update on task', `new.status = 'done'`)],
      ['run', null],
    ] as const) {
      const runs = await Promise.all([0, 1].map(() => ground.submit(customer, TIMERS, TWO_DAYS)));
      const at = gate ?? (await commitGate(ground.postgres.url, 'update on run', `new.status = 'done'`));
      await at.reached();
      await ground.postgres.kill();
      await at.open().catch(() => {});
      await ground.postgres.restart();
      await ground.db.query(`drop trigger gate on ${table}`);
      for (const { run_id } of runs) expect(await ground.over(run_id)).toBe('done');
    }
  },
);

chaos(
  'a database that is frozen beyond all leases, and comes back, finds every run ended once',
  async (ground, customer) => {
    await Promise.all([ground.worker(), ground.worker()]);
    const runs = await Promise.all([0, 1].map(() => ground.submit(customer, TIMERS, TWO_DAYS)));
    const gate = await runGate(ground.postgres.url, runs[0]!.run_id);
    await gate.reached();
    await ground.postgres.pause();
    await sleep(3_000);
    await ground.postgres.resume();
    await gate.open();
    for (const { run_id } of runs) expect(await ground.over(run_id)).toBe('done');
  },
);
