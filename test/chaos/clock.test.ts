import { expect } from 'vitest';
import { strategy } from '../run/runs.ts';
import { commitGate } from './gate.ts';
import { TWO_DAYS } from './ground.ts';
import { chaos } from './scene.ts';
import { until } from './until.ts';

// Leases, deadlines and waits go by the clock of the database. A worker's own may show anything, and the database's may jump.

const TIMERS = strategy('timers-node');
const YEAR = 365 * 86_400_000;

/** For a worker and its replayers: a clock that is `ms` ahead. */
const ahead = (ms: number): string[] => [
  '--import',
  `data:text/javascript,${encodeURIComponent(`
    const Real = Date;
    const now = () => Real.now() + (${ms});
    globalThis.Date = class Date extends Real {
      constructor(...all) { super(...(all.length > 0 ? all : [now()])); }
      static now() { return now(); }
    };`)}`,
];

chaos(
  'workers whose clocks are years apart share runs, and take over from each other',
  async (ground, customer) => {
    const [early, late] = await Promise.all([
      ground.worker({}, ahead(-YEAR)),
      ground.worker({}, ahead(YEAR)),
    ]);
    const first = await Promise.all([0, 1, 2].map(() => ground.submit(customer, TIMERS, TWO_DAYS)));
    const { run } = await until('one has begun', () => early.told.find(({ event }) => event === 'claimed'));
    await early.kill();
    for (const { run_id } of first) expect(await ground.over(run_id)).toBe('done');
    const [times] = await ground.db.query(
      `select abs(finished_ms - now_ms()) < 3600000 as finished, abs(started_ms - now_ms()) < 3600000 as started
     from run where id = $1`,
      [run],
    );
    expect(times).toEqual({ finished: true, started: true });
    expect(late.told.some(({ event }) => event === 'done')).toBe(true);
  },
);

for (const [way, hours] of [
  ['forwards', 1],
  ['back', -1],
] as const)
  chaos(`a clock of the database that jumps an hour ${way} ends every run once`, async (ground, customer) => {
    await Promise.all([ground.worker(), ground.worker()]);
    const gate = await commitGate(ground.postgres.url, 'update on task', `new.status = 'done'`);
    const runs = await Promise.all([0, 1].map(() => ground.submit(customer, TIMERS, TWO_DAYS)));
    await gate.reached();
    await ground.db.script(
      `create or replace function now_ms() returns bigint language sql volatile
         return floor(extract(epoch from clock_timestamp()) * 1000)::bigint + ${hours * 3_600_000}`,
    );
    await gate.open();
    for (const { run_id } of runs) expect(await ground.over(run_id)).toBe('done');
  });
