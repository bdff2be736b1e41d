import {
  DAY_MS,
  type Dataset,
  dayStart,
  klineIntervalMs,
  type Limits,
  type Manifest,
  type MarketDay,
  type Venue,
  type WireFeed,
  type WireMarket,
} from '../../contract/index.ts';
import type { MarketRow, MarketRows, Staged } from '../archive/staged.ts';
import type { MarketSpec } from '../exchange/market.ts';
import { rulesOf } from '../exchange/rules.ts';
import { DOLLAR, MICRO, SHARE } from '../exchange/units.ts';
import { type RowsByMarket, rowsByMarket } from '../replay/rows.ts';
import type { SeriesRows, StreamMarket, StreamSource } from '../replay/stream.ts';
import { type MarketParts, makeTape, type Part } from '../replay/tape.ts';
import { type Find, isFeed, nextDay } from './files.ts';
import type { SegmentMarket, SegmentPlan } from './segment.ts';
import { strikeOf } from './strike.ts';

export interface PlanInput {
  readonly manifest: Manifest;
  readonly venue: Venue;
  readonly limits: Limits;
  readonly find: Find;
  readonly series: readonly {
    readonly name: string;
    readonly columns: readonly string[];
    readonly rows: SeriesRows;
  }[];
}

/** One asset's stream of values that the strategy reads: declared, or brought in as context. */
export interface Feed {
  readonly wire: WireFeed;
  readonly dataset: Dataset | 'series';
}

/** The feeds of a unit, in the order of their indexes on the wire. */
export function feedsOf(input: PlanInput, assets: readonly string[]): Feed[] {
  const feeds = new Map<string, Feed>();
  const add = (dataset: Dataset, asset: string, interval: string): void => {
    if (!isFeed(dataset) && dataset !== 'klines') return;
    const kind = dataset === 'klines' ? 'kline' : dataset;
    const wire: WireFeed = { kind, asset, interval: kind === 'kline' ? interval : '', name: '', columns: [] };
    feeds.set(`${kind} ${asset} ${wire.interval}`, { wire, dataset });
  };
  const { manifest } = input;
  for (const asset of assets)
    for (const dataset of manifest.datasets) {
      if (dataset !== 'klines') add(dataset, asset, '');
      else for (const interval of manifest.kline_intervals) add(dataset, asset, interval);
    }
  for (const { dataset, asset, interval } of manifest.context) add(dataset, asset, interval ?? '1m');
  const series = input.series.map(
    ({ name, columns }): Feed => ({
      wire: { kind: 'series', asset: '', interval: '', name, columns },
      dataset: 'series',
    }),
  );
  return [...feeds.values(), ...series];
}

/** A market with everything that is recorded of it. */
export interface Listed {
  readonly row: MarketRow;
  readonly day: MarketDay;
  readonly tradable: boolean;
}

/** What became of the markets of some market-days: those that can be replayed, and those that cannot, with the reason. */
export interface Listing {
  readonly markets: readonly Listed[];
  readonly dropped: readonly string[];
}

/** Markets belong to the day on which they start. One that crosses midnight needs the first rows of the next day. */
export function listMarkets(input: PlanInput, marketDays: readonly MarketDay[]): Listing {
  const markets: Listed[] = [];
  const dropped: string[] = [];
  const take = (day: MarketDay, tradable: boolean): void => {
    for (const row of marketsOn(input.find, day)) {
      if (crossesMidnight(row, day) && !hasDepth(input.find, day, nextDay(day.date)))
        dropped.push(`${row.market}: it crosses midnight and the archive lacks the next day`);
      else markets.push({ row, day, tradable });
    }
  };
  for (const day of marketDays) take(day, true);
  const own = new Set(marketDays.map(({ asset, interval, date }) => `${asset} ${interval} ${date}`));
  for (const date of new Set(marketDays.map((day) => day.date)))
    for (const { asset, interval, dataset } of input.manifest.context)
      if (interval && !isFeed(dataset) && dataset !== 'klines' && !own.has(`${asset} ${interval} ${date}`))
        take({ asset, interval, date }, false);
  markets.sort((a, b) => a.row.start_ms - b.row.start_ms || (a.row.market < b.row.market ? -1 : 1));
  return { markets, dropped };
}

/** Rows of a markets file that start on its day. */
export function marketsOn(find: Find, { asset, interval, date }: MarketDay): readonly MarketRow[] {
  const from = dayStart(date);
  const rows = find('markets', asset, interval, date)?.rows ?? [];
  return rows.filter((row) => row.start_ms >= from && row.start_ms < from + DAY_MS);
}

