/**
 * Every bound of the product, in one place. Passed as one parameter, so that a test can run with a tenth of them.
 * The unit stands last in each name; a name without one is a count.
 */
export interface Limits {
  /** Source: how many files, how large together, how long a file name may be. */
  readonly files: number;
  readonly source_bytes: number;
  readonly file_name_bytes: number;
  readonly series: number;
  readonly series_bytes: number;
  readonly params: number;
  readonly sweep_params: number;
  readonly sweep_cells: number;
  readonly context_feeds: number;
  readonly scope_days: number;
  readonly warmup_ms: number;
  readonly capital_usd: number;

  /** The box. */
  readonly memory_bytes: number;
  readonly cpus: number;
  readonly pids: number;
  readonly work_bytes: number;
  readonly work_inodes: number;
  readonly open_files: number;
  readonly start_ms: number;
  readonly hook_cpu_ms: number;
  readonly hook_wall_ms: number;
  readonly market_day_cpu_ms: number;

  /** What a unit of work may write. */
  readonly log_bytes: number;
  readonly log_line_bytes: number;
  readonly diagnostics_bytes: number;
  readonly error_bytes: number;
  readonly forecasts: number;
  readonly open_orders_per_market: number;
  readonly orders: number;
  readonly tag_bytes: number;

  /** The wire: frames out of the box, frames into it, and how far the tick stream may run ahead of the strategy. */
  readonly frame_bytes: number;
  readonly frame_rows: number;
  readonly prefetch_bytes: number;
  readonly prefetch_ms: number;

  /** A book is known this long after its last row, and then to nobody until the next. */
  readonly gap_ms: number;
  /** How long shrinkage of a level waits for the print that explains it. */
  readonly bank_ms: number;
  /** A level forgets what was taken from it once it has been empty for this long. */
  readonly refill_ms: number;
}

const KiB = 1024;
const MiB = 1024 * KiB;

export const LIMITS: Limits = Object.freeze({
  files: 16,
  source_bytes: 512 * KiB,
  file_name_bytes: 96,
  series: 4,
  series_bytes: 16 * MiB,
  params: 64,
  sweep_params: 4,
  sweep_cells: 256,
  context_feeds: 8,
  scope_days: 92,
  warmup_ms: 86_400_000,
  capital_usd: 1_000_000_000,

  memory_bytes: 2048 * MiB,
  cpus: 1,
  pids: 64,
  work_bytes: 64 * MiB,
  work_inodes: 1024,
  open_files: 256,
  start_ms: 30_000,
  hook_cpu_ms: 5_000,
  hook_wall_ms: 30_000,
  market_day_cpu_ms: 300_000,

  log_bytes: 2 * MiB,
  log_line_bytes: 4 * KiB,
  diagnostics_bytes: 64 * KiB,
  error_bytes: 8 * KiB,
  forecasts: 1_000_000,
  open_orders_per_market: 200,
  orders: 1_000_000,
  tag_bytes: 64,

  frame_bytes: 256 * KiB,
  frame_rows: 4096,
  prefetch_bytes: 4 * MiB,
  prefetch_ms: 30_000,

  gap_ms: 10_000,
  bank_ms: 800,
  refill_ms: 1_000,
});

/** The fleet's bounds: how workers share runs. */
export interface FleetLimits {
  /** Shards that a run may have. */
  readonly shards: number;
  /** A claim that is not renewed for this long is another worker's to take. */
  readonly lease_ms: number;
  /** How often a worker says how far it is; the lease is renewed at least three times as often as it ends. */
  readonly progress_ms: number;
  readonly sweep_ms: number;
  /** A task that was rung for and not taken is rung for again. */
  readonly ring_again_ms: number;
  /** A task that met this many faults of ours fails its run. */
  readonly faults: number;
  /** Wait after the first fault; four times as long after each further one, so that an outage of a minute fails no run. */
  readonly backoff_ms: number;
  /** A run that is not finished by then, and that nobody works at, is given up. */
  readonly run_ms: number;
  /** How long a worker that was told to stop may finish what it has. */
  readonly grace_ms: number;
  /** How long uploads and shard results that nobody needs any more are kept. */
  readonly leftovers_ms: number;
  readonly upload_s: number;
  readonly download_s: number;
}

export const FLEET_LIMITS: FleetLimits = Object.freeze({
  shards: 20_000,
  lease_ms: 30_000,
  progress_ms: 1_000,
  sweep_ms: 5_000,
  ring_again_ms: 60_000,
  faults: 5,
  backoff_ms: 1_000,
  run_ms: 86_400_000,
  grace_ms: 30_000,
  leftovers_ms: 86_400_000,
  upload_s: 300,
  download_s: 900,
});
