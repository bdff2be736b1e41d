import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { strategy } from '../run/runs.ts';
import { startProxy } from '../services/proxy.ts';
import { commitGate } from './gate.ts';
import { ONE_DAY, TWO_DAYS } from './ground.ts';
import { chaos } from './scene.ts';

// The queue is a doorbell: whatever becomes of it, runs end as if nothing had been.

const SUBMITTER = fileURLToPath(new URL('./submitter.ts', import.meta.url));
const [IDLE, TIMERS] = [strategy('idle-node'), strategy('timers-node')];

chaos(
  'an api that dies after its commit and before the bell leaves a run that the sweeper rings for',
  async (ground, customer) => {
    const proxy = await startProxy(ground.redis.url);
    proxy.cut();
    const api = spawn(process.execPath, [SUBMITTER, customer, IDLE, JSON.stringify(ONE_DAY)], {
      env: { PATH: process.env.PATH, ...ground.env({ REDIS_URL: proxy.url }) },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(api.stdout, 'data');
    api.kill('SIGKILL');
    await once(api, 'exit');
    await proxy.stop();
    const { run_id } = JSON.parse(line);
    ground.expect(run_id, IDLE, ONE_DAY);
    expect(await ground.queue.depth()).toBe(0);
    await ground.worker();
    expect(await ground.over(run_id)).toBe('done');
  },
);

chaos(
  'a queue that is emptied, killed and frozen in the middle of runs costs time and nothing else',
  async (ground, customer) => {
    const gate = await commitGate(ground.postgres.url, 'update on task', `new.status = 'done'`);
    const runs: string[] = [];
    for (const folder of [IDLE, TIMERS, IDLE])
      runs.push((await ground.submit(customer, folder, TWO_DAYS)).run_id);
    await ground.worker();
    await gate.reached();
    await ground.redis.flush();
    await gate.open();
    expect(await ground.over(runs[0]!)).toBe('done');
    await ground.redis.kill();
    runs.push((await ground.submit(customer, IDLE)).run_id);
    await ground.redis.restart();
    expect(await ground.over(runs[1]!)).toBe('done');
    await ground.redis.pause();
    runs.push((await ground.submit(customer, TIMERS)).run_id);
    await ground.redis.resume();
    for (const run of runs) expect(await ground.over(run)).toBe('done');
    for (const run of runs) expect(await ground.faults(run)).toBe(0);
  },
);

chaos(
  'a network to the queue that swallows everything does not keep a worker from its tasks for good',
  async (ground, customer) => {
    const proxy = await startProxy(ground.redis.url);
    const worker = await ground.worker({ REDIS_URL: proxy.url });
    const [first] = [await ground.submit(customer, IDLE)];
    expect(await ground.over(first.run_id)).toBe('done');
    proxy.cut();
    const { run_id } = await ground.submit(customer, TIMERS);
    // Some seconds of silence tell it that its connection is dead.
    proxy.heal();
    expect(await ground.over(run_id)).toBe('done');
    expect(worker.running).toBe(true);
    await worker.drain();
    await proxy.stop();
  },
);

chaos('bells that come twenty times, or for what never was, do nothing twice', async (ground, customer) => {
  await Promise.all([ground.worker(), ground.worker()]);
  const { run_id } = await ground.submit(customer, TIMERS, TWO_DAYS);
  for (let time = 0; time < 20; time++) {
    // A bell that still waits would not ring again under its own name.
    await ground.queue.ring([
      `${run_id}.0.${time}`,
      `run_nobody.${time}.0`,
      `rubbish ${time}`,
      '💥'.repeat(time + 1),
    ]);
  }
  expect(await ground.over(run_id)).toBe('done');
  await ground.queue.ring([`${run_id}.0.0`, `${run_id}.2.1`]);
  const claims = await ground.db.query('select number, fence from task where run = $1 order by number', [
    run_id,
  ]);
  expect(claims).toEqual([0, 1, 2].map((number) => ({ number, fence: 1 })));
});
