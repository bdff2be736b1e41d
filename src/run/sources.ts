import { type Dataset, klineIntervalMs } from '../../contract/index.ts';
import type { MarketRows, Staged } from '../archive/staged.ts';
import { type RowsByMarket, rowsByMarket } from '../replay/rows.ts';
import type { StreamSource } from '../replay/stream.ts';
import type { MarketParts, Part } from '../replay/tape.ts';
import { askedOf, type Find, isFeed, nextDay } from './files.ts';
import type { Feed, Listed, PlanInput } from './plan.ts';

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

/** Everything recorded of a market that moves its book or prints in it, on its day and the next. */
export function recordedOf(find: Find, { row, day }: Listed): MarketParts {
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
export function marketSources(input: PlanInput, market: Listed, index: number): StreamSource[] {
  const { row, day, tradable } = market;
  const { manifest } = input;
  const declared = new Set<Dataset>([...(tradable ? manifest.datasets : []), ...askedOf(manifest, day)]);
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

export function feedSources(
  input: PlanInput,
  feed: Feed,
  index: number,
  dates: readonly string[],
): StreamSource[] {
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
