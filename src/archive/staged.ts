import type { Dataset } from '../../contract/index.ts';

/**
 * A staged file: columns of typed arrays, one element a row, rows in order of `recv`. Times are ms (float64, integral);
 * a price is a count of 1e-4 dollars (uint16, 0 = null), a size a count of 1e-4 shares (float64, integral);
 * outcome 0 up, 1 down; side 0 buy (a bid level, a taker's buy), 1 sell. `market` is an index into `markets`.
 */
export interface MarketRows {
  readonly length: number;
  readonly markets: readonly string[];
  readonly recv: Float64Array;
  readonly event: Float64Array;
  readonly market: Uint16Array;
  readonly outcome: Uint8Array;
}

/** price_change: the level's new total; 0 removes it. */
export interface DeltaRows extends MarketRows {
  readonly side: Uint8Array;
  readonly price: Uint16Array;
  readonly size: Float64Array;
}

/** last_trade_price: side is the taker's. */
export type PrintRows = DeltaRows;

/**
 * book and orderbook. Row r describes levels `start[r] .. start[r + 1]` of the level columns: first its bids, up to
 * `asks[r]`, then its asks.
 */
export interface SnapshotRows extends MarketRows {
  /** length + 1 */
  readonly start: Uint32Array;
  /** Where the asks of a row begin. */
  readonly asks: Uint32Array;
  readonly levelPrice: Uint16Array;
  readonly levelSize: Float64Array;
}

/** best_bid_ask. */
export interface QuoteRows extends MarketRows {
  readonly bid: Uint16Array;
  readonly ask: Uint16Array;
}

/** tick_size_change: counts of 1e-4 dollars. */
export interface TickSizeRows extends MarketRows {
  readonly before: Uint16Array;
  readonly after: Uint16Array;
}

/** prices, twap30s, twap60s. */
export interface FeedRows {
  readonly length: number;
  readonly recv: Float64Array;
  readonly event: Float64Array;
  readonly value: Float64Array;
}

/** klines of one interval, in order of open time. */
export interface KlineRows {
  readonly length: number;
  readonly open_ms: Float64Array;
  readonly open: Float64Array;
  readonly high: Float64Array;
  readonly low: Float64Array;
  readonly close: Float64Array;
  readonly volume: Float64Array;
}

/** A row of a markets file. Null where the archive has an empty field. */
export interface MarketRow {
  readonly market: string;
  readonly start_ms: number;
  readonly end_ms: number;
  readonly settlement_feed: string;
  readonly tie: string;
  readonly strike: number | null;
  readonly final: number | null;
  readonly outcome: 'up' | 'down' | 'split' | null;
  readonly resolved_ms: number | null;
  /** Dollars. */
  readonly tick_size: number | null;
  readonly min_size: number | null;
  readonly fee_rate: number | null;
  readonly taker_delay_ms: number | null;
}

export interface RowsOf {
  prices: FeedRows;
  twap30s: FeedRows;
  twap60s: FeedRows;
  book: SnapshotRows;
  orderbook: SnapshotRows;
  best_bid_ask: QuoteRows;
  price_change: DeltaRows;
  last_trade_price: PrintRows;
  tick_size_change: TickSizeRows;
  markets: readonly MarketRow[];
  klines: KlineRows;
}

/** What was wrong with a file's rows, counted. None of it is fatal. */
export interface Dirt {
  /** Rows dropped because a field could not be read; the first few places, as `line 12: price "x"`. */
  unreadable: number;
  places: string[];
  /** Rows whose `recv` was before the row above; they were sorted into place. */
  disordered: number;
  /** Rows whose event time was after their receive time; it was set to the receive time. */
  clock_skew: number;
  /** Rows equal to the row above in every field. They stay. */
  repeated: number;
  /** Prices off the 1e-4 grid or outside 0..1; such a level or row is dropped. Sizes are cut to the grid, uncounted. */
  off_grid: number;
  /** Snapshots whose levels did not stand best first. */
  unsorted_levels: number;
}

export interface Staged<D extends Dataset = Dataset> {
  readonly dataset: D;
  readonly asset: string;
  readonly interval: string | null;
  readonly date: string;
  readonly name: string;
  readonly sha256: string;
  readonly rows: RowsOf[D];
  readonly dirt: Dirt;
}
