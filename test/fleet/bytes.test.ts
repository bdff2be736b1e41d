import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Bench, strategy } from '../run/runs.ts';
import { Fleet } from './fleet.ts';

// However many workers share a run, its report is the one that a single machine makes.

const folder = mkdtempSync(join(tmpdir(), 'backtest-strategies-'));
const changed = (name: string, manifest: object): string => {
  const at = join(folder, `${name}-${readdirSync(folder).length}`);
  cpSync(strategy(name), at, { recursive: true });
  const whole = { ...JSON.parse(readFileSync(join(at, 'manifest.json'), 'utf8')), ...manifest };
  writeFileSync(join(at, 'manifest.json'), JSON.stringify(whole));
  return at;
};
const STRATEGIES = {
  'market mode': changed('momentum-node', { intervals: ['5m', '15m'] }),
  'session mode': changed('momentum-node', { mode: 'session' }),
  'a sweep': changed('timers-node', { sweep: { size: [5, 10], every_ms: [20_000, 30_000] } }),
};
const digests: Record<string, string[]> = {};

beforeAll(async () => {
  const bench = new Bench();
  for (const [name, source] of Object.entries(STRATEGIES)) {
    const { result, out } = await bench.run(source, { concurrency: 2 });
    expect(result.outcome).toBe('completed');
    const cells = readdirSync(out).includes('cells')
      ? readdirSync(join(out, 'cells')).map((cell) => join('cells', cell))
      : [''];
    // What a report's digest is the sha256 of.
    digests[name] = cells.map((cell) =>
      createHash('sha256')
        .update(readFileSync(join(out, cell, 'sha256sums.txt')))
        .digest('hex'),
    );
  }
  await bench.close();
});
afterAll(() => rmSync(folder, { recursive: true }));

for (const [slots, shape] of [
  [[1], 'one worker'],
  [[1, 1], 'two workers'],
  [[3, 1], 'two workers with four slots'],
] as const)
  test(`${shape} make the very reports that one machine makes, of runs in many shards`, async () => {
    const fleet = await Fleet.open();
    const customer = await fleet.customer('first', 1_000);
    const runs: [string, string][] = [];
    for (const [name, source] of Object.entries(STRATEGIES))
      runs.push([name, (await fleet.submit(customer, source, {})).run_id]);
    for (const many of slots) await fleet.work(many);
    for (const [name, run_id] of runs) {
      const run = await fleet.over(customer, run_id);
      expect(run.rejection).toBeNull();
      expect([name, run.report!.cells.map(({ result_digest }) => result_digest)]).toEqual([
        name,
        digests[name],
      ]);
    }
    const [shards] = await fleet.db.query(`select count(*) as n from task where kind = 'shard'`);
    expect(shards!.n).toBeGreaterThan(20);
    await fleet.close();
  });
