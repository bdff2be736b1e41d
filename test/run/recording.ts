import type { Dataset, MarketDay } from '../../contract/index.ts';
import type { Dirt, MarketRow, Staged } from '../../src/archive/staged.ts';
import type { Find } from '../../src/run/files.ts';

/** A small generator for tests: the same seed, the same numbers. */
export function numbers(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

const clean: Dirt = {
  unreadable: 0,
  places: [],
  disordered: 0,
  clock_skew: 0,
  repeated: 0,
  off_grid: 0,
  unsorted_levels: 0,
};

export const DATE = '2026-07-01';
export const DAY_START = Date.parse(`${DATE}T00:00:00Z`);
export const MARKET_DAY: MarketDay = { asset: 'BTC', interval: '5m', date: DATE };

/** Few prices and small sizes, so that own orders meet rows often. */
const PRICES = [4700, 4800, 4900, 5000, 5100, 5200, 5300];

/** A random recording of a few overlapping markets, as staged files. */
export function recording(seed: number): { find: Find; markets: MarketRow[] } {
  const next = numbers(seed);
  const count = 1 + next(3);
  const markets = Array.from({ length: count }, (_, at): MarketRow => {
    const start_ms = DAY_START + 60_000 + next(4) * 5_000 * at;
    const end_ms = start_ms + 10_000 + next(20_000);
    return {
      market: `m${at}`,
      start_ms,
      end_ms,
      settlement_feed: 'prices',
      tie: 'up',
      strike: null,
      final: null,
      outcome: (['up', 'down', 'split', null] as const)[next(4)]!,
      resolved_ms: next(3) === 0 ? null : end_ms + next(5_000),
      tick_size: 0.01,
      min_size: 1,
      fee_rate: next(2) === 0 ? 0.07 : 0,
      taker_delay_ms: [0, 40, 250][next(3)]!,
    };
  });
  const files = new Map<Dataset, Staged>();
  const put = <D extends Dataset>(dataset: D, rows: Staged<D>['rows']): void =>
    void files.set(dataset, {
      dataset,
      asset: 'BTC',
      interval: '5m',
      date: DATE,
      name: dataset,
      sha256: '',
      rows,
      dirt: clean,
    } as Staged);
  put('markets', markets);
  put('price_change', levels(next, markets, 60 + next(200)));
  put('last_trade_price', levels(next, markets, 20 + next(60)));
  if (next(2) === 0) put('book', snapshots(next, markets, 5 + next(20)));
  put('prices', feed(next, 20 + next(40)));
  const find = (<D extends Dataset>(dataset: D, _asset: string, _interval: string | null, date: string) =>
    date === DATE ? (files.get(dataset) as Staged<D> | undefined) : undefined) as Find;
  return { find, markets };
}

/** Receive times that never fall, in bursts, with event times a little before them. */
function times(next: (below: number) => number, length: number): { recv: Float64Array; event: Float64Array } {
  let now = DAY_START + 55_000;
  const recv = Float64Array.from({ length }, () => (now += [0, 0, 1, 3, 50, 400, 900][next(7)]!));
  const event = recv.map((ms) => ms - next(40));
  return { recv, event };
}

function levels(
  next: (below: number) => number,
  markets: readonly MarketRow[],
  length: number,
): Staged<'price_change'>['rows'] {
  return {
    length,
    markets: markets.map((row) => row.market),
    ...times(next, length),
    market: Uint16Array.from({ length }, () => next(markets.length)),
    outcome: Uint8Array.from({ length }, () => next(2)),
    side: Uint8Array.from({ length }, () => next(2)),
    price: Uint16Array.from({ length }, () => PRICES[next(PRICES.length)]!),
    size: Float64Array.from({ length }, () => next(6) * 50_000),
  };
}

function snapshots(
  next: (below: number) => number,
  markets: readonly MarketRow[],
  length: number,
): Staged<'book'>['rows'] {
  const start = [0];
  const asks: number[] = [];
  const price: number[] = [];
  const size: number[] = [];
  for (let row = 0; row < length; row++) {
    const middle = 1 + next(PRICES.length - 1);
    for (let at = middle - 1; at >= 0; at--) if (next(3) > 0) price.push(PRICES[at]!);
    asks.push(price.length);
    for (let at = middle; at < PRICES.length; at++) if (next(3) > 0) price.push(PRICES[at]!);
    start.push(price.length);
  }
  for (let at = 0; at < price.length; at++) size.push((1 + next(6)) * 50_000);
  return {
    length,
    markets: markets.map((row) => row.market),
    ...times(next, length),
    market: Uint16Array.from({ length }, () => next(markets.length)),
    outcome: Uint8Array.from({ length }, () => next(2)),
    start: Uint32Array.from(start),
    asks: Uint32Array.from(asks),
    levelPrice: Uint16Array.from(price),
    levelSize: Float64Array.from(size),
  };
}

function feed(next: (below: number) => number, length: number): Staged<'prices'>['rows'] {
  return { length, ...times(next, length), value: Float64Array.from({ length }, () => 60_000 + next(500)) };
}
