import fc from 'fast-check';
import type {
  DeltaRows,
  FeedRows,
  KlineRows,
  MarketRows,
  QuoteRows,
  SnapshotRows,
  TickSizeRows,
} from '../../src/archive/staged.ts';
import type { SeriesRows } from '../../src/replay/stream.ts';

/** Archive rows as a test writes them, one object each; prices and sizes are counts of 1e-4. */
export interface Base {
  readonly recv: number;
  readonly event: number;
  /** Index in the file's own list of markets. */
  readonly market: number;
  readonly outcome: number;
}
export interface Delta extends Base {
  readonly side: number;
  readonly price: number;
  readonly size: number;
}
export type Level = readonly [price: number, size: number];
export interface Snapshot extends Base {
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
}
export interface Quote extends Base {
  readonly bid: number;
  readonly ask: number;
}
export interface TickSize extends Base {
  readonly before: number;
  readonly after: number;
}
export interface FeedRow {
  readonly recv: number;
  readonly event: number;
  readonly value: number;
}

const marketColumns = (markets: readonly string[], rows: readonly Base[]): MarketRows => ({
  length: rows.length,
  markets,
  recv: Float64Array.from(rows, (row) => row.recv),
  event: Float64Array.from(rows, (row) => row.event),
  market: Uint16Array.from(rows, (row) => row.market),
  outcome: Uint8Array.from(rows, (row) => row.outcome),
});

export const deltaRows = (markets: readonly string[], rows: readonly Delta[]): DeltaRows => ({
  ...marketColumns(markets, rows),
  side: Uint8Array.from(rows, (row) => row.side),
  price: Uint16Array.from(rows, (row) => row.price),
  size: Float64Array.from(rows, (row) => row.size),
});

export function snapshotRows(markets: readonly string[], rows: readonly Snapshot[]): SnapshotRows {
  const start = [0];
  const asks: number[] = [];
  const levels: Level[] = [];
  for (const row of rows) {
    levels.push(...row.bids);
    asks.push(levels.length);
    levels.push(...row.asks);
    start.push(levels.length);
  }
  return {
    ...marketColumns(markets, rows),
    start: Uint32Array.from(start),
    asks: Uint32Array.from(asks),
    levelPrice: Uint16Array.from(levels, ([price]) => price),
    levelSize: Float64Array.from(levels, ([, size]) => size),
  };
}

export const quoteRows = (markets: readonly string[], rows: readonly Quote[]): QuoteRows => ({
  ...marketColumns(markets, rows),
  bid: Uint16Array.from(rows, (row) => row.bid),
  ask: Uint16Array.from(rows, (row) => row.ask),
});

export const tickSizeRows = (markets: readonly string[], rows: readonly TickSize[]): TickSizeRows => ({
  ...marketColumns(markets, rows),
  before: Uint16Array.from(rows, (row) => row.before),
  after: Uint16Array.from(rows, (row) => row.after),
});

export const feedRows = (rows: readonly FeedRow[]): FeedRows => ({
  length: rows.length,
  recv: Float64Array.from(rows, (row) => row.recv),
  event: Float64Array.from(rows, (row) => row.event),
  value: Float64Array.from(rows, (row) => row.value),
});

/** Klines with round figures: each value tells its row and column. */
export const klineRows = (opens: readonly number[]): KlineRows => {
  const column = (add: number): Float64Array => Float64Array.from(opens, (_, i) => 10 * i + add);
  return {
    ...{ length: opens.length, open_ms: Float64Array.from(opens) },
    ...{ open: column(1), high: column(2), low: column(3), close: column(4), volume: column(5) },
  };
};

export const seriesRows = (times: readonly number[], lag_ms: number): SeriesRows => ({
  length: times.length,
  at_ms: Float64Array.from(times, (ts) => ts + lag_ms),
  ts_ms: Float64Array.from(times),
  columns: [Float64Array.from(times, (_, i) => i), Float64Array.from(times, (_, i) => -i)],
});

// --- random rows: few prices, many equal times, a little disorder of event times ---

const HORIZON_MS = 300;
const times = {
  recv: fc.nat(HORIZON_MS),
  lag: fc.constantFrom(0, 0, 1, 3, 20),
  outcome: fc.nat(1),
};
const cents = fc.integer({ min: 47, max: 53 }).map((value) => value * 100);
const price = fc.oneof(
  { weight: 30, arbitrary: cents },
  { weight: 1, arbitrary: fc.constantFrom(4850, 5005) },
);
const size = fc.constantFrom(0, 50_000, 100_000, 100_000, 123_456);
const levels = fc.array(fc.tuple(cents, fc.constantFrom(0, 50_000, 100_000, 70_001)), { maxLength: 4 });
const nullable = fc.oneof({ weight: 5, arbitrary: cents }, { weight: 1, arbitrary: fc.constant(0) });

/** Rows of one dataset of so many markets, in order of receive time. */
function file<R>(
  markets: number,
  own: { [K in Exclude<keyof R, keyof Base>]: fc.Arbitrary<R[K]> },
  most: number,
) {
  return fc
    .array(
      fc.record({ ...times, market: fc.nat(markets - 1), ...own } as never) as fc.Arbitrary<
        R & Base & { lag: number }
      >,
      {
        maxLength: most,
        size: 'max',
      },
    )
    .map((rows) =>
      rows
        .map(({ lag, ...row }) => ({ ...row, event: row.recv - lag }) as unknown as R & Base)
        .sort((a, b) => a.recv - b.recv),
    );
}

export const deltas = (markets: number) => file<Delta>(markets, { side: fc.nat(1), price, size }, 40);
export const snapshots = (markets: number) => file<Snapshot>(markets, { bids: levels, asks: levels }, 12);
export const prints = (markets: number) =>
  file<Delta>(markets, { side: fc.nat(1), price: cents, size: fc.constantFrom(50_000, 100_000) }, 20);
export const quotes = (markets: number) => file<Quote>(markets, { bid: nullable, ask: nullable }, 12);
export const tickSizes = (markets: number) =>
  file<TickSize>(markets, { before: fc.constant(100), after: fc.constantFrom(0, 10, 100, 100) }, 4);
export const feed = fc
  .array(fc.record({ recv: times.recv, lag: times.lag, value: fc.nat(9) }), { maxLength: 12 })
  .map((rows) =>
    rows.map(({ recv, lag, value }) => ({ recv, event: recv - lag, value })).sort((a, b) => a.recv - b.recv),
  );
export const moments = fc
  .array(times.recv, { maxLength: 6 })
  .map((values) => [...new Set(values)].sort((a, b) => a - b));
export { HORIZON_MS };
