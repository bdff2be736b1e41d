import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Bench, type Ran, REAL, strategy } from './runs.ts';

const bench = new Bench();
afterAll(() => bench.close());

let maker: Ran;
beforeAll(async () => {
  maker = await bench.run(strategy('maker-node'), { archive: REAL });
});

test('the six recorded markets settle as recorded', () => {
  const rows = maker.result.report!.markets.rows.map(({ market, outcome }) => `${market} ${outcome}`);
  expect(rows).toEqual([
    'btc-updown-5m-1776323400 up',
    'btc-updown-5m-1776327600 down',
    'btc-updown-5m-1776329100 down',
    'btc-updown-5m-1776329400 up',
    'btc-updown-5m-1776330900 down',
    'btc-updown-5m-1776332400 up',
  ]);
});

test('two of them go through their change to the finer grid', () => {
  expect(maker.result.report!.data_quality.exchange.implied_ticks).toBe(2);
});

test('a recording without prints says that maker fills could not be measured', () => {
  expect(maker.result.report!.pnl.measured).toBe(false);
});

test('what was won or lost is what fills and settlements add up to', async () => {
  const favourite = await bench.run(strategy('favourite-node'), { archive: REAL });
  const [header, ...lines] = (await readFile(join(favourite.out, 'fills.csv'), 'utf8')).trim().split('\n');
  const columns = header!.split(',');
  const at = (line: string, name: string): string => line.split(',')[columns.indexOf(name)]!;
  let dollars = 0;
  for (const line of lines) {
    const money = Number(at(line, 'price')) * Number(at(line, 'size'));
    dollars += at(line, 'side') === 'buy' ? -money : money;
    // On this day fees on buys were taken in shares, so only sellers paid in cash.
    if (at(line, 'side') === 'sell') dollars -= Number(at(line, 'fee'));
  }
  expect(lines.length).toBeGreaterThan(5);
  expect(dollars).toBeCloseTo(favourite.result.report!.pnl.net, 4);
});
