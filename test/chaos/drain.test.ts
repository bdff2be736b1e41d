import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { TWO_DAYS } from './ground.ts';
import { chaos } from './scene.ts';
import { until } from './until.ts';

/** Takes a while for each market: a second or two for a day. */
const SLOW = `export class Strategy {
  onMarketOpen() { let n = 0; while (n < 5e7) n++; }
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
    await until('it replays', async () => {
      const [run] = await ground.db.query('select status, rejection from run where id = $1', [run_id]);
      expect(['queued', 'staging', 'running'], JSON.stringify(run)).toContain(run!.status);
      return run!.status === 'running';
    });
    expect(await leaving.drain()).toBe(0);
    expect(leaving.told.map(({ event }) => event)).toContain('handed_back');
    expect(await ground.db.query('select id from worker')).toEqual([]);
    await ground.worker();
    expect(await ground.over(run_id)).toBe('done');
    expect(await ground.faults(run_id)).toBe(0);
  },
);
