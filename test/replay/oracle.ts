import { Kind, SILENT, Side } from '../../contract/index.ts';
import type { SeriesRows, StreamMarket } from '../../src/replay/stream.ts';
import type { TickRow } from './frames.ts';
import type { Base, Delta, FeedRow, Level, Quote, Snapshot, TickSize } from './recordings.ts';

/** What was recorded, as plain objects: for each dataset a list of days. `market` is the index in `markets`. */
export interface Recording {
  readonly markets: readonly StreamMarket[];
  readonly start_ms: number;
  readonly end_ms: number;
  readonly warmup_ms: number;
  readonly feed_ms: number;
  readonly tickSizes: readonly (readonly TickSize[])[] | null;
  readonly snapshots: readonly (readonly Snapshot[])[] | null;
  readonly deltas: readonly (readonly Delta[])[] | null;
  readonly prints: readonly (readonly Delta[])[] | null;
  readonly quotes: readonly (readonly Quote[])[] | null;
  /** Feeds 0, 1: prices and twap60s; 2: klines; 3: a series. */
  readonly prices: readonly (readonly FeedRow[])[];
  readonly twap60s: readonly (readonly FeedRow[])[];
  readonly klines: { readonly opens: readonly number[]; readonly interval_ms: number };
  readonly series: SeriesRows;
}

export interface Shown {
  readonly rows: TickRow[];
  readonly records: { readonly feed: number; readonly values: number[] }[];
  /** Bests of each market before the archive row that row i is part of. */
  readonly before: { readonly bid: number; readonly ask: number }[][];
  readonly ticks: number;
  readonly ticksOf: number[];
}

interface Entry {
  readonly at: readonly number[];
  readonly show: () => void;
}
type Draft = Omit<TickRow, 'ts' | 'bid' | 'ask'> & { readonly ts: number };

const hooks: readonly number[] = [
  Kind.depth,
  Kind.depth_same,
  Kind.trade,
  Kind.prices,
  Kind.twap60s,
  Kind.quote,
  Kind.tick_size,
  Kind.kline,
  Kind.series,
];
const feedKinds: readonly number[] = [Kind.prices, Kind.twap60s, Kind.kline, Kind.series];

