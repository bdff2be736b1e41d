import { Kind, SILENT, Side } from '../../contract/index.ts';
import type {
  DeltaRows,
  FeedRows,
  KlineRows,
  PrintRows,
  QuoteRows,
  SnapshotRows,
  TickSizeRows,
} from '../archive/staged.ts';
import { Book, type BookSide } from '../exchange/book.ts';
import { DOLLAR, SHARE } from '../exchange/units.ts';
import { type Frame, FrameColumns } from './frame.ts';
import { SnapshotDiff } from './snapshot.ts';
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
  /** Rows of feeds, klines and series after it are not part of the segment. */
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

const rank: Record<StreamSource['kind'] | 'open' | 'strike', number> = {
  tick_size: 0,
  snapshot: 1,
  delta: 2,
  trade: 3,
  prices: 4,
  twap30s: 4,
  twap60s: 4,
  quote: 5,
  kline: 6,
  series: 7,
  open: 8,
  strike: 9,
};

/** A source with its cursor. `ts` answers when its row `i` is seen; `emit` writes it. */
interface Run {
  readonly length: number;
  readonly ts: (i: number) => number;
  readonly emit: (i: number, ts: number) => void;
  readonly order: number;
  next: number;
}

/** Best bid and ask of a market as the strategy sees them, from the datasets that it declared. */
interface View {
  readonly book: Book;
  readonly diff: SnapshotDiff;
  hasDepth: boolean;
  bid: number;
  ask: number;
}

const NEVER = Number.POSITIVE_INFINITY;

/**
 * One segment's rows in the order in which the strategy sees them: receive time plus feed latency; within a
 * millisecond tick sizes, snapshots, deltas, trades, price feeds, quotes, klines, series, market opens, strikes; then
 * by market, day and row. A run merge: rows are taken from one source as long as they stay ahead of all others.
 */
export class Stream {
  ticks = 0;
  /** Hook rows by market. */
  readonly ticksOf: number[];
  private readonly options: StreamOptions;
  private readonly columns: FrameColumns;
  private readonly views: View[];
  /** Not begun yet, by first time, latest first; then the ones under way, by order. */
  private readonly waiting: Run[];
  private active: Run[] = [];
  private head = new Float64Array(16);
  private records = new Map<number, Records>();

  constructor(options: StreamOptions) {
    this.options = options;
    this.columns = new FrameColumns(options.frame_rows + 512);
    this.ticksOf = options.markets.map(() => 0);
    this.views = options.markets.map(() => ({
      book: new Book(0),
      diff: new SnapshotDiff(),
      hasDepth: false,
      bid: 0,
      ask: 0,
    }));
    const runs = [...options.sources.map((source) => this.run(source)), ...this.marketRuns()];
    this.waiting = runs
      .filter((run) => run.next < run.length)
      .sort((a, b) => b.ts(b.next) - a.ts(a.next) || b.order - a.order);
  }

  /** When the next row is seen; Infinity when none is left. */
  get nextMs(): number {
    let next = this.waiting.at(-1)?.ts(this.waiting.at(-1)!.next) ?? NEVER;
    for (let i = 0; i < this.active.length; i++) next = Math.min(next, this.head[i]!);
    return next;
  }

  /**
   * The next frame: rows up to and including `until`, about `frame_rows` of them. It always makes way: the frame's
   * `through_ms` is `until` when all of them fitted, Infinity when the segment has no more rows.
   */
  step(until: number): StreamStep {
    const quotes = this.openQuotes();
    const { columns } = this;
    const full = this.options.frame_rows;
    while (columns.length < full) {
      this.activate();
      const run = this.least();
      if (!run || this.head[run.at]! > until) break;
      this.take(run, until, full);
    }
    this.finishMillisecond(until);
    const next = this.nextMs;
    const last = columns.length > 0 ? columns.ts[columns.length - 1]! : until;
    const through = next === NEVER ? NEVER : next > until ? until : last;
    const records = [...this.records.values()];
    this.records = new Map();
    return { records, frame: columns.pack(through, quotes) };
  }

  /** Takes rows from one run while they precede every other head, up to `until` and a full frame. */
  private take(
    least: { run: Run; at: number; bound: number; boundOrder: number },
    until: number,
    full: number,
  ): void {
    const { run, at, bound, boundOrder } = least;
    let ts = this.head[at]!;
    while (ts <= until && (ts < bound || (ts === bound && run.order < boundOrder))) {
      run.emit(run.next, ts);
      ts = ++run.next < run.length ? run.ts(run.next) : NEVER;
      if (this.columns.length >= full) break;
    }
    this.head[at] = ts;
    if (ts === NEVER) this.retire(at);
  }

