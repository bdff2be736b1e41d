import { Kind, SILENT } from '../../contract/index.ts';
import type { FeedRows, KlineRows } from '../archive/staged.ts';
import type { FrameColumns } from './frame.ts';
import { lowerBound, type Run, type Where } from './merge.ts';
import { type OrderOf, rank } from './rank.ts';
import type { Records, SeriesRows, StreamOptions } from './stream.ts';
import type { View } from './view.ts';

const at = (times: Float64Array, offset: number): Where => ({ times, at: null, offset });

/** Runs of what belongs to no market: price feeds, klines, series. Feeds are numbered as the box was told. */
export class FeedRuns {
  /** Rows that reached a hook. */
  ticks = 0;
  /** Records since the last frame, by feed. */
  records = new Map<number, Records>();
  private readonly options: StreamOptions;
  private readonly columns: FrameColumns;
  private readonly order: OrderOf;
  private readonly first: View | undefined;

  /** @param first the segment's first market, whose bests ride on every row. */
  constructor(options: StreamOptions, columns: FrameColumns, order: OrderOf, first: View | undefined) {
    this.options = options;
    this.columns = columns;
    this.order = order;
    this.first = first;
  }

  feed(rows: FeedRows, feed: number, kind: number): Run {
    const where = at(rows.recv, this.options.feed_ms);
    return this.ofAsset(where, rows.length, rank.prices, feed, (i, ts) =>
      this.unowned(ts, rows.value[i]!, ts - rows.event[i]!, feed, kind),
    );
  }

  klines(rows: KlineRows, feed: number, interval_ms: number): Run {
    const { feed_ms } = this.options;
    const columns = [rows.open_ms, rows.open, rows.high, rows.low, rows.close, rows.volume];
    const where = at(rows.open_ms, interval_ms + feed_ms);
    return this.ofAsset(where, rows.length, rank.kline, feed, (i, ts) => {
      this.record('kline', feed, columns, i);
      this.unowned(ts, rows.close[i]!, feed_ms, feed, Kind.kline);
    });
  }

  series(rows: SeriesRows, feed: number): Run {
    const columns = [rows.ts_ms, ...rows.columns];
    const where = at(rows.at_ms, 0);
    return this.ofAsset(where, rows.length, rank.series, feed, (i, ts) => {
      this.record('series', feed, columns, i);
      this.unowned(ts, 0, ts - rows.ts_ms[i]!, feed, Kind.series);
    });
  }

  /** Rows that belong to an asset: history first, and always the last one before the start. */
  private ofAsset(where: Where, count: number, rowRank: number, feed: number, emit: Run['emit']): Run {
    const { start_ms, end_ms, warmup_ms } = this.options;
    const last = lowerBound(where, count, start_ms) - 1;
    const next = Math.min(lowerBound(where, count, start_ms - warmup_ms), Math.max(0, last));
    return {
      ...where,
      length: lowerBound(where, count, end_ms + 1),
      next,
      order: this.order(rowRank, feed),
      emit,
    };
  }

  /** A row without a market carries the bests of the segment's first one. */
  private unowned(ts: number, price: number, lag: number, feed: number, kind: number): void {
    const silent = ts <= this.options.start_ms;
    if (!silent) this.ticks++;
    const { first } = this;
    this.columns.put(
      ts,
      price,
      0,
      lag,
      feed,
      first?.bid ?? 0,
      first?.ask ?? 0,
      silent ? kind + SILENT : kind,
      0,
    );
  }

  private record(kind: Records['kind'], feed: number, columns: readonly Float64Array[], i: number): void {
    const records = this.records.get(feed) ?? { kind, feed, rows: [] };
    records.rows.push(columns.map((column) => column[i]!));
    this.records.set(feed, records);
  }
}
