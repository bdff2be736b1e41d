import { Kind, SILENT, Side } from '../../contract/index.ts';
import type { DeltaRows, PrintRows, QuoteRows, SnapshotRows, TickSizeRows } from '../archive/staged.ts';
import type { BookSide } from '../exchange/book.ts';
import { DOLLAR, SHARE } from '../exchange/units.ts';
import { FeedRuns } from './feedruns.ts';
import type { FrameColumns } from './frame.ts';
import { lowerBound, type Run } from './merge.ts';
import { orders, rank } from './rank.ts';
import type { StreamOptions, StreamSource } from './stream.ts';
import type { Part } from './tape.ts';
import { View } from './view.ts';

/** Turns a segment's sources into runs, each of which writes its rows to `columns` as they are due. */
export class Runs {
  readonly feeds: FeedRuns;
  /** Rows of each market that reached a hook. */
  readonly ticksOf: number[];
  readonly views: readonly View[];
  private readonly options: StreamOptions;
  private readonly columns: FrameColumns;
  private readonly order = orders();

  constructor(options: StreamOptions, columns: FrameColumns) {
    this.options = options;
    this.columns = columns;
    this.ticksOf = options.markets.map(() => 0);
    this.views = options.markets.map(() => new View());
    this.feeds = new FeedRuns(options, columns, this.order, this.views[0]);
  }

  /** All runs of the segment, its opens and strikes among them. */
  all(): Run[] {
    return [...this.options.sources.map((source) => this.of(source)), ...this.marks()];
  }

  private of(source: StreamSource): Run {
    switch (source.kind) {
      case 'prices':
      case 'twap30s':
      case 'twap60s':
        return this.feeds.feed(source.rows, source.feed, Kind[source.kind]);
      case 'kline':
        return this.feeds.klines(source.rows, source.feed, source.interval_ms);
      case 'series':
        return this.feeds.series(source.rows, source.feed);
      case 'delta':
        return this.deltas(source.part, source.market);
      case 'snapshot':
        return this.snapshots(source.part, source.market);
      case 'trade':
        return this.trades(source.part, source.market);
      case 'quote':
        return this.quotes(source.part, source.market);
      case 'tick_size':
        return this.tickSizes(source.part, source.market);
    }
  }

  /** Opens and strikes, as runs of one row. */
  private marks(): Run[] {
    return this.options.markets.flatMap((market, index) => {
      const view = this.views[index]!;
      const one = (at_ms: number, what: 'open' | 'strike', kind: number, value: number): Run => ({
        ...{ times: Float64Array.of(at_ms), at: null, offset: 0 },
        ...{ length: 1, next: 0, order: this.order(rank[what], index) },
        emit: (_, ts) => {
          const silent = ts < this.options.start_ms ? SILENT : 0;
          this.columns.put(ts, value, 0, 0, index, view.bid, view.ask, kind + silent, 0);
        },
      });
      const until = this.endOf(index);
      const marks: Run[] = [];
      if (market.start_ms <= until) marks.push(one(market.start_ms, 'open', Kind.market_open, 0));
      if (market.strike && market.strike.at_ms <= until)
        marks.push(one(market.strike.at_ms, 'strike', Kind.strike, market.strike.value));
      return marks;
    });
  }

  private trades({ rows, at }: Part<PrintRows>, market: number): Run {
    const view = this.views[market]!;
    const begin = this.begin(market);
    return this.ofMarket(rows, at, market, rank.trade, (i, ts) => {
      const row = at[i]!;
      const kind = Kind.trade + begin(ts);
      const side = rows.side[row]! | (rows.outcome[row]! << 1);
      const price = rows.price[row]! / DOLLAR;
      this.columns.put(
        ts,
        price,
        rows.size[row]! / SHARE,
        ts - rows.event[row]!,
        market,
        view.bid,
        view.ask,
        kind,
        side,
      );
    });
  }

  private tickSizes({ rows, at }: Part<TickSizeRows>, market: number): Run {
    const view = this.views[market]!;
    const begin = this.begin(market);
    return this.ofMarket(rows, at, market, rank.tick_size, (i, ts) => {
      const row = at[i]!;
      const kind = Kind.tick_size + begin(ts);
      const [after, before] = [rows.after[row]! / DOLLAR, rows.before[row]! / DOLLAR];
      this.columns.put(ts, after, before, ts - rows.event[row]!, market, view.bid, view.ask, kind, 0);
    });
  }

