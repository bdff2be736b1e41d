import { klineIntervalMs, type MarketDay } from '../../contract/index.ts';
import type { FeedRows, MarketRow } from '../archive/staged.ts';
import { type Find, isFeed, nextDay, STRIKE_KLINE } from './files.ts';

/** When a strategy learns a market's strike, and what it is. */
export interface Strike {
  readonly at_ms: number;
  readonly value: number;
}

/**
 * A strike is known once the settlement feed's row at the market's start has been received: the first row whose own
 * time is not before the start. A recorded strike is worth more than the feed's value. Null where the archive has no
 * such feed, or the row came after the market's end.
 */
export function strikeOf(find: Find, row: MarketRow, day: MarketDay, feed_ms: number): Strike | null {
  const { asset, date } = day;
  for (const on of [date, nextDay(date)]) {
    const found =
      row.settlement_feed === 'klines' ? kline(find, asset, on, row.start_ms) : feed(find, row, asset, on);
    if (found) {
      const at_ms = Math.max(found.at_ms + feed_ms, row.start_ms);
      return at_ms <= row.end_ms ? { at_ms, value: row.strike ?? found.value } : null;
    }
  }
  return null;
}

function feed(find: Find, row: MarketRow, asset: string, date: string): Strike | null {
  const name = row.settlement_feed as Parameters<typeof isFeed>[0];
  if (!isFeed(name)) return null;
  const rows: FeedRows | undefined = find(name, asset, null, date)?.rows;
  for (let i = firstReceived(rows, row.start_ms); rows && i < rows.length; i++)
    if (rows.event[i]! >= row.start_ms) return { at_ms: rows.recv[i]!, value: rows.value[i]! };
  return null;
}

/** A row is never received before its own time, so the search may begin at the first one received from the start on. */
function firstReceived(rows: FeedRows | undefined, ms: number): number {
  let low = 0;
  let high = rows?.length ?? 0;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (rows!.recv[middle]! < ms) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The candle that opens at the start, known at its close. */
function kline(find: Find, asset: string, date: string, start_ms: number): Strike | null {
  const rows = find('klines', asset, STRIKE_KLINE, date)?.rows;
  const at = rows ? rows.open_ms.findIndex((open) => open >= start_ms) : -1;
  return rows && at >= 0
    ? { at_ms: rows.open_ms[at]! + klineIntervalMs[STRIKE_KLINE]!, value: rows.open[at]! }
    : null;
}
