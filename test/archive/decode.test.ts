import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Dataset } from '../../contract/index.ts';
import { headers } from '../../src/archive/columns.ts';
import { type Decoded, decode } from '../../src/archive/decode.ts';
import type { SnapshotRows } from '../../src/archive/staged.ts';
import { decodePlainly } from './oracle.ts';
import { csvGz, marketLine } from './support.ts';

const T = 1776323400000;

/** Mostly clean, sometimes any of the dirt there is. */
const mostly = (clean: fc.Arbitrary<string>, ...dirty: string[]) =>
  fc.oneof({ weight: 40, arbitrary: clean }, { weight: 1, arbitrary: fc.constantFrom(...dirty) });
const time = mostly(
  fc.integer({ min: T, max: T + 40 }).map(String),
  '',
  '17763234',
  '1776323400000x',
  '-5',
  '1.5',
  '1776323 400000',
  '1234567890123456',
);
const price = mostly(
  fc.oneof(
    fc.integer({ min: 1, max: 99 }).map((cents) => (cents / 100).toString()),
    fc.integer({ min: 1, max: 999 }).map((mills) => (mills / 1000).toFixed(3)),
  ),
  ...[
    '',
    '0',
    '1',
    '1.0',
    '1.5',
    '0.00005',
    '0.500000',
    '-0.2',
    'x',
    '.5',
    '5.',
    '.',
    '1e-3',
    '12345678901234567890',
    '0.5 ',
  ],
);
const size = mostly(
  fc.oneof(
    fc.integer({ min: 0, max: 5000 }).map(String),
    fc.integer({ min: 0, max: 500_000 }).map((hundredths) => (hundredths / 100).toString()),
  ),
  ...['', '1.23456789', '123456789012.5', '999999999999999', '-1', '1e3', '.5', '7.', 'NaN', '12345678901'],
);
const market = mostly(
  fc.constantFrom('btc-updown-5m-1776323400', 'btc-updown-5m-1776323700', 'b', 'bt', '0xabc'),
  '',
  'ü',
);
const outcome = mostly(fc.constantFrom('up', 'down'), 'Up', '', 'u', 'upper');
const side = mostly(fc.constantFrom('buy', 'sell'), 'BUY', '', 'selling');
const number = mostly(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  '',
  'x',
  '0x10',
  '1.',
  ' 1',
);
const levels = mostly(
  fc
    .array(
      fc.tuple(price, size).map(([p, s]) => `${p}:${s}`),
      { maxLength: 6 },
    )
    .map((list) => list.join(' ')),
  ' ',
  '0.5',
  '0.5:1 ',
  '0.5:1:2',
  ':',
);

const shapes: Partial<Record<Dataset, fc.Arbitrary<string>[]>> = {
  prices: [time, time, number, fc.constant('1')],
  book: [time, time, market, outcome, levels, levels],
  orderbook: [time, time, market, levels, levels],
  best_bid_ask: [time, time, market, outcome, price, price],
  price_change: [time, time, market, outcome, side, price, size, price, price],
  last_trade_price: [time, time, market, outcome, side, price, size],
  tick_size_change: [time, time, market, outcome, price, price],
  klines: [time, number, number, number, number, number],
};

/** Lines, some of them twice, some of the wrong width. */
const linesOf = (fields: fc.Arbitrary<string>[]) =>
  fc.array(fc.tuple(fc.tuple(...fields), fc.integer({ min: 0, max: 20 })), { maxLength: 40 }).map((rows) =>
    rows.flatMap(([row, kind]) => {
      const line = row.join();
      return kind === 0
        ? [line, line]
        : kind === 1
          ? [row.slice(1).join()]
          : kind === 2
            ? [`${line},`]
            : [line];
    }),
  );

function plainRows(decoded: Decoded): Record<string, unknown>[] {
  const { length, markets, market, start, asks, levelPrice, levelSize, ...columns } =
    decoded.rows as SnapshotRows;
  const slice = (from: number, to: number) =>
    Array.from({ length: to - from }, (__, i) => [levelPrice[from + i], levelSize[from + i]]);
  return Array.from({ length }, (__, r) => {
    const row: Record<string, unknown> = Object.fromEntries(
      Object.entries(columns).map(([name, column]) => [name, (column as Float64Array)[r]]),
    );
    if (market) row.market = markets[market[r]];
    return start ? { ...row, bids: slice(start[r], asks[r]), asks: slice(asks[r], start[r + 1]) } : row;
  });
}

