import { afterAll, expect, test } from 'vitest';
import { calm } from '../chaos/sound.ts';
import { type Plan, schedule } from './havoc.ts';
import { soak } from './soak.ts';

afterAll(() => calm.close());

const take = (seed: number, n: number): Plan[] => {
  const plans = schedule(seed);
  return Array.from({ length: n }, () => plans.next().value);
};

test('the same seed does the same to a fleet, another one does something else', () => {
  expect(take(7, 100)).toEqual(take(7, 100));
  expect(take(7, 100)).not.toEqual(take(8, 100));
});

test('a fleet under constant attack ends every run once, to the last credit and byte', async () => {
  const seed = Number(process.env.SOAK_SEED ?? Date.now() % 1_000_000);
  console.log(`seed ${seed}`);
  const { kinds, ...told } = await soak({ runs: 25, seed, workers: 3, tell: () => {} });
  console.log(told);
  expect(Object.values(kinds).reduce((sum, { as_expected, faulted }) => sum + as_expected + faulted, 0)).toBe(
    25,
  );
}, 300_000);
