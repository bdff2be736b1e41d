import { manifest } from '../../contract/manifest.ts';
import type { FillRow, MarketResult, MarkRow, OrderRow, UnitResult } from '../../contract/report.ts';
import type { ReportInput } from '../../src/report/report.ts';

/** Rows and runs of the report's tests, every field with a plain default. */

export const order = (some: Partial<OrderRow> = {}): OrderRow => ({
  order_id: 'm1-1',
  submitted_ms: 1000,
  arrived_ms: 1100,
  done_ms: 1100,
  market: 'm1',
  outcome: 'up',
  side: 'buy',
  limit: 5000,
  size: 100_000,
  filled: 100_000,
  tif: 'gtc',
  status: 'filled',
  reason: '',
  tag: '',
  ...some,
});

export const fill = (some: Partial<FillRow> = {}): FillRow => ({
  ts_ms: 1100,
  market: 'm1',
  outcome: 'up',
  side: 'buy',
  price: 5000,
  size: 100_000,
  fee: 0,
  liquidity: 'taker',
  order_id: 'm1-1',
  tag: '',
  ...some,
});

/** Dollars in, micro-dollars out. */
export const mark = (
  ts_ms: number,
  portfolio: number,
  cash: number,
  locked: number,
  position_value: number,
): MarkRow => ({
  ts_ms,
  portfolio,
  cash: Math.round(cash * 1e6),
  locked: Math.round(locked * 1e6),
  position_value: Math.round(position_value * 1e6),
});

export const market = (some: Partial<MarketResult> = {}): MarketResult => ({
  market: 'm1',
  asset: 'BTC',
  interval: '5m',
  date: '2026-04-16',
  start_ms: 0,
  end_ms: 300_000,
  outcome: 'up',
  ticks: 10,
  orders: 1,
  fills: 1,
  fees: 0,
  pnl: 0,
  ...some,
});

export const unit = (some: Partial<UnitResult> = {}): UnitResult => ({
  markets: [],
  orders: [],
  fills: [],
  marks: [],
  logs: [],
  forecasts: [],
  counts: {},
  ...some,
});

export const run = (units: readonly UnitResult[], some: Partial<ReportInput> = {}): ReportInput => ({
  manifest: manifest.parse({
    contract: 1,
    name: 'quiet-maker',
    language: 'nodejs@24',
    entry: 'strategy.js',
    datasets: ['book'],
    capital: 100,
  }),
  cell: 0,
  params: {},
  quote: {
    venue: 'venue_a',
    assets: ['BTC'],
    from: '2026-04-16',
    to: '2026-04-16',
    requestedFrom: '2026-04-16',
    requestedTo: '2026-04-16',
    requestedDays: 1,
    archivedDayCount: 1,
    missingDays: 0,
    missing: [],
    marketDays: 1,
    mode: 'market',
    sweepCells: 1,
    credits: 1,
  },
  engine_version: '0.1.0',
  source_sha256: 'a'.repeat(64),
  data_digest: 'b'.repeat(64),
  files: [{ name: 'BTCUSD-book-5m-2026-04-16.csv.gz', sha256: 'c'.repeat(64), rows: 7 }],
  dirt: {},
  places: [],
  least_lag_ms: 3,
  prefetch_ms: 0,
  prints_archived: true,
  units,
  ...some,
});

/**
 * Two markets of 100 dollars each that live at the same time, by hand: m1 buys 10 up at 0.50 for a fee of 0.10 and
 * wins; m2 buys 20 down at 0.40 as a maker, sells 5 of them at 0.30 and loses the rest.
 */
export const twoMarkets = (): UnitResult[] => [
  unit({
    markets: [market({ orders: 1, fills: 1, fees: 100_000, pnl: 4_900_000 })],
    orders: [order()],
    fills: [
      fill({ ts_ms: 1100, fee: 100_000 }),
      fill({ ts_ms: 5000, side: 'settle', price: 10_000, liquidity: 'none', order_id: '' }),
    ],
    marks: [mark(1100, 0, 94.9, 0, 4.5), mark(3000, 0, 94.9, 0, 6), mark(5000, 0, 104.9, 0, 0)],
    logs: [{ ts_ms: Date.parse('2026-04-16T07:10:04.904Z'), market: 'm1', text: 'bought' }],
    counts: { gaps: 1, crossed: 2 },
  }),
  unit({
    markets: [market({ market: 'm2', asset: 'ETH', orders: 3, fills: 2, fees: 0, pnl: -6_500_000 })],
    orders: [
      order({
        order_id: 'm2-1',
        market: 'm2',
        submitted_ms: 900,
        outcome: 'down',
        limit: 4000,
        size: 400_000,
        filled: 200_000,
        status: 'cancelled',
        reason: 'user',
      }),
      order({
        order_id: 'm2-2',
        market: 'm2',
        submitted_ms: 1000,
        done_ms: null,
        limit: null,
        filled: 0,
        status: 'rejected',
        reason: 'below_minimum',
      }),
      order({
        order_id: 'm2-3',
        market: 'm2',
        submitted_ms: 2900,
        outcome: 'down',
        side: 'sell',
        limit: 3000,
        size: 50_000,
        filled: 50_000,
      }),
    ],
    fills: [
      fill({
        ts_ms: 1000,
        market: 'm2',
        outcome: 'down',
        price: 4000,
        size: 200_000,
        liquidity: 'maker',
        order_id: 'm2-1',
      }),
      fill({
        ts_ms: 3000,
        market: 'm2',
        outcome: 'down',
        side: 'sell',
        price: 3000,
        size: 50_000,
        order_id: 'm2-3',
      }),
      fill({
        ts_ms: 5000,
        market: 'm2',
        outcome: 'down',
        side: 'settle',
        price: 0,
        size: 150_000,
        liquidity: 'none',
        order_id: '',
      }),
    ],
    marks: [
      mark(900, 0, 100, 16, 0),
      mark(1000, 0, 92, 8, 7.8),
      mark(3000, 0, 93.5, 0, 4.35),
      mark(5000, 0, 93.5, 0, 0),
    ],
    counts: { gaps: 2 },
  }),
];
