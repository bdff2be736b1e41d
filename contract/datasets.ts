import { z } from 'zod';

export const venues = ['venue_a', 'venue_b'] as const;
export const venue = z.enum(venues);
export type Venue = z.infer<typeof venue>;

export const datasets = [
  'prices',
  'twap30s',
  'twap60s',
  'book',
  'orderbook',
  'best_bid_ask',
  'price_change',
  'last_trade_price',
  'tick_size_change',
  'markets',
  'klines',
] as const;
export const dataset = z.enum(datasets);
export type Dataset = z.infer<typeof dataset>;

/** Price streams of an asset, one value a row; they have no interval. */
export const feeds = ['prices', 'twap30s', 'twap60s'] as const;
export type Feed = (typeof feeds)[number];

/** Datasets that change a market's depth. Declaring one is what makes `ctx.book` known. */
export const depths = ['book', 'orderbook', 'price_change'] as const;

/** Datasets whose rows belong to one market. */
export const marketDatasets = [...depths, 'best_bid_ask', 'last_trade_price', 'tick_size_change'] as const;

export const datasetsOf: Record<Venue, readonly Dataset[]> = {
  venue_a: datasets.filter((name) => name !== 'orderbook'),
  venue_b: datasets.filter((name) => name !== 'book' && name !== 'price_change'),
};

/** How long a market of each interval lives. Klines know the same names and a few more. */
export const marketIntervals: Record<Venue, readonly string[]> = {
  venue_a: ['5m', '15m'],
  venue_b: ['5m', '15m', '1h', '1d'],
};

const MINUTE_MS = 60_000;
export const klineIntervalMs: Readonly<Record<string, number>> = {
  '1m': MINUTE_MS,
  '3m': 3 * MINUTE_MS,
  '5m': 5 * MINUTE_MS,
  '15m': 15 * MINUTE_MS,
  '30m': 30 * MINUTE_MS,
  '1h': 60 * MINUTE_MS,
  '2h': 120 * MINUTE_MS,
  '4h': 240 * MINUTE_MS,
  '6h': 360 * MINUTE_MS,
  '8h': 480 * MINUTE_MS,
  '12h': 720 * MINUTE_MS,
  '1d': 1440 * MINUTE_MS,
};

export const DAY_MS = 1440 * MINUTE_MS;

export const outcomes = ['up', 'down'] as const;
export type Outcome = (typeof outcomes)[number];

/** What settles a market: a price feed of its asset, or the asset's candles. */
export const settlementFeeds = ['prices', 'twap30s', 'twap60s', 'klines'] as const;
export type SettlementFeed = (typeof settlementFeeds)[number];

/** A UTC day, YYYY-MM-DD. */
export const day = z
  .string()
  .refine((text) => /^\d{4}-\d\d-\d\d$/.test(text) && dayText(dayStart(text)) === text, {
    error: 'expected a UTC day, YYYY-MM-DD',
  });

/** Midnight UTC that begins a day, in ms. */
export const dayStart = (text: string): number => Date.parse(`${text}T00:00:00.000Z`);

/** The UTC day that holds a time in ms. */
export const dayText = (ms: number): string =>
  Number.isFinite(ms) ? new Date(ms).toISOString().slice(0, 10) : '';
