import { z } from 'zod';

/** What became of a strategy. Only `completed` makes a report; every other one names its code, the reader's sentence and the place. */
export const failures = {
  strategy_error: 'E_STRATEGY',
  timed_out: 'E_TIMEOUT',
  out_of_memory: 'E_MEMORY',
  output_limit: 'E_OUTPUT',
  order_limit: 'E_ORDERS',
  protocol_violation: 'E_PROTOCOL',
  early_exit: 'E_EXIT',
} as const;
export type FailureKind = keyof typeof failures;

export const place = z.object({
  hook: z.string().nullable(),
  market: z.string().nullable(),
  /** Replay time in ms. */
  ts_ms: z.number().nullable(),
});
export type Place = z.infer<typeof place>;

export const failure = z.object({
  kind: z.enum(Object.keys(failures) as [FailureKind, ...FailureKind[]]),
  code: z.string(),
  /** One sentence for the author of the strategy, without host paths. */
  detail: z.string(),
  place,
  /** The strategy's own frames, or an empty text. */
  traceback: z.string(),
  last_logs: z.array(z.string()),
});
export type Failure = z.infer<typeof failure>;