export const crossesMidnight = (row: MarketRow, { date }: MarketDay): boolean =>
  row.end_ms > dayStart(date) + DAY_MS;

function hasDepth(find: Find, { asset, interval }: MarketDay, date: string): boolean {
  return (['book', 'orderbook', 'price_change'] as const).some((dataset) =>
    find(dataset, asset, interval, date),
  );
}

/** Rows by market, made once a staged file. */
const indexes = new WeakMap<MarketRows, RowsByMarket>();

function partOf<R extends MarketRows>(rows: R, market: string): Part<R> {
  let index = indexes.get(rows);
  if (!index) {
    index = rowsByMarket(rows);
    indexes.set(rows, index);
  }
  return { rows, at: index.of(market) };
}

/**
 * The groups of markets that share a strategy and a portfolio: each tradable market by itself in market mode, with the
 * context markets that live at its time; all of them in a session.
 */
export function groupsOf(mode: Manifest['mode'], markets: readonly Listed[]): (readonly Listed[])[] {
  if (mode === 'session') return markets.some((market) => market.tradable) ? [markets] : [];
  const context = markets.filter((market) => !market.tradable);
  const live = (one: Listed, at: Listed): boolean =>
    one.row.start_ms < at.row.end_ms && one.row.end_ms > at.row.start_ms;
  return markets
    .filter((market) => market.tradable)
    .map((market) =>
      markets.filter((other) => other === market || (context.includes(other) && live(other, market))),
    );
}

/** Plans one segment over markets that share a strategy and a portfolio: one in market mode, all of them in a session. */
export function planSegment(
  input: PlanInput,
  feeds: readonly Feed[],
  markets: readonly Listed[],
  portfolio: number,
): SegmentPlan {
  const { manifest } = input;
  const session = manifest.mode === 'session';
  const tradable = markets.filter((market) => market.tradable);
  const start_ms = Math.min(...tradable.map(({ row }) => row.start_ms));
  const end_ms = Math.max(...tradable.map(({ row }) => row.end_ms));
  const met: Record<string, number> = {};
  const count = (name: string, by: number): void => {
    if (by > 0) met[name] = (met[name] ?? 0) + by;
  };
  const specs = markets.map((market) => specOf(input, market, count));
  const dates = [...new Set(markets.flatMap(({ day }) => [day.date, nextDay(day.date)]))];
  const earlier = new Date(dayStart(dates[0]!) - DAY_MS).toISOString().slice(0, 10);
  const streamMarkets: StreamMarket[] = markets.map(({ row, day }) => ({
    start_ms: row.start_ms,
    end_ms: row.end_ms,
    strike: strikeOf(input.find, row, day, manifest.execution.latency_ms.feed),
  }));
  return {
    wire: {
      name: session ? 'session' : tradable[0]!.row.market,
      start_ms,
      capital: manifest.capital,
      markets: markets.map((market, index) => wireMarket(market, specs[index]!, index)),
    },
    stream: {
      markets: streamMarkets,
      sources: [
        ...markets.flatMap((market, index) => marketSources(input, market, index)),
        ...feeds.flatMap((feed, index) => feedSources(input, feed, index, [earlier, ...dates])),
      ],
      start_ms,
      end_ms,
      warmup_ms: manifest.warmup_ms,
      feed_ms: manifest.execution.latency_ms.feed,
      frame_rows: input.limits.frame_rows,
    },
    venue: {
      execution: manifest.execution,
      seed: manifest.seed,
      capital: Math.round(manifest.capital * MICRO),
      markets: specs,
      portfolio,
    },
    markets: markets.map(({ day }, index): SegmentMarket => ({ spec: specs[index]!, ...day })),
    met,
  };
}

function specOf(input: PlanInput, market: Listed, count: (name: string, by: number) => void): MarketSpec {
  const { row, day, tradable } = market;
  const rules = rulesOf(input.venue, day.date, row, input.manifest.execution);
  for (const rule of rules.unknown) count(`unknown_${rule}`, 1);
  if (tradable && disagrees(row)) count('outcome_disagreements', 1);
  if (tradable && row.outcome === null) count('unresolved_markets', 1);
  return {
    id: row.market,
    start_ms: row.start_ms,
    end_ms: row.end_ms,
    outcome: row.outcome,
    settle_ms: Math.max(row.resolved_ms ?? row.end_ms, row.end_ms),
    tradable,
    rules,
    tape: () => makeTape(recordedOf(input.find, market), row.end_ms, rules.tick, input.limits.gap_ms, count),
  };
}