  private quotes({ rows, at }: Part<QuoteRows>, market: number): Run {
    const view = this.views[market]!;
    const begin = this.begin(market);
    const mirrored = (price: number): number => (price === 0 ? 0 : DOLLAR - price);
    const dollars = (price: number): number => (price === 0 ? Number.NaN : price / DOLLAR);
    return this.ofMarket(rows, at, market, rank.quote, (i, ts) => {
      const row = at[i]!;
      const kind = Kind.quote + begin(ts);
      const down = rows.outcome[row]!;
      const bid = rows.bid[row]!;
      const ask = rows.ask[row]!;
      if (!view.hasDepth) {
        view.bid = down ? mirrored(ask) : bid;
        view.ask = down ? mirrored(bid) : ask;
      }
      const lag = ts - rows.event[row]!;
      this.columns.put(ts, dollars(bid), dollars(ask), lag, market, view.bid, view.ask, kind, down << 1);
    });
  }

  private deltas({ rows, at }: Part<DeltaRows>, market: number): Run {
    const view = this.views[market]!;
    const begin = this.begin(market);
    const { columns } = this;
    return this.ofDepth(rows, at, market, rank.delta, (i, ts) => {
      const row = at[i]!;
      const kind = Kind.depth + begin(ts);
      const down = rows.outcome[row]!;
      const side = rows.side[row]!;
      const price = rows.price[row]!;
      const size = rows.size[row]!;
      view.level((side ^ down) as BookSide, down ? DOLLAR - price : price, size);
      const lag = ts - rows.event[row]!;
      columns.put(
        ts,
        price / DOLLAR,
        size / SHARE,
        lag,
        market,
        view.bid,
        view.ask,
        kind,
        side | (down << 1),
      );
    });
  }

  /** A snapshot travels as the levels it changed; only the last of them is the row that a hook sees. */
  private snapshots({ rows, at }: Part<SnapshotRows>, market: number): Run {
    const view = this.views[market]!;
    const begin = this.begin(market);
    const { columns } = this;
    return this.ofDepth(rows, at, market, rank.snapshot, (i, ts) => {
      const row = at[i]!;
      const silent = begin(ts);
      const down = rows.outcome[row]!;
      const lag = ts - rows.event[row]!;
      const flags = (down << 1) | Side.snapshot;
      const before = columns.length;
      view.depth.lay(rows, row, (side, up, size) => {
        view.level(side, up, size);
        const price = (down ? DOLLAR - up : up) / DOLLAR;
        columns.put(
          ts,
          price,
          size / SHARE,
          lag,
          market,
          view.bid,
          view.ask,
          Kind.depth_part + silent,
          (side ^ down) | flags,
        );
      });
      if (columns.length > before) columns.kind[columns.length - 1] = Kind.depth + silent;
      else columns.put(ts, 0, 0, lag, market, view.bid, view.ask, Kind.depth_same + silent, flags);
    });
  }

  /** Rows of a market end with it, and with the segment: a market that came as context may outlive that. */
  private endOf(market: number): number {
    return Math.min(this.options.markets[market]!.end_ms, this.options.end_ms);
  }

  /** Rows of one market that arrive until its end. */
  private ofMarket(
    rows: { recv: Float64Array },
    at: Uint32Array,
    market: number,
    rowRank: number,
    emit: Run['emit'],
  ): Run {
    const where = { times: rows.recv, at, offset: this.options.feed_ms };
    const length = lowerBound(where, at.length, this.endOf(market) + 1);
    return { ...where, length, next: 0, order: this.order(rowRank, market), emit };
  }

  private ofDepth(
    rows: { recv: Float64Array },
    at: Uint32Array,
    market: number,
    rowRank: number,
    emit: Run['emit'],
  ): Run {
    const view = this.views[market]!;
    view.hasDepth = true;
    const run = this.ofMarket(rows, at, market, rowRank, emit);
    if (run.length > 0) view.join();
    return { ...run, done: () => view.leave() };
  }

  /** What a market's row begins with: SILENT up to its start and the segment's, else 0, and it counts. */
  private begin(market: number): (ts: number) => number {
    const start_ms = Math.max(this.options.start_ms, this.options.markets[market]!.start_ms);
    const { ticksOf } = this;
    return (ts) => {
      if (ts <= start_ms) return SILENT;
      ticksOf[market]!++;
      return 0;
    };
  }
}
