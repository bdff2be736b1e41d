import type { Venue } from '../../contract/index.ts';
import type { Fee } from './fee.ts';
import { DOLLAR, MICRO, SHARE } from './units.ts';

/** What a venue demands of an order in one market on one day. Units as everywhere in the exchange. */
export interface Rules {
  readonly tick: number;
  /** Least size of an order that may rest. */
  readonly min_size: number;
  /** Least notional of an order that may not rest. */
  readonly min_notional: number;
  readonly fee: Fee;
  readonly taker_delay_ms: number;
  /** Whether an order may be cancelled while it is held. */
  readonly delay_cancellable: boolean;
  /** Names of the rules that neither the market nor the table knew; the nearest known one was taken. */
  readonly unknown: readonly string[];
}

/** A venue's habit from a day on. Sources: the venues' published fee and order documentation as of that day. */
interface DatedRule {
  readonly from: string;
  readonly fee_rate: number;
  readonly taken_in: Fee['taken_in'];
  readonly taker_delay_ms: number;
  readonly delay_cancellable: boolean;
}

const table: Record<Venue, { readonly curve: Fee['curve']; readonly dated: readonly DatedRule[] }> = {
  venue_a: {
    curve: 'quadratic',
    dated: [
      {
        from: '2026-03-30',
        fee_rate: 0.072,
        taken_in: 'shares',
        taker_delay_ms: 250,
        delay_cancellable: true,
      },
      { from: '2026-04-28', fee_rate: 0.072, taken_in: 'cash', taker_delay_ms: 250, delay_cancellable: true },
      { from: '2026-06-01', fee_rate: 0.07, taken_in: 'cash', taker_delay_ms: 250, delay_cancellable: true },
      { from: '2026-06-05', fee_rate: 0.07, taken_in: 'cash', taker_delay_ms: 250, delay_cancellable: false },
    ],
  },
  venue_b: {
    curve: 'linear',
    // No dated fee schedule of this venue is known: a market's own rate is used, else this one, and said to be unknown.
    dated: [
      { from: '9999-12-31', fee_rate: 0.07, taken_in: 'shares', taker_delay_ms: 0, delay_cancellable: true },
    ],
  },
};

/** What a market's own row says; null where it is silent. Dollars, shares and a plain rate. */
export interface OwnRules {
  readonly tick_size: number | null;
  readonly min_size: number | null;
  readonly fee_rate: number | null;
  readonly taker_delay_ms: number | null;
}

/** Overrides by the strategy's manifest. */
export interface RuleOverrides {
  readonly taker_delay_ms: 'venue' | number;
  readonly fees: 'venue' | { readonly taker_bps: number };
}

/** The rules of one market: the manifest's override wins over the market's own row, which wins over the dated table. */
export function rulesOf(venue: Venue, date: string, own: OwnRules, overrides: RuleOverrides): Rules {
  const { curve, dated } = table[venue];
  const known = dated.findLast((rule) => rule.from <= date);
  const rule = known ?? dated[0]!;
  const unknown: string[] = [];
  if (overrides.fees === 'venue' && own.fee_rate === null && !known) unknown.push('fee_rate');
  if (overrides.taker_delay_ms === 'venue' && own.taker_delay_ms === null && !known)
    unknown.push('taker_delay');
  if (own.tick_size === null) unknown.push('tick_size');

  return {
    tick: Math.round((own.tick_size ?? 0.01) * DOLLAR),
    min_size: Math.round((own.min_size ?? 5) * SHARE),
    min_notional: MICRO,
    fee:
      overrides.fees === 'venue'
        ? { curve, rate: Math.round((own.fee_rate ?? rule.fee_rate) * 1e6), taken_in: rule.taken_in }
        : { curve: 'notional', rate: Math.round(overrides.fees.taker_bps * 100), taken_in: 'cash' },
    taker_delay_ms:
      overrides.taker_delay_ms === 'venue'
        ? (own.taker_delay_ms ?? rule.taker_delay_ms)
        : overrides.taker_delay_ms,
    delay_cancellable: rule.delay_cancellable,
    unknown,
  };
}
