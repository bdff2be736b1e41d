import fc from 'fast-check';
import { expect, test } from 'vitest';
import { report as schema, type UnitResult } from '../../contract/report.ts';
import { equityCurve } from '../../src/report/equity.ts';
import { buildReport } from '../../src/report/report.ts';
import { fill, mark, market, run, twoMarkets, unit } from './run.ts';

const rows = (units: UnitResult[]) => {
  const curve = equityCurve(100_000_000, units);
  return Array.from({ length: curve.rows }, (_, row) => [
    curve.ts[row],
    curve.cash[row] / 1e6,
    curve.locked[row] / 1e6,
    curve.value[row] / 1e6,
  ]);
};

test('two markets that overlap make one equity curve, each keeping its last mark until the next', () => {
  expect(rows(twoMarkets())).toEqual([
    [900, 100, 16, 0],
    [1000, 92, 8, 7.8],
    [1100, 86.9, 8, 12.3],
    [3000, 88.4, 0, 10.35],
    [5000, 98.4, 0, 0],
  ]);
});

test('of several marks of a portfolio at one time the last one counts', () => {
  const units = [unit({ marks: [mark(10, 0, 90, 0, 5), mark(10, 0, 80, 0, 19), mark(5, 1, 101, 0, 0)] })];
  expect(rows(units)).toEqual([
    [5, 101, 0, 0],
    [10, 81, 0, 19],
  ]);
});

test('money, counts and ratios are those worked out by hand', () => {
  const report = buildReport(run(twoMarkets()));
  expect(report.pnl).toEqual({
    net: -1.6,
    gross: -1.5,
    fees: 0.1,
    capital: 100,
    per_share: -0.045714,
    measured: true,
  });
  expect(report.equity).toEqual({ first: 100, last: 98.4, min: 98.4, max: 100 });
  expect(report.markets).toMatchObject({ count: 2, traded: 2, won: 1, lost: 1, unresolved: 0 });
  expect(report.markets.rows[1]).toEqual({
    market: 'm2',
    asset: 'ETH',
    interval: '5m',
    outcome: 'up',
    ticks: 10,
    orders: 3,
    fills: 2,
    fees: 0,
    pnl: -6.5,
  });
  expect(report.fills).toEqual({
    count: 3,
    maker: 1,
    taker: 2,
    shares: 35,
    notional: 14.5,
    maker_share: 0.571429,
  });
  expect(report.orders).toEqual({
    count: 4,
    by_status: { cancelled: 1, filled: 2, rejected: 1 },
    by_reason: { below_minimum: 1, user: 1 },
    fill_ratio: 0.636364,
  });
  expect(report.data_quality.exchange).toEqual({ crossed: 2, gaps: 3 });
});

test('drawdown runs from the highest point to the lowest one after it', () => {
  const marks = [
    mark(1, 0, 103, 0, 0),
    mark(2, 0, 60, 20, 50),
    mark(3, 0, 60, 20, 42),
    mark(4, 0, 60, 30, 51),
    mark(5, 0, 105, 0, 0),
  ];
  const report = buildReport(run([unit({ markets: [market({ pnl: 5_000_000 })], marks })]));
  expect(report.drawdown).toEqual({ max: 8, peak_ms: 2, trough_ms: 3, peak_capital: 81 });
  expect(report.equity).toEqual({ first: 100, last: 105, min: 100, max: 111 });
});

test('a loss from the first mark on is a drawdown from the starting capital', () => {
  const units = [unit({ markets: [market({ pnl: -2_000_000 })], marks: [mark(7, 0, 98, 0, 0)] })];
  expect(buildReport(run(units)).drawdown).toEqual({ max: 2, peak_ms: null, trough_ms: 7, peak_capital: 0 });
});

