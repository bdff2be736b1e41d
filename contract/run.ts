import { z } from 'zod';
import { failure } from './outcome.ts';
import { report } from './report.ts';

/** What `backtest run --json` prints: one object. `rejection` is set when nothing ran, or when no report came out. */
export const runResult = z.object({
  outcome: z.enum(['completed', 'rejected', 'failed', 'fault']),
  report: report.nullable(),
  /** Path of the zip. */
  archive: z.string().nullable(),
  ticks: z.number().int(),
  wall_ms: z.number(),
  replay_ms: z.number(),
  stage_ms: z.number(),
  rejection: z.union([failure, z.object({ code: z.string(), detail: z.string() })]).nullable(),
});
export type RunResult = z.infer<typeof runResult>;
