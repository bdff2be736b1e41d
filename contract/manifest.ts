import { z } from 'zod';
import { dataset, klineIntervalMs } from './datasets.ts';
import { LIMITS } from './limits.ts';

export const languages = ['python@3.14', 'nodejs@24'] as const;
export const language = z.enum(languages);
export type Language = z.infer<typeof language>;

export const modes = ['market', 'session'] as const;
export const mode = z.enum(modes);

/** One leg of latency: a constant in ms, or a lognormal given by its median and 99th percentile in ms. */
const leg = z.union([
  z.number().min(0).max(60_000),
  z
    .strictObject({ p50: z.number().min(0.001).max(60_000), p99: z.number().min(0.001).max(60_000) })
    .refine((value) => value.p99 >= value.p50, { error: 'p99 must not be below p50' }),
]);
export type Leg = z.infer<typeof leg>;

export const execution = z.strictObject({
  /** feed delays what the strategy sees, entry and cancel what it sends, response what the venue answers. */
  latency_ms: z
    .strictObject({
      feed: z.number().int().min(0).max(60_000).default(0),
      entry: leg.default(100),
      cancel: leg.default(100),
      response: leg.default(50),
    })
    .prefault({}),
  taker_delay_ms: z.union([z.literal('venue'), z.number().int().min(0).max(60_000)]).default('venue'),
  queue: z.enum(['pessimistic']).default('pessimistic'),
  fees: z
    .union([z.literal('venue'), z.strictObject({ taker_bps: z.number().min(0).max(10_000) })])
    .default('venue'),
  self_trade: z.enum(['cancel_newest']).default('cancel_newest'),
  /** The causality audit; not offered by this version. */
  audit: z.literal(false).default(false),
});
export type Execution = z.infer<typeof execution>;

export const paramValue = z.union([z.number(), z.string().max(1024), z.boolean()]);
export type ParamValue = z.infer<typeof paramValue>;
const paramName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/, 'expected a name of letters, digits and _');

const series = z.strictObject({
  name: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/, 'expected a name of letters, digits and _'),
  file: z.string().min(1).max(LIMITS.file_name_bytes),
  /** How long after its own timestamp a row becomes known. */
  lag_ms: z.number().int().min(0).max(86_400_000).default(0),
});

const context = z.strictObject({
  asset: z.string().regex(/^[A-Z0-9]{1,16}$/, 'expected a base symbol such as BTC'),
  dataset,
  interval: z.string().optional(),
});

const klineInterval = z.enum(Object.keys(klineIntervalMs) as [string, ...string[]]);
const unique = (values: readonly unknown[]): boolean => new Set(values).size === values.length;

/** manifest.json as a user writes it. Strict: an unknown key is refused. */
export const manifest = z.strictObject({
  contract: z.literal(1),
  name: z.string().regex(/^[a-z0-9-]{1,64}$/, 'expected 1 to 64 of a-z 0-9 -'),
  language,
  entry: z.string().min(1).max(LIMITS.file_name_bytes),
  mode: mode.default('market'),
  intervals: z
    .array(z.string())
    .min(1)
    .max(8)
    .refine(unique, { error: 'an interval stands twice' })
    .default(['5m']),
  datasets: z.array(dataset).min(1).refine(unique, { error: 'a dataset stands twice' }),
  kline_intervals: z
    .array(klineInterval)
    .min(1)
    .refine(unique, { error: 'an interval stands twice' })
    .default(['1m']),
  params: z
    .record(paramName, paramValue)
    .refine((value) => Object.keys(value).length <= LIMITS.params, {
      error: `at most ${LIMITS.params} params`,
    })
    .default({}),
  sweep: z
    .record(paramName, z.array(paramValue).min(1).max(LIMITS.sweep_cells))
    .refine((value) => Object.keys(value).length <= LIMITS.sweep_params, {
      error: `at most ${LIMITS.sweep_params} swept params`,
    })
    .refine((value) => cellCount(value) <= LIMITS.sweep_cells, {
      error: `at most ${LIMITS.sweep_cells} cells`,
    })
    .default({}),
  series: z
    .array(series)
    .max(LIMITS.series)
    .refine((value) => unique(value.map((one) => one.name)), { error: 'a series name stands twice' })
    .default([]),
  capital: z.number().min(1).max(LIMITS.capital_usd).default(1000),
  execution: execution.prefault({}),
  context: z.array(context).max(LIMITS.context_feeds).default([]),
  warmup_ms: z.number().int().min(0).max(LIMITS.warmup_ms).default(0),
  seed: z.number().int().min(Number.MIN_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER).default(0),
});
export type Manifest = z.infer<typeof manifest>;

/** How many cells a sweep spans: the product of its lists, 1 where there is none. */
export function cellCount(sweep: Readonly<Record<string, readonly unknown[]>>): number {
  return Object.values(sweep).reduce((cells, values) => cells * values.length, 1);
}

/** The params of every cell, the last swept name turning fastest. */
export function cellParams(source: Pick<Manifest, 'params' | 'sweep'>): Record<string, ParamValue>[] {
  let cells: Record<string, ParamValue>[] = [{ ...source.params }];
  for (const [name, values] of Object.entries(source.sweep)) {
    cells = cells.flatMap((cell) => values.map((value) => ({ ...cell, [name]: value })));
  }
  return cells;
}
