import { z } from 'zod';

export const transferKinds = ['grant', 'hold', 'settle', 'release'] as const;

/** One line of a customer's account. Their `change`s add up to the balance. */
export const ledgerEntry = z.object({
  id: z.string(),
  kind: z
    .enum(transferKinds)
    .describe(
      'grant: credits were bought or given; hold: a run reserved them; settle: it made a report and was charged, the rest came back; release: it made none, all came back',
    ),
  change: z.number().int().describe('what it did to the balance'),
  spent: z.number().int().describe('what was charged for good: of a settle, else 0'),
  run_id: z.string().nullable(),
  created_ms: z.number().int(),
});
export type LedgerEntry = z.infer<typeof ledgerEntry>;

export const HISTORY_ENTRIES = 25;

/** GET /v1/backtest/balance */
export const balance = z.object({
  balance: z.number().int().describe('credits that may be spent'),
  history: z.array(ledgerEntry).max(HISTORY_ENTRIES).describe('the newest first'),
});
export type Balance = z.infer<typeof balance>;