  /** A frame never splits a millisecond. */
  private finishMillisecond(until: number): void {
    const { columns } = this;
    if (columns.length < this.options.frame_rows) return;
    const last = columns.ts[columns.length - 1]!;
    for (;;) {
      this.activate();
      const run = this.least();
      if (!run || this.head[run.at]! > Math.min(last, until)) return;
      this.take(run, Math.min(last, until), NEVER);
    }
  }

  /** The run whose row comes next, and the head that ends its turn. */
  private least(): { run: Run; at: number; bound: number; boundOrder: number } | null {
    const { head, active } = this;
    let at = 0;
    let bound = this.waiting.at(-1)?.ts(this.waiting.at(-1)!.next) ?? NEVER;
    // A run that has not begun ends the turn before its first row; it joins and is compared then.
    let boundOrder = -1;
    for (let i = 1; i < active.length; i++) {
      if (head[i]! < head[at]!) at = i;
    }
    for (let i = 0; i < active.length; i++) {
      if (i === at) continue;
      if (head[i]! < bound || (head[i]! === bound && boundOrder >= 0 && active[i]!.order < boundOrder)) {
        bound = head[i]!;
        boundOrder = active[i]!.order;
      }
    }
    return active.length === 0 ? null : { run: active[at]!, at, bound, boundOrder };
  }

  /** Lets runs join whose first row is not after any active head. Active runs stay sorted by order, so ties fall right. */
  private activate(): void {
    for (;;) {
      const run = this.waiting.at(-1);
      if (!run) return;
      const ts = run.ts(run.next);
      let least = NEVER;
      for (let i = 0; i < this.active.length; i++) least = Math.min(least, this.head[i]!);
      if (this.active.length > 0 && ts > least) return;
      this.waiting.pop();
      const at = this.active.findIndex((other) => other.order > run.order);
      this.active.splice(at < 0 ? this.active.length : at, 0, run);
      this.reload();
    }
  }

  private retire(at: number): void {
    this.active.splice(at, 1);
    this.reload();
  }

  private reload(): void {
    if (this.head.length < this.active.length) this.head = new Float64Array(2 * this.active.length);
    for (let i = 0; i < this.active.length; i++) this.head[i] = this.active[i]!.ts(this.active[i]!.next);
  }

  private openQuotes(): number[] {
    const now = this.nextMs;
    const quotes: number[] = [];
    for (const [market, { start_ms, end_ms }] of this.options.markets.entries())
      if (start_ms <= now && now <= end_ms)
        quotes.push(market, this.views[market]!.bid, this.views[market]!.ask);
    return quotes;
  }

  /** Opens and strikes, as runs of one row. */
  private marketRuns(): Run[] {
    return this.options.markets.flatMap((market, index) => {
      const one = (at_ms: number, what: 'open' | 'strike', kind: number, value: number): Run => ({
        length: 1,
        next: 0,
        order: order(rank[what], index, 0),
        ts: () => at_ms,
        emit: (_, ts) => this.row(ts, 0, index, kind, value, 0, 0),
      });
      const open = one(market.start_ms, 'open', Kind.market_open, 0);
      const { strike } = market;
      if (!strike || strike.at_ms > market.end_ms) return [open];
      return [open, one(strike.at_ms, 'strike', Kind.strike, strike.value)];
    });
  }

  private run(source: StreamSource): Run {
    switch (source.kind) {
      case 'prices':
      case 'twap30s':
      case 'twap60s':
        return this.feedRun(source.rows, source.feed, Kind[source.kind]);
      case 'kline':
        return this.klineRun(source.rows, source.feed, source.interval_ms);
      case 'series':
        return this.seriesRun(source.rows, source.feed);
      case 'delta':
        return this.deltaRun(source.part, source.market);
      case 'snapshot':
        return this.snapshotRun(source.part, source.market);
      case 'trade':
        return this.marketRun(source.part, source.market, rank.trade, (rows, row, ts, silent) => {
          const side = (rows.side[row]! ? Side.sell : 0) | (rows.outcome[row]! ? Side.down : 0);
          this.row(
            ts,
            ts - rows.event[row]!,
            source.market,
            Kind.trade + silent,
            rows.price[row]! / DOLLAR,
            rows.size[row]! / SHARE,
            side,
          );
        });
      case 'quote':
        return this.quoteRun(source.part, source.market);
      case 'tick_size':
        return this.marketRun(source.part, source.market, rank.tick_size, (rows, row, ts, silent) => {
          this.row(
            ts,
            ts - rows.event[row]!,
            source.market,
            Kind.tick_size + silent,
            rows.after[row]! / DOLLAR,
            rows.before[row]! / DOLLAR,
            0,
          );
        });
    }
  }

