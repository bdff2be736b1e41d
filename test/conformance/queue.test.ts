import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openBullQueue } from '../../src/queue/bullmq.ts';
import { openMemoryQueue } from '../../src/queue/memory.ts';
import type { Listener, RunQueue } from '../../src/queue/queue.ts';
import { type Redis, startRedis } from '../services/redis.ts';

let redis: Redis;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

describe.each(['memory', 'bullmq'] as const)('a %s queue', (kind) => {
  let queue: RunQueue;
  let listeners: Listener[];
  /** Bells heard so far, of which `waiting` are not answered yet. */
  let heard: number;
  let waiting: (() => void)[];
  let errors: Error[];

  beforeEach(() => {
    queue = kind === 'memory' ? openMemoryQueue() : openBullQueue(redis.url, { name: randomUUID() });
    [listeners, heard, waiting, errors] = [[], 0, [], []];
  });
  afterEach(async () => {
    answerAll();
    await Promise.all(listeners.map((listener) => listener.stop()));
    await queue.close();
    expect(errors).toEqual([]);
  });

  const listen = async (slots: number, answer: () => Promise<void>): Promise<Listener> => {
    const listener = await queue.listen(
      slots,
      () => {
        heard += 1;
        return answer();
      },
      (error) => errors.push(error),
    );
    listeners.push(listener);
    return listener;
  };
  const atOnce = async () => {};
  const held = () => new Promise<void>((resolve) => waiting.push(resolve));
  const answerAll = () => {
    for (const answer of waiting.splice(0)) answer();
  };
  const toHear = (count: number) => expect.poll(() => heard, { timeout: 30_000 }).toBe(count);

  test('rings once for each task', async () => {
    await listen(3, atOnce);
    await queue.ring(['run.0.1', 'run.1.1', 'run.2.1']);
    await toHear(3);
    expect(await queue.depth()).toBe(0);
  });

  test('rings for more tasks than fit into one request', async () => {
    await queue.ring(Array.from({ length: 2_500 }, (_, i) => `run.${i}.1`));
    expect(await queue.depth()).toBe(2_500);
    await listen(50, atOnce);
    await toHear(2_500);
  });

  test('keeps bells until somebody listens', async () => {
    await queue.ring(['run.0.1']);
    expect(await queue.depth()).toBe(1);
    await listen(1, atOnce);
    await toHear(1);
  });

  test('has one bell for a task that is rung for twice before anybody hears', async () => {
    await queue.ring(['run.0.1', 'run.0.1']);
    await queue.ring(['run.0.1', 'run.1.1']);
    expect(await queue.depth()).toBe(2);
    const listener = await listen(1, atOnce);
    await toHear(2);
    await listener.stop();
    expect(heard).toBe(2);
  });

  test('keeps to the later bell of a task that is rung for again', async () => {
    await queue.ring(['run.0.1'], 300);
    await queue.ring(['run.0.1']);
    expect(await queue.depth()).toBe(0);
    await listen(1, atOnce);
    await toHear(1);
  });

  test('takes any name for a task', async () => {
    await queue.ring(['7', 'a:b', 'a b/c', 'é']);
    expect(await queue.depth()).toBe(4);
  });

  test('rings again for a task whose bell was answered', async () => {
    await listen(1, atOnce);
    for (const count of [1, 2, 3]) {
      await expect
        .poll(async () => {
          await queue.ring(['run.0.1']);
          return heard;
        })
        .toBeGreaterThanOrEqual(count);
    }
  });

  test('rings again for a task whose bell is being answered', async () => {
    await listen(1, held);
    await queue.ring(['run.0.1']);
    await toHear(1);
    await expect
      .poll(async () => {
        await queue.ring(['run.0.1']);
        return queue.depth();
      })
      .toBe(1);
    answerAll();
    await toHear(2);
  });

  test('rings no earlier than asked', async () => {
    await listen(1, atOnce);
    const from = Date.now();
    await queue.ring(['run.0.1'], 400);
    await queue.ring(['run.1.1']);
    await toHear(1);
    await toHear(2);
    expect(Date.now() - from).toBeGreaterThanOrEqual(400);
  });

  test('answers at most as many bells at a time as there are slots', async () => {
    await listen(2, held);
    await queue.ring(['run.0.1', 'run.1.1', 'run.2.1', 'run.3.1', 'run.4.1']);
    await toHear(2);
    expect(await queue.depth()).toBe(3);
    waiting.shift()!();
    await toHear(3);
    expect(await queue.depth()).toBe(2);
    expect(waiting.length).toBe(2);
  });

  test('wakes a free listener while another is busy', async () => {
    await Promise.all([listen(1, held), listen(1, held), listen(1, held)]);
    await queue.ring(['run.0.1', 'run.1.1', 'run.2.1']);
    await toHear(3);
  });

  test('goes on after an answer that throws, and hands over what it threw', async () => {
    await listen(1, async () => {
      throw new Error(`answer ${heard}`);
    });
    await queue.ring(['run.0.1', 'run.1.1']);
    await toHear(2);
    await expect.poll(() => errors.splice(0).map(({ message }) => message)).toEqual(['answer 1', 'answer 2']);
  });

  test('stops a listener when the bells that it took are answered, and leaves the others', async () => {
    const listener = await listen(2, held);
    await queue.ring(['run.0.1']);
    await toHear(1);
    let stopped = false;
    const stopping = listener.stop().then(() => {
      stopped = true;
    });
    await sleep(400);
    await queue.ring(['run.1.1', 'run.2.1']);
    expect(await queue.depth()).toBe(2);
    expect(stopped).toBe(false);
    answerAll();
    await stopping;
    expect(heard).toBe(1);
    expect(await queue.depth()).toBe(2);
    await listen(2, atOnce);
    await toHear(3);
  });

  test('finds itself fit', async () => {
    await queue.probe();
  });
});
