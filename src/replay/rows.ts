import type { MarketRows } from '../archive/staged.ts';

/** Which rows of a staged file belong to which market: the row numbers of one market, in file order, side by side. */
export interface RowsByMarket {
  readonly of: (market: string) => Uint32Array;
}

/** Counting sort by market: two passes, no comparison. Done once a file, whatever the number of markets. */
export function rowsByMarket(rows: MarketRows): RowsByMarket {
  const start = new Uint32Array(rows.markets.length + 1);
  for (let row = 0; row < rows.length; row++) start[rows.market[row]! + 1]!++;
  for (let market = 0; market < rows.markets.length; market++) start[market + 1]! += start[market]!;
  const next = start.slice();
  const order = new Uint32Array(rows.length);
  for (let row = 0; row < rows.length; row++) order[next[rows.market[row]!]!++] = row;

  const numbers = new Map(rows.markets.map((market, number) => [market, number]));
  return {
    of(market) {
      const number = numbers.get(market);
      return number === undefined ? new Uint32Array(0) : order.subarray(start[number]!, start[number + 1]!);
    },
  };
}
