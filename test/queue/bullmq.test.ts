import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Unreachable } from '../../contract/unreachable.ts';
import { openBullQueue } from '../../src/queue/bullmq.ts';
import type { RunQueue } from '../../src/queue/queue.ts';
import { startProxy } from '../services/proxy.ts';
import { type Redis, startRedis } from '../services/redis.ts';

let redis: Redis;
let queue: RunQueue;
let heard: number;
let errors: Error[];
/** Undone in the opposite order. */
let cleanup: (() => Promise<void>)[];

beforeEach(async () => {
  redis = await startRedis();
  queue = openBullQueue(redis.url);
  [heard, errors] = [0, []];
  cleanup = [() => redis.stop(), () => queue.close()];
});
afterEach(async () => {
  for (const undo of cleanup.reverse()) await undo();
  for (const error of errors) expect(error).toBeInstanceOf(Unreachable);
});

const listen = async (on = queue) => {
  const answer = async () => {
    heard += 1;
  };
  const listener = await on.listen(2, answer, (error) => errors.push(error));
  cleanup.push(() => listener.stop());
  return listener;
};
/** Rings as the sweeper does, until somebody hears. */
const ringUntilHeard = async (on = queue) => {
  const before = heard;
  let round = 0;
  const ring = async () => {
    round += 1;
    await on.ring([`run.0.${round}`]).catch(() => {});
    return heard;
  };
  await expect.poll(ring, { timeout: 60_000, interval: 200 }).toBeGreaterThan(before);
};

test('a killed server makes every question fail as unreachable, and the bells that wait survive', async () => {
  await queue.ring(['run.0.1', 'run.1.1']);
  await redis.kill();
  for (const question of [() => queue.ring(['run.2.1']), () => queue.depth(), () => queue.probe()])
    await expect(question()).rejects.toThrow(Unreachable);
  await redis.restart();
  await expect.poll(() => queue.depth().catch(() => null), { timeout: 30_000 }).toBe(2);
});

test('a listener outlives a server that is killed and started again', async () => {
  await listen();
  await ringUntilHeard();
  await redis.kill();
  await expect.poll(() => errors.length, { timeout: 30_000 }).toBeGreaterThan(0);
  await redis.restart();
  await ringUntilHeard();
});

test('a listener may come before its server', async () => {
  await redis.kill();
  await listen();
  await redis.restart();
  await ringUntilHeard();
});

test('a listener and those who ring outlive a server that loses everything, scripts too', async () => {
  await listen();
  await ringUntilHeard();
  await redis.flush();
  const before = heard;
  await queue.ring(['run.9.1']);
  await expect.poll(() => heard, { timeout: 30_000 }).toBe(before + 1);
});

test('a server that freezes for some seconds makes callers go on, and is used again afterwards', async () => {
  await listen();
  await ringUntilHeard();
  await redis.pause();
  await expect(queue.ring(['run.9.1'])).rejects.toThrow(Unreachable);
  await sleep(1_000);
  await redis.resume();
  await ringUntilHeard();
});

test('a connection that dies without a word is noticed on both sides', async () => {
  const proxy = await startProxy(redis.url);
  const far = openBullQueue(proxy.url);
  cleanup.push(
    () => proxy.stop(),
    () => far.close(),
  );
  await listen(far);
  await ringUntilHeard(far);
  proxy.cut();
  await expect(far.ring(['run.9.1'])).rejects.toThrow(Unreachable);
  proxy.heal();
  await ringUntilHeard(far);
});

test.each([
  ['killed', () => redis.kill()],
  ['frozen', () => redis.pause()],
])('a listener stops although its server is %s', async (_, harm) => {
  const listener = await listen();
  await ringUntilHeard();
  await harm();
  await listener.stop();
});

test.each([
  [{ policy: 'allkeys-lru' }, 'maxmemory-policy noeviction (it is allkeys-lru)'],
  [{ appendonly: false }, 'appendonly yes (it is no)'],
])('a server with %o is refused with what to set', async (options, advice) => {
  const unfit = await startRedis(options);
  const other = openBullQueue(unfit.url);
  cleanup.push(
    () => unfit.stop(),
    () => other.close(),
  );
  await expect(other.probe()).rejects.toThrow(advice);
});
