import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LIMITS } from '../../contract/index.ts';
import type { LimitHit } from '../../src/sandbox/sandbox.ts';
import { Watch } from '../../src/sandbox/watch.ts';

let hits: LimitHit[];
let cpu: number | null;
let watch: Watch;

beforeEach(() => {
  vi.useFakeTimers();
  hits = [];
  cpu = null;
  watch = new Watch(
    LIMITS,
    2,
    async () => cpu,
    (hit) => hits.push(hit),
  );
});
afterEach(() => {
  watch.close();
  vi.useRealTimers();
});

const wait = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1000);

/** Beats once a second, from a process that uses `share` of a CPU, in a hook for `inside` seconds before the first. */
async function beats(seconds: number, share: number, inside: number | null): Promise<void> {
  for (let second = 1; second <= seconds; second++) {
    await wait(1);
    watch.heard();
    watch.beat(second * 1000 * share, inside === null ? 5 : (inside + second) * 1000);
  }
}

test('a strategy that never gets ready is stopped, though its watchdog beats', async () => {
  await beats(29, 1, null);
  expect(hits).toEqual([]);
  await beats(3, 1, null);
  expect(hits).toEqual([{ limit: 'start', value: 30_000 }]);
});

test('a hook that sleeps is stopped after its wall time', async () => {
  watch.started();
  await beats(30, 0, 0);
  expect(hits).toEqual([]);
  await beats(1, 0, 30);
  expect(hits).toEqual([{ limit: 'hook_wall', value: 30_000 }]);
});

test('a hook that computes is stopped after its CPU time', async () => {
  watch.started();
  await beats(5, 1, 0);
  expect(hits).toEqual([]);
  watch.beat(6000, 6000);
  expect(hits).toEqual([{ limit: 'hook_cpu', value: 5_000 }]);
});

test('many short hooks are nobody’s offence, however much they compute together', async () => {
  watch.started();
  await beats(100, 1, null);
  expect(hits).toEqual([]);
});

test('beats that come late and all at once do not make one long hook of many short ones', async () => {
  watch.started();
  for (let second = 1; second <= 20; second++) watch.beat(second * 1000, second * 5);
  expect(hits).toEqual([]);
});

test('code that keeps even the watchdog from running is stopped by the CPU time that the kernel counts', async () => {
  watch.started();
  cpu = 0;
  await wait(1);
  for (let half = 1; half <= 20 && hits.length === 0; half++) {
    cpu += 500;
    await wait(0.5);
  }
  expect(hits).toEqual([{ limit: 'hook_cpu', value: 5_000 }]);
});

test('the CPU time of all the market-days together is held to, whatever beats say', async () => {
  watch.started();
  cpu = 600_000;
  watch.beat(1, 1);
  await wait(1);
  expect(hits).toEqual([]);
  cpu = 600_001;
  watch.heard();
  await wait(1.5);
  expect(hits).toEqual([{ limit: 'market_day_cpu', value: 600_000 }]);
});

test('where the kernel does not tell, the CPU time of beats counts', async () => {
  watch.started();
  watch.beat(600_001, 1);
  expect(hits).toEqual([{ limit: 'market_day_cpu', value: 600_000 }]);
});

test('a box that falls silent is stopped a little after a hook would be', async () => {
  watch.started();
  await wait(35);
  expect(hits).toEqual([]);
  await wait(1);
  expect(hits).toEqual([{ limit: 'stalled', value: 35_000 }]);
});

test('new work, or any word, sets the silence back', async () => {
  watch.started();
  await wait(20);
  watch.expect();
  await wait(20);
  watch.heard();
  await wait(20);
  expect(hits).toEqual([]);
});

test('time in which our own process stood still is not held against the box', async () => {
  watch.started();
  await wait(1);
  vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 3_600_000);
  await wait(0.5);
  vi.restoreAllMocks();
  expect(hits).toEqual([]);
});

test('numbers that are none break nothing', async () => {
  watch.started();
  for (const value of [Number.NaN, Infinity, -Infinity, -1, 1e308])
    watch.beat(0, value === 1e308 ? 1 : value);
  watch.beat(Number.NaN, 0);
  watch.beat(Infinity, 0);
  watch.beat(-5, 0);
  expect(hits).toEqual([]);
});

test('one offence is told once, and after the end none', async () => {
  watch.started();
  await wait(120);
  expect(hits).toHaveLength(1);
  const other = new Watch(
    LIMITS,
    1,
    async () => null,
    (hit) => hits.push(hit),
  );
  other.close();
  await wait(120);
  expect(hits).toHaveLength(1);
  expect(vi.getTimerCount()).toBe(0);
});
