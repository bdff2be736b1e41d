import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectEngine } from '../../src/sandbox/engine.ts';
import { strategy } from '../run/runs.ts';
import { canStartDockerd, type Dockerd, startDockerd } from '../services/dockerd.ts';
import { Ground, TWO_DAYS } from './ground.ts';
import { calm, sound } from './sound.ts';
import { until } from './until.ts';

// The engine is the one thing that a replay cannot do without: runs wait until it is back.

const problem = canStartDockerd();
const TIMERS = strategy('timers-node');
let dockerd: Dockerd;
let ground: Ground;
beforeAll(async () => {
  if (problem) return;
  [dockerd, ground] = await Promise.all([startDockerd(), Ground.open()]);
}, 300_000);
afterAll(async () => {
  if (problem) return;
  await ground.close();
  await dockerd.stop();
  await calm.close();
}, 300_000);

const containers = async () => (await connectEngine({ host: dockerd.host })).listContainers({ all: true });

test.skipIf(problem)(
  'an engine that is killed, or restarted, while boxes are at work costs time and no run',
  async () => {
    const customer = await ground.customer('first', 100);
    const submit = async () => (await ground.submit(customer, TIMERS, TWO_DAYS)).run_id;
    // An engine takes seconds to come back, and that must not use up a task's faults.
    const env = { BACKTEST_SANDBOX: 'docker', DOCKER_HOST: dockerd.host, BACKTEST_BACKOFF_MS: '1000' };
    for (const end of [() => dockerd.kill(), async () => {}]) {
      const worker = await ground.worker(env);
      const run = await submit();
      await until('a box is at work', async () =>
        (await containers()).some(({ State }) => State === 'running'),
      );
      await end();
      await dockerd.restart();
      expect(await ground.over(run)).toBe('done');
      expect(await worker.drain()).toBe(0);
    }
    // What could not be removed while the engine was away goes with the next replayer's first box.
    const worker = await ground.worker(env);
    expect(await ground.over(await submit())).toBe('done');
    await worker.drain();
    expect(await containers()).toEqual([]);
    await sound(ground);
  },
);
if (problem) console.warn(`An engine that ends in the middle of a run was not tried: ${problem}`);
