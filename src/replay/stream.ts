import type {
  DeltaRows,
  FeedRows,
  KlineRows,
  PrintRows,
  QuoteRows,
  SnapshotRows,
  TickSizeRows,
} from '../archive/staged.ts';
import { type Frame, FrameColumns } from './frame.ts';
import { Merge } from './merge.ts';
import { Runs } from './runs.ts';
import type { Part } from './tape.ts';

/** A market as the stream needs it. Sources name it by its index in the list. */
export interface StreamMarket {
  readonly start_ms: number;
  readonly end_ms: number;
  /** When the strategy learns the strike, and what it is; null where the archive cannot tell. After the end it never does. */
  readonly strike: { readonly at_ms: number; readonly value: number } | null;
}

/** Rows of a strategy's own series; `columns` hold one value a row. */
export interface SeriesRows {
  readonly length: number;
  /** When a row becomes known, its lag included. */
  readonly at_ms: Float64Array;
  readonly ts_ms: Float64Array;
  readonly columns: readonly Float64Array[];
}

/** One sorted run of rows. `market` and `feed` are indexes in the lists that the box was given. */
export type StreamSource =
  | { readonly kind: 'tick_size'; readonly market: number; readonly part: Part<TickSizeRows> }
  | { readonly kind: 'snapshot'; readonly market: number; readonly part: Part<SnapshotRows> }
  | { readonly kind: 'delta'; readonly market: number; readonly part: Part<DeltaRows> }
  | { readonly kind: 'trade'; readonly market: number; readonly part: Part<PrintRows> }
  | { readonly kind: 'prices' | 'twap30s' | 'twap60s'; readonly feed: number; readonly rows: FeedRows }
  | { readonly kind: 'quote'; readonly market: number; readonly part: Part<QuoteRows> }
  | { readonly kind: 'kline'; readonly feed: number; readonly rows: KlineRows; readonly interval_ms: number }
  | { readonly kind: 'series'; readonly feed: number; readonly rows: SeriesRows };

export interface StreamOptions {
  readonly markets: readonly StreamMarket[];
  readonly sources: readonly StreamSource[];
  /** Clock at on_start. Rows up to and including it reach no hook. */
  readonly start_ms: number;
  /** Rows after it are not part of the segment, of whatever they are. */
  readonly end_ms: number;
  /** Feed rows before start_ms that the box keeps as history. The last one before it always comes along. */
  readonly warmup_ms: number;
  /** Latency of everything recorded. */
  readonly feed_ms: number;
  /** Rows a frame holds before it is closed at the next millisecond. */
  readonly frame_rows: number;
}

/** Records that go ahead of a frame, by feed: [ts_ms of the record, values...]. */
export interface Records {
  readonly kind: 'kline' | 'series';
  readonly feed: number;
  readonly rows: number[][];
}

export interface StreamStep {
  readonly records: readonly Records[];
  readonly frame: Frame;
}

/**
 * One segment's rows in the order in which the strategy sees them: receive time plus feed latency; within a
 * millisecond tick sizes, snapshots, deltas, trades, price feeds, quotes, klines, series, market opens, strikes; then
 * by market, day and row.
 */
export class Stream {
  private readonly options: StreamOptions;
  private readonly columns: FrameColumns;
  private readonly runs: Runs;
  private readonly merge: Merge;
  /** Rows up to here are in the frames so far. */
  private through = Number.NEGATIVE_INFINITY;

  constructor(options: StreamOptions) {
    this.options = options;
    this.columns = new FrameColumns(options.frame_rows + 512);
    this.runs = new Runs(options, this.columns);
    this.merge = new Merge(this.runs.all());
  }

  /** Rows that reached a hook. */
  get ticks(): number {
    return this.ticksOf.reduce((sum, ticks) => sum + ticks, this.runs.feeds.ticks);
  }

  /** Those of each market. */
  get ticksOf(): readonly number[] {
    return this.runs.ticksOf;
  }

  /** When the next row is seen; Infinity when none is left. */
  get nextMs(): number {
    return this.merge.nextMs;
  }

  /**
   * The next frame: rows up to and including `until`, about `frame_rows` of them, never a part of a millisecond. It
   * always makes way: the frame's `through_ms` is `until` when all of them fitted, Infinity when the segment has no
   * more rows.
   */
  step(until: number): StreamStep {
    const { columns, merge, runs } = this;
    const full = this.options.frame_rows;
    const quotes = this.openQuotes();
    while (columns.length < full && merge.turn(until, columns, full));
    if (columns.length >= full) while (merge.turn(columns.lastMs, columns, Number.POSITIVE_INFINITY));

    const next = merge.nextMs;
    const through = next === Number.POSITIVE_INFINITY ? next : next > until ? until : columns.lastMs;
    const records = [...runs.feeds.records.values()];
    runs.feeds.records = new Map();
    this.through = through;
    return { records, frame: columns.pack(through, quotes) };
  }

  /** The bests of every market that has begun and that may still be open when the box takes up this frame. */
  private openQuotes(): number[] {
    const now = this.merge.nextMs;
    const quotes: number[] = [];
    for (const [market, { start_ms, end_ms }] of this.options.markets.entries()) {
      const { bid, ask } = this.runs.views[market]!;
      if (start_ms <= now && this.through <= end_ms) quotes.push(market, bid, ask);
    }
    return quotes;
  }
}
