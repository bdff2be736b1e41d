import { z } from 'zod';
import type { Outcome } from './datasets.ts';
import { manifest, paramValue } from './manifest.ts';
import { quote } from './quote.ts';
import type { Reason, Tif } from './wire.ts';

/**
 * Rows as the exchange writes them. Integers: a price is a count of 1e-4 dollars in the terms of the row's outcome, a
 * size a count of 1e-4 shares, money a count of 1e-6 dollars; times are ms of the venue's clock.
 */
export interface OrderRow {
  readonly order_id: string;
  readonly submitted_ms: number;
  readonly arrived_ms: number;
  /** Null while it rests at the end of the data. */
  readonly done_ms: number | null;
  readonly market: string;
  readonly outcome: Outcome;
  readonly side: 'buy' | 'sell';
  /** Null for a market order. */
  readonly limit: number | null;
  readonly size: number;
  readonly filled: number;
  readonly tif: Tif;
  readonly status: 'filled' | 'cancelled' | 'expired' | 'rejected' | 'open';
  readonly reason: Reason;
  readonly tag: string;
}

export interface FillRow {
  readonly ts_ms: number;
  readonly market: string;
  readonly outcome: Outcome;
  readonly side: 'buy' | 'sell' | 'settle';
  readonly price: number;
  readonly size: number;
  readonly fee: number;
  readonly liquidity: 'taker' | 'maker' | 'none';
  /** Empty for a settlement. */
  readonly order_id: string;
  readonly tag: string;
}

/** A portfolio as it stood: `portfolio` numbers them (market mode: one a market; session mode: always 0). */
export interface MarkRow {
  readonly ts_ms: number;
  readonly portfolio: number;
  /** All cash, and what of it open orders hold. */
  readonly cash: number;
  readonly locked: number;
  /** Positions at the price at which they could be sold: the best bid of their outcome. */
  readonly position_value: number;
}

export interface MarketResult {
  readonly market: string;
  readonly asset: string;
  readonly interval: string;
  readonly date: string;
  readonly start_ms: number;
  readonly end_ms: number;
  /** As archived; null: unresolved. */
  readonly outcome: Outcome | 'split' | null;
  /** Tick rows the strategy was shown. */
  readonly ticks: number;
  readonly orders: number;
  readonly fills: number;
  readonly fees: number;
  /** What the market brought in, settlement included; an unresolved one at its last mark. */
  readonly pnl: number;
}

export interface LogLine {
  readonly ts_ms: number;
  /** Empty in session mode. */
  readonly market: string;
  readonly text: string;
}

/** Everything that one unit of work came to. Units are assembled in the order of the plan, never of arrival. */
export interface UnitResult {
  readonly markets: readonly MarketResult[];
  readonly orders: readonly OrderRow[];
  readonly fills: readonly FillRow[];
  readonly marks: readonly MarkRow[];
  readonly logs: readonly LogLine[];
  readonly forecasts: readonly { readonly ts_ms: number; readonly market: string; readonly p_up: number }[];
  /** Counts by name, as in the report's data_quality.exchange. */
  readonly counts: Readonly<Record<string, number>>;
}

const dollars = z.number().describe('dollars');
const count = z.number().int().min(0);

export const report = z.object({
  format: z.literal(1),
  identity: z.object({
    engine_version: z.string(),
    source_sha256: z.string().describe('over the sorted source files'),
    data_digest: z.string().describe('over name and sha256 of every archive file that was read'),
    seed: z.number(),
    manifest: manifest.describe('as understood, defaults filled in'),
    cell: z.number().int().describe('which cell of the sweep, from 0'),
    params: z.record(z.string(), paramValue),
  }),
  scope: quote,
  pnl: z.object({
    net: dollars,
    gross: dollars.describe('before fees'),
    fees: dollars,
    capital: dollars,
    per_share: z
      .number()
      .nullable()
      .describe('net dollars for each share bought or sold; null without fills'),
    measured: z
      .boolean()
      .describe('false: the archive holds no prints, so maker fills could not be measured'),
  }),
  equity: z.object({
    first: dollars.describe('the starting capital'),
    last: dollars,
    min: dollars.describe('the starting capital counts, here and for max'),
    max: dollars,
  }),
  drawdown: z.object({
    max: dollars.describe('the deepest fall of equity below its highest point before'),
    peak_ms: z
      .number()
      .nullable()
      .describe('null: the starting capital was the highest point, or equity never fell'),
    trough_ms: z.number().nullable().describe('null: equity never fell'),
    peak_capital: dollars.describe(
      'the most that open orders locked and positions were worth, together, at once',
    ),
  }),
  markets: z.object({
    count,
    traded: count.describe('with a fill'),
    won: count.describe('traded, resolved, pnl above 0'),
    lost: count.describe('traded, resolved, pnl below 0'),
    unresolved: count.describe('the archive has no outcome, traded or not'),
    rows: z.array(
      z.object({
        market: z.string(),
        asset: z.string(),
        interval: z.string(),
        outcome: z.enum(['up', 'down', 'split']).nullable(),
        ticks: count,
        orders: count,
        fills: count,
        fees: dollars,
        pnl: dollars,
      }),
    ),
  }),
  fills: z.object({
    count: count.describe('settlements are none'),
    maker: count,
    taker: count,
    shares: z.number(),
    notional: dollars.describe('price times size, added up'),
    maker_share: z.number().nullable().describe('of shares filled'),
  }),
  orders: z.object({
    count,
    by_status: z.record(z.string(), count),
    by_reason: z
      .record(z.string(), count)
      .describe('why orders were rejected, cancelled or expired; without a reason, not here'),
    fill_ratio: z.number().nullable().describe('shares filled of shares asked for in accepted orders'),
  }),
  forecasts: z.object({ count }),
  data_quality: z.object({
    files: z.array(z.object({ name: z.string(), sha256: z.string(), rows: count })),
    rows: z.record(z.string(), count).describe('dirt in the archive rows, by kind'),
    places: z
      .array(z.string())
      .describe('markets that could not be replayed, and the first unreadable rows of each file'),
    exchange: z
      .record(z.string(), count)
      .describe('what the replay met: gaps, crossed rows, mirrored prints, disagreements'),
    least_lag_ms: z.number().nullable().describe('least receive time minus event time seen'),
  }),
  assumptions: z.object({
    queue: z.string(),
    self_trade: z.string(),
    latency_ms: z.unknown(),
    prefetch_ms: z
      .number()
      .describe('how far ahead of the strategy rows may lie in its process; 0 in lock-step'),
    notes: z.array(z.string()),
  }),
});
export type Report = z.infer<typeof report>;