/** All rows as objects, sorted by one comparison, laid over plain books one after the other. */
export function oracle(recording: Recording): Shown {
  const { markets, feed_ms } = recording;
  const entries: Entry[] = [];
  const shown: Shown = { rows: [], records: [], before: [], ticks: 0, ticksOf: markets.map(() => 0) };
  let ticks = 0;
  const books = markets.map(() => [new Map<number, number>(), new Map<number, number>()] as const);
  const quoted = markets.map(() => ({ bid: 0, ask: 0 }));
  const hasDepth = markets.map(() => recording.snapshots !== null || recording.deltas !== null);

  const best = (market: number): { bid: number; ask: number } => {
    if (!hasDepth[market]) return quoted[market]!;
    const live = (side: 0 | 1): number[] =>
      [...books[market]![side]].filter(([, size]) => size > 0).map(([price]) => price);
    const [bids, asks] = [live(0), live(1)];
    return { bid: bids.length ? Math.max(...bids) : 0, ask: asks.length ? Math.min(...asks) : 0 };
  };
  const put = (row: Draft, silent: boolean): void => {
    const { bid, ask } = best(feedKinds.includes(row.kind) ? 0 : row.market);
    shown.rows.push({ ...row, bid, ask, kind: row.kind + (silent ? SILENT : 0) });
    if (silent || !hooks.includes(row.kind)) return;
    ticks++;
    if (!feedKinds.includes(row.kind)) shown.ticksOf[row.market]!++;
  };

  /** Rows of markets, up to each market's end; silent up to its start. */
  const ofMarkets = <R extends Base>(
    rank: number,
    days: readonly (readonly R[])[] | null,
    show: (row: R, draft: (more: Partial<Draft>) => Draft, silent: boolean) => void,
  ): void => {
    for (const [day, rows] of (days ?? []).entries())
      for (const [number, row] of rows.entries()) {
        const ts = row.recv + feed_ms;
        const { start_ms, end_ms } = markets[row.market]!;
        if (ts > Math.min(end_ms, recording.end_ms)) continue;
        const draft = (more: Partial<Draft>): Draft => ({
          ...{ ts, price: 0, size: 0, lag: ts - row.event, market: row.market, kind: 0, side: 0 },
          ...more,
        });
        entries.push({
          at: [ts, rank, row.market, day, number],
          show: () => show(row, draft, ts <= Math.max(start_ms, recording.start_ms)),
        });
      }
  };
  /** Rows of an asset: the history that is kept, the last one before the start, and all up to the end. */
  const ofAsset = (
    rank: number,
    feed: number,
    day: number,
    times: readonly number[],
    show: (i: number, silent: boolean) => void,
  ): void => {
    const { start_ms, end_ms, warmup_ms } = recording;
    const last = times.filter((ts) => ts < start_ms).length - 1;
    for (const [i, ts] of times.entries())
      if (ts <= end_ms && (ts >= start_ms - warmup_ms || i === last))
        entries.push({ at: [ts, rank, feed, day, i], show: () => show(i, ts <= start_ms) });
  };

  ofMarkets(0, recording.tickSizes, (row, draft, silent) => {
    put(draft({ kind: Kind.tick_size, price: row.after / 10_000, size: row.before / 10_000 }), silent);
  });
  ofMarkets(1, recording.snapshots, (row, draft, silent) => {
    const changes = changesOf(row, books[row.market]!);
    if (changes.length === 0)
      put(draft({ kind: Kind.depth_same, side: (row.outcome ? Side.down : 0) | Side.snapshot }), silent);
    changes.forEach(([side, price, size], i) => {
      books[row.market]![side].set(price, size);
      const sold = (side === 1) !== (row.outcome === 1);
      put(
        draft({
          kind: i === changes.length - 1 ? Kind.depth : Kind.depth_part,
          price: (row.outcome ? 10_000 - price : price) / 10_000,
          size: size / 10_000,
          side: (sold ? Side.sell : 0) | (row.outcome ? Side.down : 0) | Side.snapshot,
        }),
        silent,
      );
    });
  });
  const own = ({ side, outcome }: Delta): number => (side ? Side.sell : 0) | (outcome ? Side.down : 0);
  ofMarkets(2, recording.deltas, (row, draft, silent) => {
    const side = row.side === row.outcome ? 0 : 1;
    books[row.market]![side].set(row.outcome ? 10_000 - row.price : row.price, row.size);
    put(
      draft({ kind: Kind.depth, price: row.price / 10_000, size: row.size / 10_000, side: own(row) }),
      silent,
    );
  });
  ofMarkets(3, recording.prints, (row, draft, silent) => {
    put(
      draft({ kind: Kind.trade, price: row.price / 10_000, size: row.size / 10_000, side: own(row) }),
      silent,
    );
  });
  for (const [feed, kind, days] of [
    [0, Kind.prices, recording.prices],
    [1, Kind.twap60s, recording.twap60s],
  ] as const)
    for (const [day, rows] of days.entries()) {
      const times = rows.map(({ recv }) => recv + feed_ms);
      ofAsset(4, feed, day, times, (i, silent) => {
        put(
          {
            ts: times[i]!,
            price: rows[i]!.value,
            size: 0,
            lag: times[i]! - rows[i]!.event,
            market: feed,
            kind,
            side: 0,
          },
          silent,
        );
      });
    }
  ofMarkets(5, recording.quotes, (row, draft, silent) => {
    const mirrored = (price: number): number => (price ? 10_000 - price : 0);
    quoted[row.market] = row.outcome
      ? { bid: mirrored(row.ask), ask: mirrored(row.bid) }
      : { bid: row.bid, ask: row.ask };
    const dollars = (price: number): number => (price ? price / 10_000 : Number.NaN);
    put(
      draft({
        kind: Kind.quote,
        price: dollars(row.bid),
        size: dollars(row.ask),
        side: row.outcome ? Side.down : 0,
      }),
      silent,
    );
  });
  const { opens, interval_ms } = recording.klines;
  ofAsset(
    6,
    2,
    0,
    opens.map((ts) => ts + interval_ms + feed_ms),
    (i, silent) => {
      shown.records.push({
        feed: 2,
        values: [opens[i]!, 1, 2, 3, 4, 5].map((value, column) => (column ? 10 * i + value : value)),
      });
      put(
        {
          ts: opens[i]! + interval_ms + feed_ms,
          price: 10 * i + 4,
          size: 0,
          lag: feed_ms,
          market: 2,
          kind: Kind.kline,
          side: 0,
        },
        silent,
      );
    },
  );
  const { at_ms, ts_ms, columns } = recording.series;
  ofAsset(7, 3, 0, [...at_ms], (i, silent) => {
    shown.records.push({ feed: 3, values: [ts_ms[i]!, ...columns.map((column) => column[i]!)] });
    put(
      { ts: at_ms[i]!, price: 0, size: 0, lag: at_ms[i]! - ts_ms[i]!, market: 3, kind: Kind.series, side: 0 },
      silent,
    );
  });
  for (const [index, { start_ms, end_ms, strike }] of markets.entries()) {
    const one = (ts: number, kind: number, price: number): Draft => ({
      ts,
      price,
      size: 0,
      lag: 0,
      market: index,
      kind,
      side: 0,
    });
    const until = Math.min(end_ms, recording.end_ms);
    if (start_ms <= until)
      entries.push({
        at: [start_ms, 8, index],
        show: () => put(one(start_ms, Kind.market_open, 0), start_ms < recording.start_ms),
      });
    if (strike && strike.at_ms <= until)
      entries.push({
        at: [strike.at_ms, 9, index],
        show: () => put(one(strike.at_ms, Kind.strike, strike.value), strike.at_ms < recording.start_ms),
      });
  }
  entries.sort(
    (a, b) => a.at.map((value, i) => value - b.at[i]!).find((difference) => difference !== 0) ?? 0,
  );
  for (const { show } of entries) {
    const bests = markets.map((_, market) => ({ ...best(market) }));
    show();
    while (shown.before.length < shown.rows.length) shown.before.push(bests);
  }
  return { ...shown, ticks };
}