  /** Rows of one market that arrive until its end; those up to its start are silent. */
  private marketRun<R extends DeltaRows | SnapshotRows | QuoteRows | TickSizeRows>(
    part: Part<R>,
    market: number,
    rowRank: number,
    emit: (rows: R, row: number, ts: number, silent: number) => void,
  ): Run {
    const { rows, at } = part;
    const { recv } = rows;
    const { start_ms, end_ms } = this.options.markets[market]!;
    const { feed_ms } = this.options;
    let length = at.length;
    while (length > 0 && recv[at[length - 1]!]! + feed_ms > end_ms) length--;
    return {
      length,
      next: 0,
      order: order(rowRank, market, this.dayOf(rowRank, market)),
      ts: (i) => recv[at[i]!]! + feed_ms,
      emit: (i, ts) => emit(rows, at[i]!, ts, ts <= start_ms ? SILENT : 0),
    };
  }

  private readonly days = new Map<number, number>();

  /** Parts of one market and kind come in the order of their days. */
  private dayOf(rowRank: number, market: number): number {
    const at = rowRank * 65_536 + market;
    const day = this.days.get(at) ?? 0;
    this.days.set(at, day + 1);
    return day;
  }

  private deltaRun(part: Part<DeltaRows>, market: number): Run {
    const view = this.views[market]!;
    view.hasDepth = true;
    return this.marketRun(part, market, rank.delta, (rows, row, ts, silent) => {
      const down = rows.outcome[row]!;
      const price = rows.price[row]!;
      const size = rows.size[row]!;
      this.level(view, (rows.side[row]! ^ down) as BookSide, down ? DOLLAR - price : price, size);
      this.row(
        ts,
        ts - rows.event[row]!,
        market,
        Kind.depth + silent,
        price / DOLLAR,
        size / SHARE,
        rows.side[row]! | (down << 1),
      );
    });
  }

  private snapshotRun(part: Part<SnapshotRows>, market: number): Run {
    const view = this.views[market]!;
    view.hasDepth = true;
    return this.marketRun(part, market, rank.snapshot, (rows, row, ts, silent) => {
      const down = rows.outcome[row]!;
      const lag = ts - rows.event[row]!;
      const { columns } = this;
      const before = columns.length;
      view.diff.apply(rows, row, view.book, (side, price, size) => {
        this.level(view, side, price, size);
        const own = (side ^ down) | (down << 1) | Side.snapshot;
        this.row(
          ts,
          lag,
          market,
          Kind.depth_part + silent,
          (down ? DOLLAR - price : price) / DOLLAR,
          size / SHARE,
          own,
        );
      });
      const last = columns.length - 1;
      if (columns.length === before)
        this.row(ts, lag, market, Kind.depth_same + silent, 0, 0, (down << 1) | Side.snapshot);
      else {
        columns.kind[last] = Kind.depth + silent;
        if (!silent) this.shown(market);
      }
    });
  }

  private quoteRun(part: Part<QuoteRows>, market: number): Run {
    const view = this.views[market]!;
    return this.marketRun(part, market, rank.quote, (rows, row, ts, silent) => {
      const down = rows.outcome[row]!;
      const bid = rows.bid[row]!;
      const ask = rows.ask[row]!;
      if (!view.hasDepth) {
        view.bid = down ? (ask ? DOLLAR - ask : 0) : bid;
        view.ask = down ? (bid ? DOLLAR - bid : 0) : ask;
      }
      this.row(
        ts,
        ts - rows.event[row]!,
        market,
        Kind.quote + silent,
        bid ? bid / DOLLAR : NaN,
        ask ? ask / DOLLAR : NaN,
        down << 1,
      );
    });
  }

