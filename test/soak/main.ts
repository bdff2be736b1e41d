// npm run soak [-- --runs 500 --seed 1 --workers 4]: a fleet under constant attack. The same seed attacks alike.
import { parseArgs } from 'node:util';
import { calm } from '../chaos/sound.ts';
import { soak } from './soak.ts';

const { values } = parseArgs({
  options: { runs: { type: 'string' }, seed: { type: 'string' }, workers: { type: 'string' } },
});
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const runs = Number(values.runs ?? 500);
console.log(`${runs} runs, seed ${seed}`);
try {
  const told = await soak({ runs, seed, workers: Number(values.workers ?? 4), tell: console.log });
  const { kinds, deeds, ...rest } = told;
  console.table(kinds);
  console.table(deeds);
  console.table(rest);
} catch (error) {
  console.error(`It does not hold. To do the same again: --runs ${runs} --seed ${seed}`);
  throw error;
} finally {
  await calm.close();
}
