import { describe, expect, test } from 'vitest';
import type { FeedRows, KlineRows, MarketRow } from '../../src/archive/staged.ts';
import type { Find } from '../../src/run/files.ts';
import { strikeOf } from '../../src/run/strike.ts';
import { DATE, DAY_START, MARKET_DAY } from './recording.ts';

const START = DAY_START + 300_000;

const market: MarketRow = {
  market: 'm',
  start_ms: START,
  end_ms: START + 300_000,
  settlement_feed: 'prices',
  tie: 'up',
  strike: null,
  final: null,
  outcome: 'up',
  resolved_ms: null,
  tick_size: 0.01,
  min_size: 5,
  fee_rate: 0,
  taker_delay_ms: 0,
};

/** Rows of a price feed: [own time, received, value]. */
function feed(rows: readonly (readonly [number, number, number])[]): FeedRows {
  return {
    length: rows.length,
    event: Float64Array.from(rows, ([event]) => event),
    recv: Float64Array.from(rows, ([, recv]) => recv),
    value: Float64Array.from(rows, ([, , value]) => value),
  };
}

const holding = (dataset: string, rows: unknown): Find =>
  ((wanted: string, _asset: string, _interval: string | null, date: string) =>
    wanted === dataset && date === DATE ? { rows } : undefined) as Find;

const prices = holding(
  'prices',
  feed([
    [START - 1_000, START + 400, 99],
    [START, START + 1_400, 100],
    [START + 1_000, START + 2_400, 101],
  ]),
);

describe('a market learns its strike', () => {
  test("when the settlement feed's row of its start has been received", () => {
    expect(strikeOf(prices, market, MARKET_DAY, 0)).toEqual({ at_ms: START + 1_400, value: 100 });
  });

  test('later by the latency of the feed', () => {
    expect(strikeOf(prices, market, MARKET_DAY, 20)!.at_ms).toBe(START + 1_420);
  });

  test('as it was recorded, where it was', () => {
    expect(strikeOf(prices, { ...market, strike: 100.5 }, MARKET_DAY, 0)!.value).toBe(100.5);
  });

  test('with the first row after a gap in the feed', () => {
    const late = holding('prices', feed([[START + 90_000, START + 91_400, 103]]));
    expect(strikeOf(late, market, MARKET_DAY, 0)).toEqual({ at_ms: START + 91_400, value: 103 });
  });

  test('never, where that row came after its end or the archive has no such feed', () => {
    const after = holding('prices', feed([[START + 299_000, START + 300_001, 103]]));
    expect(strikeOf(after, market, MARKET_DAY, 0)).toBeNull();
    expect(strikeOf(holding('twap30s', feed([])), market, MARKET_DAY, 0)).toBeNull();
  });

  test('at the close of the candle that opens at its start, where candles settle it', () => {
    const column = (...values: number[]): Float64Array => Float64Array.from(values);
    const rows: KlineRows = {
      length: 2,
      open_ms: column(START - 60_000, START),
      open: column(98, 100),
      high: column(101, 104),
      low: column(97, 99),
      close: column(100, 103),
      volume: column(1, 1),
    };
    const settled = { ...market, settlement_feed: 'klines' };
    expect(strikeOf(holding('klines', rows), settled, MARKET_DAY, 0)).toEqual({
      at_ms: START + 60_000,
      value: 100,
    });
  });
});