  private feedRun(rows: FeedRows, feed: number, kind: number): Run {
    const { feed_ms } = this.options;
    return this.assetRun(
      rank.prices,
      feed,
      rows.length,
      (i) => rows.recv[i]! + feed_ms,
      (i, ts, silent) => this.row(ts, ts - rows.event[i]!, feed, kind + silent, rows.value[i]!, 0, 0),
    );
  }

  private klineRun(rows: KlineRows, feed: number, interval_ms: number): Run {
    const { feed_ms } = this.options;
    const at = (i: number): number => rows.open_ms[i]! + interval_ms + feed_ms;
    return this.assetRun(rank.kline, feed, rows.length, at, (i, ts, silent) => {
      this.record('kline', feed, [
        rows.open_ms[i]!,
        rows.open[i]!,
        rows.high[i]!,
        rows.low[i]!,
        rows.close[i]!,
        rows.volume[i]!,
      ]);
      this.row(ts, feed_ms, feed, Kind.kline + silent, rows.close[i]!, 0, 0);
    });
  }

  private seriesRun(rows: SeriesRows, feed: number): Run {
    return this.assetRun(
      rank.series,
      feed,
      rows.length,
      (i) => rows.at_ms[i]!,
      (i, ts, silent) => {
        this.record('series', feed, [rows.ts_ms[i]!, ...rows.columns.map((column) => column[i]!)]);
        this.row(ts, ts - rows.ts_ms[i]!, feed, Kind.series + silent, 0, 0, 0);
      },
    );
  }

  /** Rows that belong to an asset: history first, and always the last one before the start. */
  private assetRun(
    rowRank: number,
    feed: number,
    count: number,
    ts: (i: number) => number,
    emit: (i: number, ts: number, silent: number) => void,
  ): Run {
    const { start_ms, end_ms, warmup_ms } = this.options;
    const first = Math.min(
      lowerBound(count, ts, start_ms - warmup_ms),
      Math.max(0, lowerBound(count, ts, start_ms) - 1),
    );
    return {
      length: lowerBound(count, ts, end_ms + 1),
      next: first,
      order: order(rowRank, feed, this.dayOf(rowRank, feed)),
      ts,
      emit: (i, at) => emit(i, at, at <= start_ms ? SILENT : 0),
    };
  }

  private record(kind: Records['kind'], feed: number, values: number[]): void {
    let records = this.records.get(feed);
    if (!records) {
      records = { kind, feed, rows: [] };
      this.records.set(feed, records);
    }
    records.rows.push(values);
  }

  private shown(market: number): void {
    this.ticks++;
    this.ticksOf[market]!++;
  }

  private level(view: View, side: BookSide, price: number, size: number): void {
    const { book } = view;
    book.set(side, price, size, 0);
    view.diff.note(side, price, size);
    view.bid = book.bestBid;
    view.ask = book.bestAsk === DOLLAR ? 0 : book.bestAsk;
  }

  private row(
    ts: number,
    lag: number,
    market: number,
    kind: number,
    price: number,
    size: number,
    side: number,
  ): void {
    const { columns } = this;
    const at = columns.next();
    const owned = ofMarket[kind % SILENT] === 1;
    const view = this.views[owned ? market : 0];
    columns.ts[at] = ts;
    columns.price[at] = price;
    columns.size[at] = size;
    columns.lag[at] = lag;
    columns.market[at] = market;
    columns.bid[at] = view ? view.bid : 0;
    columns.ask[at] = view ? view.ask : 0;
    columns.kind[at] = kind;
    columns.side[at] = side;
    if (kind < SILENT && kind !== Kind.depth_part && kind < Kind.market_open) {
      this.ticks++;
      if (owned) this.ticksOf[market]!++;
    }
  }
}

/** Kinds of rows whose `market` column names a market rather than a feed. */
const ofMarket = new Uint8Array(SILENT);
for (const name of [
  'depth',
  'depth_part',
  'depth_same',
  'trade',
  'quote',
  'tick_size',
  'market_open',
  'strike',
] as const)
  ofMarket[Kind[name]] = 1;

/** Sources are compared by rank, then market or feed, then day. */
const order = (rowRank: number, index: number, day: number): number =>
  (rowRank * 65_536 + index) * 4_096 + day;

/** First i with ts(i) >= at. */
function lowerBound(count: number, ts: (i: number) => number, at: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ts(middle) < at) low = middle + 1;
    else high = middle;
  }
  return low;
}