describe('decoding says of every file what reading it the slow way says', () => {
  for (const [dataset, fields] of Object.entries(shapes) as [Dataset, fc.Arbitrary<string>[]][]) {
    test(dataset, async () => {
      await fc.assert(
        fc.asyncProperty(linesOf(fields), fc.nat(50), async (lines, expectedRows) => {
          const csv = [headers[dataset], ...lines, ''].join('\n');
          const decoded = await decode(dataset, gzipSync(csv), expectedRows);
          const plain = decodePlainly(dataset, csv);
          expect(decoded.dirt).toEqual(plain.dirt);
          expect(plainRows(decoded)).toEqual(plain.rows);
        }),
        { numRuns: 150 },
      );
    });
  }
});

test('a line may lie across the chunks that a file is inflated in, and may lack its line break', async () => {
  const lines = Array.from({ length: 30_000 }, (_, i) => {
    const name = `btc-updown-5m-${1776323400 + 300 * (i % 7)}`;
    return `${T + i},${T + i - 5},${name},${i % 2 ? 'up' : 'down'},${i % 3 ? 'buy' : 'sell'},0.${10 + (i % 80)},${i / 4},0.5,0.51`;
  });
  const csv = [headers.price_change, ...lines].join('\n');
  const decoded = await decode('price_change', gzipSync(csv), 0);
  expect(decoded.dirt).toEqual({ ...decodePlainly('price_change', headers.price_change).dirt });
  expect(plainRows(decoded)).toEqual(decodePlainly('price_change', csv).rows);
});

test('rows that came late stand in order of their time, behind those of the same time that stood before', async () => {
  const at = [5, 1, 5, 3, 1, 9, 5];
  const lines = at.map((ms, i) => `${T + ms},${T},m,up,buy,0.5,${i}`);
  const { rows, dirt } = await decode('last_trade_price', csvGz('last_trade_price', lines), at.length);
  expect([...rows.recv].map((ms) => ms - T)).toEqual([1, 1, 3, 5, 5, 5, 9]);
  expect([...rows.size].map((count) => count / 10_000)).toEqual([1, 4, 3, 0, 2, 6, 5]);
  expect(dirt.disordered).toBe(4);
});

test('markets keep the order of their file, with null for what the archive does not know', async () => {
  const lines = [
    marketLine('b', T),
    marketLine('a', T),
    `c,${T},x,prices,up,,,,,,,,`,
    `d,${T},${T},klines,split,,,,,,,,`,
  ];
  const { rows, dirt } = await decode('markets', csvGz('markets', lines), 4);
  expect(rows.map((row) => row.market)).toEqual(['b', 'a', 'd']);
  expect(rows[0]).toMatchObject({
    strike: 64000.5,
    final: null,
    outcome: 'up',
    fee_rate: 0.07,
    end_ms: T + 300_000,
  });
  expect(rows[2]).toMatchObject({ settlement_feed: 'klines', tie: 'split', outcome: null, tick_size: null });
  expect(dirt).toMatchObject({ unreadable: 1, places: ['line 4: end_ms "x"'] });
});

test('another header is refused and both are named', async () => {
  const gz = csvGz('last_trade_price', []);
  await expect(decode('price_change', gz, 0)).rejects.toThrow(
    `has columns "${headers.last_trade_price}", expected "${headers.price_change}"`,
  );
  await expect(decode('price_change', gzipSync(''), 0)).rejects.toThrow('has columns ""');
});

test('an index that claims rows beyond all measure does no harm', async () => {
  const { rows } = await decode('book', csvGz('book', ['1776323400000,1776323400000,m,up,0.5:1,']), 1e15);
  expect(rows.length).toBe(1);
});

test('a file without rows has none', async () => {
  const { rows } = await decode('book', csvGz('book', []), 0);
  expect(rows).toMatchObject({ length: 0, markets: [], start: new Uint32Array([0]) });
});
