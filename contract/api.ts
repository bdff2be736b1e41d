import { z } from 'zod';
import { dataset, day, venue } from './datasets.ts';
import { language, manifest, mode, modes } from './manifest.ts';
import { failure } from './outcome.ts';
import { pack } from './packs.ts';
import { pricedQuote } from './quote.ts';
import { scope } from './scope.ts';
import { checked, sourceFile } from './source.ts';
import { runProgress, runReport, runStatus } from './state.ts';

// Requests and answers of the service, endpoint by endpoint. Answers may gain fields; requests are refused for unknown
// ones. A refusal of a submission is a `rejection` of rejection.ts.

const count = z.number().int().min(0);
const ms = z.number().int().describe('ms since 1970');
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

export const errorAnswer = z.object({ error: z.string() });
export const unauthorizedAnswer = z.object({
  error: z.enum(['missing API key', 'invalid or expired API key']),
});

/** GET /v1/health */
export const healthAnswer = z.object({ ok: z.literal(true) }).describe('the database answers');

/** GET /v1/backtest/contract */
export const contractAnswer = z
  .object({
    contract: z.literal(1),
    languages: z.array(language),
    modes: z.array(mode),
    hooks: z.array(
      z.object({
        python: z.string(),
        node: z.string(),
        event: z.string().nullable().describe('what it is called with after ctx'),
        needs: z.array(z.string()).describe('one of these datasets must be declared'),
      }),
    ),
    venues: z.record(venue, z.object({ intervals: z.array(z.string()), datasets: z.array(dataset) })),
    kline_intervals: z.array(z.string()),
    limits: z.record(z.string(), z.number()).describe('the unit stands last in each name'),
    manifest: z.record(z.string(), z.unknown()).describe('JSON Schema of manifest.json'),
    rejections: z.array(z.string()).describe('codes of what is refused before it runs'),
    failures: z.record(z.string(), z.string()).describe('codes of what may become of a strategy that runs'),
    reasons: z.array(z.string()).describe('why an order ended as it did'),
  })
  .describe('the contract between strategies and the service');
export type ContractAnswer = z.infer<typeof contractAnswer>;

/** GET /v1/backtest/packs */
export const packsAnswer = z
  .object({
    packs: z.array(pack),
    venues: z.record(venue, z.object({ assets: z.array(z.string()), intervals: z.array(z.string()) })),
    limits: z.object({
      scope_days: count,
      sweep_cells: count,
      market_day_cpu_ms: count,
      memory_bytes: count,
    }),
  })
  .describe('packs, what they cost, and what may be run');
export type PacksAnswer = z.infer<typeof packsAnswer>;

/** GET /v1/backtest/capacity */
export const capacityQuery = z.object({ venue: venue.optional() });
export const capacityAnswer = z
  .object({
    venues: z.partialRecord(
      venue,
      z.object({ firstDay: day.nullable(), lastDay: day.nullable(), days: count }),
    ),
    queued_runs: count,
    running_runs: count,
    queued_tasks: count,
    workers: count,
    slots: count,
  })
  .describe('the days of the archive, and what waits and works');
export type CapacityAnswer = z.infer<typeof capacityAnswer>;

/** POST /v1/backtest/quote */
export const quoteRequest = scope.extend({
  mode: mode.default(modes[0]),
  intervals: z.array(z.string().max(16)).min(1).max(8).default(['5m']),
  language: language.optional(),
});
export type QuoteRequest = z.input<typeof quoteRequest>;
export const quoteAnswer = z.object({ ok: z.literal(true), quote: pricedQuote }).describe('the price');
export type QuoteAnswer = z.infer<typeof quoteAnswer>;

/** POST /v1/backtest/submit, and /check: what passes there passes here. */
export const submitRequest = scope.extend({
  files: z.array(sourceFile),
  uploads: z.record(z.string(), z.string()).default({}).describe('key of the upload of each series file'),
  email: z.email().max(254).optional(),
  locale: z.enum(['en', 'zh']).default('en'),
});
export type SubmitRequest = z.input<typeof submitRequest>;

export const checkAnswer = z
  .object({
    ok: z.literal(true),
    manifest,
    hooks: checked.shape.hooks,
    files: checked.shape.files,
    total_bytes: count,
    imports: checked.shape.imports,
    quote: pricedQuote,
  })
  .describe('what was understood, and the price');
export type CheckAnswer = z.infer<typeof checkAnswer>;

/** Header of /submit: a second submit with the same key is answered as the first was, and is no second run. */
export const submitHeaders = z.object({
  'idempotency-key': z
    .string()
    .regex(/^[\x21-\x7e]{1,128}$/, 'expected 1 to 128 visible ASCII characters')
    .optional()
    .describe('names the submission: sent again, it is answered as it was first, and is no second run'),
});
export const submitAnswer = z
  .object({
    ok: z.literal(true),
    run_id: z.string(),
    status: z.literal('queued'),
    credits_held: count,
    quote: pricedQuote,
    source_sha256: sha256,
  })
  .describe('the run is queued');
export type SubmitAnswer = z.infer<typeof submitAnswer>;
/** Its 402. */
export const insufficientAnswer = z.object({
  error: z.string(),
  balance: count,
  required: count,
  quote: pricedQuote,
});
export type InsufficientAnswer = z.infer<typeof insufficientAnswer>;

/** POST /v1/backtest/upload */
export const uploadRequest = z.object({
  bytes: z.number().int().min(1).describe('of the file; at most `series_bytes` of the contract endpoint'),
});
export type UploadRequest = z.infer<typeof uploadRequest>;
export const uploadAnswer = z
  .object({
    url: z.string().describe('for one PUT of exactly `bytes` bytes'),
    key: z.string().describe('what `uploads` of a submission calls it'),
    bytes: count,
    expires_in: count.describe('seconds'),
    headers: z.record(z.string(), z.string()).describe('to be sent with the PUT'),
  })
  .describe('the link, and the key to name the upload by');
export type UploadAnswer = z.infer<typeof uploadAnswer>;

/** GET /v1/backtest/run/{id} */
export const run = z
  .object({
    run_id: z.string(),
    status: runStatus.describe('done and failed are final; until then ask again every few seconds'),
    language,
    mode,
    venue,
    assets: z.array(z.string()),
    from: day,
    to: day,
    market_days: count,
    credits_held: count,
    credits_spent: count.nullable(),
    rejection: z
      .union([failure, z.object({ code: z.string(), detail: z.string() })])
      .nullable()
      .describe('why a failed run made no report'),
    report: runReport.nullable(),
    progress: runProgress.nullable(),
    queue_position: count.nullable().describe('1 is next; null once the run has begun'),
    archive_available: z.boolean(),
    archive_bytes: count.nullable(),
    source_sha256: sha256.nullable(),
    created_ms: ms,
    started_ms: ms.nullable(),
    finished_ms: ms.nullable(),
  })
  .describe('the run');
export type Run = z.infer<typeof run>;

/** GET /v1/backtest/runs, the newest first */
export const runsQuery = z.object({ limit: z.coerce.number().int().min(1).default(25) });
export const runsAnswer = z.object({ runs: z.array(run) }).describe('the runs, the newest first');
export type RunsAnswer = z.infer<typeof runsAnswer>;

/** GET /v1/backtest/run/{id}/archive */
export const archiveQuery = z.object({ as: z.enum(['json']).optional() });
export const archiveAnswer = z.object({ url: z.string(), expires_in: count.describe('seconds') });
export type ArchiveAnswer = z.infer<typeof archiveAnswer>;