test('a session is one portfolio over all its markets', () => {
  const markets = [market({ pnl: 2_000_000 }), market({ market: 'm2', pnl: -500_000 })];
  const report = buildReport(
    run([unit({ markets, marks: [mark(1, 0, 95, 5, 5), mark(2, 0, 101.5, 0, 0)] })]),
  );
  expect(report.pnl.net).toBe(1.5);
  expect(report.equity.last).toBe(101.5);
  expect(report.drawdown.peak_capital).toBe(10);
});

test('a run without a single order has a report too', () => {
  const report = buildReport(run([unit({ markets: [market({ orders: 0, fills: 0, outcome: null })] })]));
  expect(schema.parse(report)).toEqual(report);
  expect(report.pnl).toMatchObject({ net: 0, per_share: null });
  expect(report.markets).toMatchObject({ traded: 0, won: 0, lost: 0, unresolved: 1 });
  expect(report.orders.fill_ratio).toBeNull();
  expect(report.drawdown).toEqual({ max: 0, peak_ms: null, trough_ms: null, peak_capital: 0 });
});

test('a market without an outcome is neither won nor lost, whatever its last mark says', () => {
  const units = [
    unit({ markets: [market({ outcome: null, pnl: 1_000_000 })], marks: [mark(1, 0, 95, 0, 6)] }),
  ];
  const { markets, pnl } = buildReport(run(units));
  expect(markets).toMatchObject({ traded: 1, won: 0, lost: 0, unresolved: 1 });
  expect(pnl.net).toBe(1);
});

test('a report matches its schema and survives the way through JSON', () => {
  const report = buildReport(run(twoMarkets(), { prefetch_ms: 30_000, prints_archived: false }));
  expect(schema.parse(JSON.parse(JSON.stringify(report)))).toEqual(report);
  expect(report.assumptions.notes).toHaveLength(3);
  expect(report.pnl.measured).toBe(false);
});

test('notional beyond what a double can count is still right', () => {
  const large = fill({ price: 9999, size: 90_000_000_000 });
  const units = [unit({ fills: Array.from({ length: 1001 }, () => large) })];
  expect(buildReport(run(units)).fills.notional).toBe(9_008_099_100);
});

test('markets and equity that disagree make no report', () => {
  const units = [unit({ markets: [market({ pnl: 1 })], marks: [mark(1, 0, 100, 0, 0)] })];
  expect(() => buildReport(run(units))).toThrow('the markets made 0.000001 dollars and the equity curve 0');
});

test('pnl of all markets, net pnl and the way equity went are one number, whatever happens', () => {
  const cents = fc.integer({ min: -50_000_000, max: 50_000_000 });
  const life = fc.array(fc.tuple(fc.integer({ min: 0, max: 50 }), cents, cents), {
    minLength: 1,
    maxLength: 8,
  });
  fc.assert(
    fc.property(fc.array(fc.array(life, { maxLength: 4 }), { maxLength: 4 }), (plan) => {
      const units = plan.map((portfolios) =>
        unit({
          markets: portfolios.map((marks, at) => {
            const [, cash, value] = inTime(marks).at(-1)!;
            return market({ market: `m${at}`, pnl: cash + value });
          }),
          marks: portfolios.flatMap((marks, portfolio) =>
            inTime(marks).map(([ts_ms, cash, position_value]) => ({
              ts_ms,
              portfolio,
              cash: 100_000_000 + cash,
              locked: 0,
              position_value,
            })),
          ),
        }),
      );
      const report = buildReport(run(units));
      const micro = (value: number) => Math.round(value * 1e6);
      const total = units.flatMap((one) => one.markets).reduce((sum, one) => sum + one.pnl, 0);
      expect(micro(report.pnl.net)).toBe(total);
      expect(micro(report.equity.last) - micro(report.equity.first)).toBe(total);
      expect(report.markets.rows.reduce((sum, row) => sum + micro(row.pnl), 0)).toBe(total);
    }),
  );
});

const inTime = (marks: readonly (readonly [number, number, number])[]) =>
  marks.toSorted((a, b) => a[0] - b[0]);
