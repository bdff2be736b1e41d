import {
  DAY_MS,
  type Dataset,
  dayStart,
  depths,
  type Limits,
  type Manifest,
  type MarketDay,
  type Venue,
  type WireFeed,
  type WireMarket,
} from '../../contract/index.ts';
import type { MarketRow } from '../archive/staged.ts';
import type { MarketSpec } from '../exchange/market.ts';
import { rulesOf } from '../exchange/rules.ts';
import { DOLLAR, MICRO, SHARE } from '../exchange/units.ts';
import type { SeriesRows, StreamMarket } from '../replay/stream.ts';
import { makeTape } from '../replay/tape.ts';
import { askedOf, contextDays, dayBefore, type Find, isFeed, nextDay } from './files.ts';
import type { SegmentMarket, SegmentPlan } from './segment.ts';
import { feedSources, marketSources, recordedOf } from './sources.ts';
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
  for (const { dataset, asset, interval } of manifest.context) add(dataset, asset, interval ?? '');
  const series = input.series.map(
    ({ name, columns }): Feed => ({
      wire: { kind: 'series', asset: '', interval: '', name, columns },
      dataset: 'series',
    }),
  );
  return [...feeds.values(), ...series];
}

/** A market, the market-day whose file lists it, and whether it may be traded or came as context. */
export interface Listed {
  readonly row: MarketRow;
  readonly day: MarketDay;
  readonly tradable: boolean;
}

/** What became of the markets of some market-days: those that can be replayed, and those that cannot, with the reason. */
export interface Listing {
  /** By start and id. */
  readonly markets: readonly Listed[];
  readonly dropped: readonly string[];
}

/**
 * Markets belong to the day on which they start. One that crosses midnight needs the first rows of the next day: depth
 * where it is traded, what was asked for where it is context.
 */
export function listMarkets({ find, manifest }: PlanInput, marketDays: readonly MarketDay[]): Listing {
  const markets: Listed[] = [];
  const dropped: string[] = [];
  const take = (day: MarketDay, tradable: boolean): void => {
    const { asset, interval, date } = day;
    const needed = tradable ? depths : askedOf(manifest, day);
    for (const row of marketsOn(find, day)) {
      const goesOn = needed.some((dataset) => find(dataset, asset, interval, nextDay(date)));
      if (!crossesMidnight(row, day) || goesOn) markets.push({ row, day, tradable });
      else dropped.push(`${row.market}: it crosses midnight and the archive lacks the next day`);
    }
  };
  for (const day of marketDays) take(day, true);
  for (const day of contextDays(manifest, marketDays)) take(day, false);
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

/**
 * The groups of markets that share a strategy and a portfolio: each tradable market by itself in market mode, all of
 * them in a session; and with them the context markets that live at their time.
 */
export function groupsOf(mode: Manifest['mode'], markets: readonly Listed[]): (readonly Listed[])[] {
  const tradable = markets.filter((market) => market.tradable);
  if (tradable.length === 0) return [];
  const groups = mode === 'session' ? [tradable] : tradable.map((market) => [market]);
  return groups.map((group) => {
    const own = new Set(group);
    const start_ms = Math.min(...group.map(({ row }) => row.start_ms));
    const end_ms = Math.max(...group.map(({ row }) => row.end_ms));
    return markets.filter(
      (market) =>
        own.has(market) || (!market.tradable && market.row.start_ms < end_ms && market.row.end_ms > start_ms),
    );
  });
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
  const dates = new Set(
    markets.flatMap(({ day: { date } }) => [dayBefore(date), date, nextDay(date)]).sort(),
  );
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
        ...feeds.flatMap((feed, index) => feedSources(input, feed, index, [...dates])),
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
    final: row.final,
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
