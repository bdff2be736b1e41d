import type { StreamSource } from './stream.ts';

/** Within a millisecond: the lower rank first. */
export const rank: Record<StreamSource['kind'] | 'open' | 'strike', number> = {
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

/** Decides between runs whose rows are seen at one time: by rank, then market or feed, then day. Smaller goes first. */
export type OrderOf = (rowRank: number, index: number) => number;

/** Runs of one rank and market or feed must be asked for in the order of their days. */
export function orders(): OrderOf {
  const days = new Map<number, number>();
  return (rowRank, index) => {
    const group = rowRank * 65_536 + index;
    const day = days.get(group) ?? 0;
    days.set(group, day + 1);
    return group * 4096 + day;
  };
}
