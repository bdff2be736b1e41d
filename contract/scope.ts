import { z } from 'zod';
import { day, venue } from './datasets.ts';

/** What to run over: a venue, assets and days by from/to, by the newest `days`, or by a preset range. */
export const scope = z.strictObject({
  venue: venue.default('venue_a'),
  assets: z
    .array(z.string().regex(/^[A-Z0-9]{1,16}$/, 'expected base symbols such as BTC'))
    .min(1)
    .optional(),
  from: day.optional().describe('first day; with `to`, and instead of `days` and `range`'),
  to: day.optional(),
  days: z.number().int().min(1, 'expected at least 1').optional().describe('the newest days'),
  range: z.enum(['7 days', '30 days']).optional().describe('the newest days, as a preset'),
  sweep_cells: z.number().int().min(1).optional(),
});
export type Scope = z.infer<typeof scope>;

/** One asset, one interval, one UTC day: the unit of price and, in market mode, of work. */
export interface MarketDay {
  readonly asset: string;
  readonly interval: string;
  readonly date: string;
}
