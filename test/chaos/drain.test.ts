import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { boxesOf } from './crew.ts';
import { TWO_DAYS } from './ground.ts';
import { chaos } from './scene.ts';
import { until } from './until.ts';

/** Takes a second or two in the first market of a day. */
const SLOW = `let first = true;
export class Strategy {
  onMarketOpen() { for (let n = 0; first && n < 2e9; n++); first = false; }
}`;

chaos(
  'a worker that is told to stop hands back what it has, for another one to do',
  async (ground, customer) => {
    const folder = join(ground.folder, 'slow');
    mkdirSync(folder);
    const manifest = {
      contract: 1,
      name: 'slow',
      language: 'nodejs@24',
      entry: 'main.mjs',
      datasets: ['book'],
    };
    writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest));
    writeFileSync(join(folder, 'main.mjs'), SLOW);
    const leaving = await ground.worker({ BACKTEST_GRACE_MS: '0' });
    const { run_id } = await ground.submit(customer, folder, TWO_DAYS);
    await until('a box is at work', () => leaving.replayers().some((one) => boxesOf(one).length > 0));
    expect(await leaving.drain()).toBe(0);
    expect(leaving.told.map(({ event }) => event)).toContain('handed_back');
    expect(await ground.db.query('select id from worker')).toEqual([]);
    await ground.worker();
    expect(await ground.over(run_id)).toBe('done');
    expect(await ground.faults(run_id)).toBe(0);
  },
);