/** Whether the archived outcome is not the one that strike, final and the tie rule give. */
function disagrees({ strike, final, tie, outcome }: MarketRow): boolean {
  if (strike === null || final === null || outcome === null) return false;
  const expected = final > strike ? 'up' : final < strike ? 'down' : tie;
  return expected !== outcome;
}

/** Everything recorded of a market that moves its book or prints in it, on its day and the next. */
function recordedOf(find: Find, { row, day }: Listed): MarketParts {
  const parts = <R extends MarketRows>(
    staged: (date: string) => readonly (Staged | undefined)[],
  ): Part<R>[] =>
    [day.date, nextDay(day.date)]
      .flatMap(staged)
      .filter((file) => file !== undefined)
      .map((file) => partOf(file.rows as unknown as R, row.market))
      .filter((part) => part.at.length > 0);
  const { asset, interval } = day;
  return {
    tickSizes: parts((date) => [find('tick_size_change', asset, interval, date)]),
    snapshots: parts((date) => [
      find('book', asset, interval, date),
      find('orderbook', asset, interval, date),
    ]),
    deltas: parts((date) => [find('price_change', asset, interval, date)]),
    prints: parts((date) => [find('last_trade_price', asset, interval, date)]),
  };
}

/** The market's rows that the strategy is shown: what the manifest declares, or what the context asks for. */
function marketSources(input: PlanInput, market: Listed, index: number): StreamSource[] {
  const { row, day, tradable } = market;
  const { manifest } = input;
  const asked = manifest.context.filter((one) => one.asset === day.asset && one.interval === day.interval);
  const declared = new Set<Dataset>([
    ...(tradable ? manifest.datasets : []),
    ...asked.map((one) => one.dataset),
  ]);
  const sources: StreamSource[] = [];
  for (const date of [day.date, nextDay(day.date)]) {
    const part = <D extends Dataset>(dataset: D): Staged<D> | undefined =>
      declared.has(dataset) ? input.find(dataset, day.asset, day.interval, date) : undefined;
    const tick_size = part('tick_size_change');
    if (tick_size)
      sources.push({ kind: 'tick_size', market: index, part: partOf(tick_size.rows, row.market) });
    for (const snapshot of [part('book'), part('orderbook')])
      if (snapshot)
        sources.push({ kind: 'snapshot', market: index, part: partOf(snapshot.rows, row.market) });
    const delta = part('price_change');
    if (delta) sources.push({ kind: 'delta', market: index, part: partOf(delta.rows, row.market) });
    const trade = part('last_trade_price');
    if (trade) sources.push({ kind: 'trade', market: index, part: partOf(trade.rows, row.market) });
    const quote = part('best_bid_ask');
    if (quote) sources.push({ kind: 'quote', market: index, part: partOf(quote.rows, row.market) });
  }
  return sources;
}

function feedSources(input: PlanInput, feed: Feed, index: number, dates: readonly string[]): StreamSource[] {
  const { wire, dataset } = feed;
  if (dataset === 'series') {
    const rows = input.series.find(({ name }) => name === wire.name)!.rows;
    return [{ kind: 'series', feed: index, rows }];
  }
  return dates.flatMap((date): StreamSource[] => {
    if (dataset === 'klines') {
      const file = input.find('klines', wire.asset, wire.interval, date);
      const interval_ms = klineIntervalMs[wire.interval]!;
      return file ? [{ kind: 'kline', feed: index, rows: file.rows, interval_ms }] : [];
    }
    if (!isFeed(dataset)) return [];
    const file = input.find(dataset, wire.asset, null, date);
    return file ? [{ kind: dataset, feed: index, rows: file.rows }] : [];
  });
}

function wireMarket({ row, day, tradable }: Listed, { rules }: MarketSpec, index: number): WireMarket {
  const { fee } = rules;
  return {
    index,
    id: row.market,
    asset: day.asset,
    interval: day.interval,
    start_ms: row.start_ms,
    end_ms: row.end_ms,
    settlement_feed: row.settlement_feed,
    tie: row.tie,
    tick_size: rules.tick / DOLLAR,
    min_size: rules.min_size / SHARE,
    fee: { curve: fee.curve, rate: fee.rate / 1e6, taken_in: fee.taken_in },
    taker_delay_ms: rules.taker_delay_ms,
    tradable,
  };
}
