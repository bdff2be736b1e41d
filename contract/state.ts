import { z } from 'zod';
import { failure } from './outcome.ts';

// What the service tells of a run: its status, how far it is, what came of it.

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** What is known of a run's archive, in its `report` field. A sweep has an entry for every cell. */
export const runReport = z.object({
  archive_sha256: sha256.describe('of the archive as it is downloaded'),
  cells: z.array(
    z.object({
      cell: z.number().int(),
      params: z.record(z.string(), z.unknown()),
      /** Of all files but provenance.json; null: the cell made no report. */
      result_digest: sha256.nullable(),
      /** Replayed, and so paid for: without those that the archive turned out not to hold; 0 without a report. */
      market_days: z.number().int(),
      net: z.number().nullable().describe('dollars'),
      fills: z.number().int().nullable(),
      markets: z.number().int().nullable(),
      failure: failure.nullable(),
    }),
  ),
});
export type RunReport = z.infer<typeof runReport>;

/** How far a run is. `done` and `total` are market-days times cells; a worker writes at most once a second. */
export const runProgress = z.object({
  phase: z.enum(['stage', 'replay', 'report']),
  done: z.number(),
  total: z.number().int(),
  ticks: z.number().int(),
  ticks_per_s: z.number(),
  eta_ms: z.number().nullable(),
});
export type RunProgress = z.infer<typeof runProgress>;

export const runStatuses = ['queued', 'staging', 'running', 'done', 'failed'] as const;
export const runStatus = z.enum(runStatuses);
export type RunStatus = z.infer<typeof runStatus>;
