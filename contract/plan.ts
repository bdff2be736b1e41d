import { z } from 'zod';
import { failure } from './outcome.ts';
import { quote } from './quote.ts';
import { checked, sourceFile } from './source.ts';

const marketDay = z.object({ asset: z.string(), interval: z.string(), date: z.string() });
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/**
 * A submission as it was understood when it was accepted: all that a worker needs, so that nobody checks or resolves a
 * second time. Stored as one object.
 */
export const plan = z.object({
  format: z.literal(1),
  checked,
  manifest_text: z.string(),
  /** Source as the box gets it: without the manifest, types taken out. */
  files: z.array(sourceFile),
  /** Uploaded series: the file's name in the manifest, and the object that holds it. */
  series: z.array(z.object({ file: z.string(), object: z.string(), sha256 })),
  quote,
  market_days: z.array(marketDay),
});
export type Plan = z.infer<typeof plan>;

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
