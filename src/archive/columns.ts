import type { Dataset } from '../../contract/index.ts';

const feed = 'recv_ms,feed_ts_ms,value,full_accuracy_value';

/** The header line of each dataset's files. */
export const headers: Readonly<Record<Dataset, string>> = {
  prices: feed,
  twap30s: feed,
  twap60s: feed,
  book: 'recv_ms,event_ts_ms,market,outcome,bids,asks',
  orderbook: 'recv_ms,event_ts_ms,market,bids,asks',
  best_bid_ask: 'recv_ms,event_ts_ms,market,outcome,best_bid,best_ask',
  price_change: 'recv_ms,event_ts_ms,market,outcome,side,price,size,best_bid,best_ask',
  last_trade_price: 'recv_ms,event_ts_ms,market,outcome,side,price,size',
  tick_size_change: 'recv_ms,event_ts_ms,market,outcome,old_tick_size,new_tick_size',
  markets:
    'market,start_ms,end_ms,settlement_feed,tie,strike,final,outcome,resolved_ms,tick_size,min_size,fee_rate,taker_delay_ms',
  klines: 'open_ms,open,high,low,close,volume',
};

export type Column = Float64Array | Uint32Array | Uint16Array | Uint8Array;

/** The same values with room for `capacity`. */
export function grown<C extends Column>(column: C, capacity: number): C {
  const larger = new (column.constructor as new (length: number) => C)(capacity);
  larger.set(column);
  return larger;
}

/** The first `length` values, in the order of `order` where there is one. */
export function taken<C extends Column>(column: C, length: number, order: Uint32Array | null): C {
  if (order === null) return column.subarray(0, length) as C;
  const sorted = new (column.constructor as new (length: number) => C)(length);
  for (let i = 0; i < length; i++) sorted[i] = column[order[i]];
  return sorted;
}

/**
 * The order that sorts rows by time and leaves rows of the same time as they stand; null if they are sorted. Files
 * are nearly in order: only the rows that came late are sorted, then merged with the others.
 */
export function orderByTime(time: Float64Array, length: number): Uint32Array | null {
  const late: number[] = [];
  let newest = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < length; i++) {
    if (time[i] < newest) late.push(i);
    else newest = time[i];
  }
  if (late.length === 0) return null;
  const isLate = new Uint8Array(length);
  for (const i of late) isLate[i] = 1;
  late.sort((a, b) => time[a] - time[b] || a - b);
  const order = new Uint32Array(length);
  let at = 0;
  let next = 0;
  for (let i = 0; i < length; i++) {
    if (isLate[i] === 1) continue;
    while (next < late.length && precedes(time, late[next], i)) order[at++] = late[next++];
    order[at++] = i;
  }
  while (next < late.length) order[at++] = late[next++];
  return order;
}

const precedes = (time: Float64Array, a: number, b: number): boolean =>
  time[a] < time[b] || (time[a] === time[b] && a < b);
