import { z } from 'zod';
import { venue } from './datasets.ts';
import { mode } from './manifest.ts';

export const quote = z.object({
  venue,
  assets: z.array(z.string()),
  from: z.string(),
  to: z.string(),
  requestedFrom: z.string(),
  requestedTo: z.string(),
  requestedDays: z.number().int(),
  archivedDayCount: z.number().int(),
  /** Requested days of which the archive has nothing that the scope names. */
  missingDays: z.number().int(),
  /** Market-days of the scope that the archive lacks, as `BTC 5m 2026-04-16`. Never charged. */
  missing: z.array(z.string()),
  marketDays: z.number().int(),
  mode,
  sweepCells: z.number().int(),
  /** What the run holds: market-days times cells. */
  credits: z.number().int(),
});
export type Quote = z.infer<typeof quote>;

/** A quote as the service gives it. Reports hold the quote alone: what a credit costs is no part of a result. */
export const pricedQuote = quote.extend({
  approxUsd: z.number(),
  /** By currency, in major units. */
  approx: z.record(z.string(), z.number()),
});
export type PricedQuote = z.infer<typeof pricedQuote>;
