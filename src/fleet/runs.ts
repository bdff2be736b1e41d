import type { Run } from '../../contract/index.ts';
import type { Row, Sql } from '../database/database.ts';

/** The load of the fleet, for whoever wants to know how long a run may wait. */
export interface Load {
  readonly queued_runs: number;
  readonly running_runs: number;
  readonly queued_tasks: number;
  /** Workers that were heard of within the last half minute, and how many tasks they take at once. */
  readonly workers: number;
  readonly slots: number;
}

// A shard counts for the market-days that it replays: all of a cell's in a session, else one.
const VIEW = `
  select run.*, now_ms() as now, p.shards, p.done, p.ticks, p.assembling,
    case when run.status = 'queued' then (select position from waiting where id = run.id) end as queue_position
  from asked as run, lateral (
    select count(*) filter (where kind = 'shard') as shards,
      sum(case when kind = 'shard' and status <> 'dropped' then share else 0 end) as done,
      sum(ticks) as ticks, bool_or(kind = 'assembly') as assembling
    from task where task.run = run.id
  ) as p`;

// Customers take turns, so what waits before a run is whatever stands earlier among its own customer's or others' runs.
const WAITING = `
  with waiting as materialized (
    select id, row_number() over (order by turn, created_ms, id) as position from (
      select id, created_ms, row_number() over (partition by customer order by created_ms, id) as turn
      from run where status = 'queued'
    ) as queued
  )`;

/** A customer's run; null where the customer has no such run. */
export async function readRun(sql: Sql, customer: string, id: string): Promise<Run | null> {
  const [row] = await sql.query<RunRow>(
    `${WAITING}, asked as (select * from run where customer = $1 and id = $2) ${VIEW}`,
    [customer, id],
  );
  return row ? view(row) : null;
}

/** The newest runs of a customer, newest first. */
export async function listRuns(sql: Sql, customer: string, limit: number): Promise<Run[]> {
  const rows = await sql.query<RunRow>(
    `${WAITING}, asked as (select * from run where customer = $1 order by created_ms desc, id limit $2)
     ${VIEW} order by run.created_ms desc, run.id`,
    [customer, limit],
  );
  return rows.map(view);
}

/** Where the archive of a customer's run lies; null as long as there is none, undefined where there is no such run. */
export async function archiveOf(
  sql: Sql,
  customer: string,
  id: string,
): Promise<{ readonly object: string; readonly sha256: string; readonly bytes: number } | null | undefined> {
  const [row] = await sql.query<RunRow>('select * from run where customer = $1 and id = $2', [customer, id]);
  if (!row) return undefined;
  if (row.archive === null) return null;
  return { object: row.archive, sha256: row.archive_sha256!, bytes: row.archive_bytes! };
}

/** The load right now. Counts what waits: some 60 ms where a million tasks do. */
export async function load(sql: Sql): Promise<Load> {
  const [row] = await sql.query<Load & Row>(
    `select
       (select count(*) from run where status = 'queued') as queued_runs,
       (select count(*) from run where status in ('staging', 'running')) as running_runs,
       (select count(*) from task where status = 'queued') as queued_tasks,
       (select count(*) from worker where seen_ms > now_ms() - 30000) as workers,
       (select coalesce(sum(slots), 0) from worker where seen_ms > now_ms() - 30000) as slots`,
  );
  return row!;
}

interface RunRow extends Row {
  readonly id: string;
  readonly status: Run['status'];
  readonly language: Run['language'];
  readonly mode: Run['mode'];
  readonly venue: Run['venue'];
  readonly assets: string[];
  readonly from_day: string;
  readonly to_day: string;
  readonly market_days: number;
  readonly cells: number;
  readonly credits_held: number;
  readonly credits_spent: number | null;
  readonly source_sha256: string;
  readonly rejection: Run['rejection'];
  readonly report: Run['report'];
  readonly archive: string | null;
  readonly archive_bytes: number | null;
  readonly archive_sha256: string | null;
  readonly created_ms: number;
  readonly started_ms: number | null;
  readonly finished_ms: number | null;
  readonly now: number;
  readonly shards: number;
  readonly done: number;
  readonly ticks: number;
  readonly assembling: boolean;
  readonly queue_position: number | null;
}

function view(row: RunRow): Run {
  return {
    run_id: row.id,
    status: row.status,
    language: row.language,
    mode: row.mode,
    venue: row.venue,
    assets: row.assets,
    from: row.from_day,
    to: row.to_day,
    market_days: row.market_days,
    credits_held: row.credits_held,
    credits_spent: row.credits_spent,
    rejection: row.rejection,
    report: row.report,
    progress: progressOf(row),
    queue_position: row.queue_position,
    archive_available: row.archive !== null,
    archive_bytes: row.archive_bytes,
    source_sha256: row.source_sha256,
    created_ms: row.created_ms,
    started_ms: row.started_ms,
    finished_ms: row.finished_ms,
  };
}

/** Null for a run that nobody has begun. */
function progressOf(row: RunRow): Run['progress'] {
  if (row.started_ms === null) return null;
  const total = row.market_days * row.cells;
  const done = (row.done / row.shards) * total;
  const elapsed = Math.max(1, (row.finished_ms ?? row.now) - row.started_ms);
  const over = row.finished_ms !== null;
  return {
    phase: over || row.assembling ? 'report' : row.status === 'staging' ? 'stage' : 'replay',
    done,
    total,
    ticks: row.ticks,
    ticks_per_s: (row.ticks * 1000) / elapsed,
    eta_ms: over ? 0 : done > 0 ? Math.round((elapsed * (total - done)) / done) : null,
  };
}