/** The levels that a snapshot of either outcome changes, in terms of up: named ones in its order, then what is gone. */
export function changesOf(
  row: Snapshot,
  book: readonly [ReadonlyMap<number, number>, ReadonlyMap<number, number>],
) {
  const now = [new Map(book[0]), new Map(book[1])] as const;
  const changes: [side: 0 | 1, price: number, size: number][] = [];
  const named = (side: 0 | 1, levels: readonly Level[]): Set<number> => {
    const prices = new Set<number>();
    for (const [own, size] of levels) {
      const price = row.outcome ? 10_000 - own : own;
      prices.add(price);
      if ((now[side].get(price) ?? 0) === size) continue;
      now[side].set(price, size);
      changes.push([side, price, size]);
    }
    return prices;
  };
  const first = named(row.outcome ? 1 : 0, row.bids);
  const second = named(row.outcome ? 0 : 1, row.asks);
  const kept = row.outcome ? [second, first] : [first, second];
  for (const side of [0, 1] as const) {
    const gone = [...book[side]]
      .filter(([price, size]) => size > 0 && !kept[side]!.has(price))
      .map(([price]) => price);
    gone.sort((a, b) => (side === 0 ? b - a : a - b));
    for (const price of gone) changes.push([side, price, 0]);
  }
  return changes;
}
