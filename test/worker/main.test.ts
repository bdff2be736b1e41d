import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { openPostgres } from '../../src/database/postgres.ts';
import { violations } from '../../src/ledger/invariants.ts';
import { balance } from '../../src/ledger/transfer.ts';
import { openBullQueue } from '../../src/queue/bullmq.ts';
import { Fleet } from '../fleet/fleet.ts';
import { SYNTHETIC, strategy } from '../run/runs.ts';
import { type Postgres, startPostgres } from '../services/postgres.ts';
import { type Redis, startRedis } from '../services/redis.ts';
import { freePort } from '../services/service.ts';
import { endAll, startProcess } from './process.ts';

const CREDITS = 100;
const ONE_DAY = { assets: ['BTC'], from: '2026-10-14', to: '2026-10-14' };

let postgres: Postgres;
let redis: Redis;
let fleet: Fleet;
let env: Record<string, string>;

beforeAll(async () => {
  [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  fleet = await Fleet.open({ db: openPostgres(postgres.url), queue: openBullQueue(redis.url) });
  const { folder, config } = fleet;
  env = {
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
    BACKTEST_ARCHIVE: SYNTHETIC,
    BACKTEST_DATA: config.data_folder,
    BACKTEST_CACHE: config.cache_folder,
    BACKTEST_SLOTS: '1',
  };
  mkdirSync(join(folder, 'slow'));
  cpSync(join(strategy('idle-python'), 'manifest.json'), join(folder, 'slow/manifest.json'));
  writeFileSync(join(folder, 'slow/strategy.py'), SLOW);
});
afterEach(endAll);
afterAll(async () => {
  await fleet.close();
  await Promise.all([postgres.stop(), redis.stop()]);
});

/** Takes some seconds of real time: a day has nine markets. */
const SLOW = `import time

SECRET_SAUCE = 1

class Strategy:
    def __init__(self):
        self.left = 15

    def on_book(self, ctx, change):
        if self.left > 0:
            self.left -= 1
            time.sleep(0.02)
`;

/** A customer with credits and a run that takes some seconds. */
async function submitted(name: string) {
  const customer = await fleet.customer(name, CREDITS);
  const more = { email: 'reader@mail.example' };
  return { customer, ...(await fleet.submit(customer, join(fleet.folder, 'slow'), ONE_DAY, more)) };
}

test('a worker that is told to stop finishes the task it has, and another one ends the run', async () => {
  const { customer, run_id, credits_held } = await submitted('finishes');
  const first = startProcess(['worker'], env);
  await first.line('claimed', { run: run_id });
  first.signal('SIGTERM');
  expect(await first.exited).toBe(0);
  expect(first.lines).toContainEqual(
    expect.objectContaining({ event: 'done', run: run_id, shard: 0, fence: 1 }),
  );
  const second = startProcess([], env);
  expect(await fleet.over(customer, run_id)).toMatchObject({ status: 'done', credits_spent: credits_held });
  await second.line('done', { run: run_id, assembly: 1 });

  expect(await second.metric('backtest_claims_total{kind="assembly",end="done"}')).toBe(1);
  expect(await second.metric('backtest_credits_settled_total')).toBe(credits_held);
  expect(await second.metric('backtest_slots_busy')).toBe(0);
  expect(await second.metric('backtest_runs{status="running"}')).toBe(0);
});

test('what a worker cannot finish in time it hands back; the run is finished elsewhere and paid for once', async () => {
  const first = startProcess(['worker'], { ...env, BACKTEST_GRACE_MS: '100' });
  await first.ready(200);
  const { customer, run_id, credits_held } = await submitted('hands-back');
  await first.line('claimed', { run: run_id });
  const second = startProcess(['worker'], env);
  expect(await first.metric('backtest_slots_busy')).toBe(1);
  expect((await first.ops('/live')).status).toBe(200);
  first.signal('SIGTERM');
  expect(await first.exited).toBe(0);
  await first.line('handed_back', { run: run_id, fence: 1 });
  expect(await fleet.over(customer, run_id)).toMatchObject({ status: 'done', credits_spent: credits_held });
  expect(await balance(fleet.db, customer)).toBe(CREDITS - credits_held);
  expect(await violations(fleet.db)).toEqual([]);
  await second.line('done', { run: run_id, assembly: 1 });

  expect(await second.metric('backtest_outcomes_total{outcome="completed"}')).toBe(1);
  expect(await second.metric('backtest_stage_seconds_count')).toBe(1);
  expect(await second.metric('backtest_ticks_total')).toBeGreaterThan(0);
  // A log is read by more people than a strategy is meant for.
  for (const word of ['SECRET_SAUCE', 'mail.example', 'on_book', customer])
    expect(first.text() + second.text()).not.toContain(word);
});

test('a second signal does not wait for anything', async () => {
  const { run_id } = await submitted('impatient');
  const worker = startProcess(['worker'], env);
  await worker.line('claimed', { run: run_id });
  worker.signal('SIGTERM');
  await worker.line('stopping');
  worker.signal('SIGTERM');
  expect(await worker.exited).toBe(143);
  expect(worker.lines).not.toContainEqual(expect.objectContaining({ event: 'stopped' }));
});

test('a worker waits for a queue that would lose bells, says why, and begins by itself once that is mended', async () => {
  const careless = await startRedis({ policy: 'allkeys-lru' });
  try {
    const worker = startProcess(['worker'], { ...env, REDIS_URL: careless.url });
    await worker.line('check_failed', { check: 'queue' });
    const { problems } = await worker.ready(503);
    expect(problems).toMatchObject({ queue: expect.stringContaining('maxmemory-policy noeviction') });
    expect((await worker.ops('/live')).status).toBe(200);
    expect(worker.lines).not.toContainEqual(expect.objectContaining({ event: 'working' }));
    await tell(careless.url, 'CONFIG SET maxmemory-policy noeviction');
    expect(await worker.ready(200)).toEqual({ ready: true, problems: {} });
  } finally {
    await careless.stop();
  }
});

test('a worker says all that it lacks, and notices when its database answers', async () => {
  const own = await startPostgres();
  try {
    await own.kill();
    const worker = startProcess(['worker'], {
      ...env,
      DATABASE_URL: own.url,
      BACKTEST_ARCHIVE: '/nowhere',
      BACKTEST_CACHE: join(fleet.folder, 'slow/strategy.py'),
    });
    for (const check of ['database', 'archive', 'cache']) await worker.line('check_failed', { check });
    expect((await worker.ready(503)).problems).toMatchObject({
      service: 'it waits',
      database: expect.stringContaining('cannot be reached'),
      archive: expect.stringContaining('no such folder'),
      cache: expect.stringContaining('set BACKTEST_CACHE to another folder'),
    });
    await own.restart();
    await worker.line('check_passed', { check: 'database' });
    expect((await worker.ready(503)).problems).not.toHaveProperty('database');
    worker.signal('SIGTERM');
    expect(await worker.exited).toBe(0);
  } finally {
    await own.stop();
  }
});

test('an api answers without its queue and says that it is away; told to stop, it leaves with 0', async () => {
  const port = await freePort();
  const api = startProcess(['api'], {
    ...env,
    BACKTEST_PORT: String(port),
    REDIS_URL: `redis://127.0.0.1:${await freePort()}`,
  });
  expect((await api.ready(200)).problems).toMatchObject({
    queue: expect.stringContaining('cannot be reached'),
  });
  expect((await fetch(`http://127.0.0.1:${port}/v1/health`)).status).toBe(200);
  expect(await api.metric('backtest_slots')).toBe(0);
  expect(await api.metric('backtest_queue_depth')).toBeNaN();
  expect(await api.metric('backtest_tasks{status="queued"}')).toBeGreaterThanOrEqual(0);
  api.signal('SIGINT');
  expect(await api.exited).toBe(0);
});

test.each([
  [['boss'], {}, '"boss" is none of: worker, api, all'],
  [[], { BACKTEST_LEASE_MS: 'long' }, 'BACKTEST_LEASE_MS is "long"'],
  [[], { DATABASE_URL: 'mysql://root:hunter2@db' }, 'DATABASE_URL is no address'],
])('what cannot be meant ends it with 1 and one line that says so: %j %j', async (args, wrong, message) => {
  const one = startProcess(args, { ...env, ...(wrong as Record<string, string>) });
  expect(await one.exited).toBe(1);
  expect(one.lines).toEqual([
    expect.objectContaining({ level: 'fatal', message: expect.stringContaining(message) }),
  ]);
  expect(one.text()).not.toContain('hunter2');
});

/** Says one command to a Redis server. */
function tell(url: string, command: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(`${command}\r\n`));
    socket.on('error', reject).once('data', () => {
      socket.destroy();
      resolve();
    });
  });
}
