import type { Database, Sql } from '../database/database.ts';

/** A task that this worker has, as long as it renews the lease. Whoever has a smaller fence of it has it no more. */
export interface Claim {
  readonly run: string;
  readonly number: number;
  readonly kind: 'shard' | 'assembly';
  readonly fence: number;
}

/** How far a task is: `share` of 1, and tick rows shown so far. */
export interface TaskProgress {
  readonly phase: 'stage' | 'replay' | 'report';
  readonly share: number;
  readonly ticks: number;
}

/** Takes the task whose turn it is; null when none waits. */
export async function claim(db: Database, worker: string, lease_ms: number): Promise<Claim | null> {
  // A transaction, since that is tried again after a deadlock.
  const [task] = await db.transaction((sql) =>
    sql.query<Claim & { [column: string]: unknown }>(
      'select run, number, kind, fence from claim_task($1, $2)',
      [worker, lease_ms],
    ),
  );
  return task ?? null;
}

/** Keeps the claim for another `lease_ms` and tells how far it is. False: it is lost, and the work is for nothing. */
export async function renew(
  db: Database,
  { run, number, fence }: Claim,
  { phase, share, ticks }: TaskProgress,
  lease_ms: number,
): Promise<boolean> {
  const renewed = await db.query(
    `with kept as (
       update task set lease_ms = now_ms() + $4::bigint, share = $5, ticks = $6
       where run = $1 and number = $2 and fence = $3 and status = 'claimed' returning run),
     begun as (
       update run set status = 'running' where id in (select run from kept) and status = 'staging' and $7)
     select run from kept`,
    [run, number, fence, lease_ms, share, ticks, phase !== 'stage'],
  );
  return renewed.length > 0;
}

/** Gives a claim back unfinished, through no fault of anybody: a worker that stops does so. */
export async function handBack(db: Database, { run, number, fence }: Claim): Promise<void> {
  await db.query(
    `update task set status = 'queued', worker = null, lease_ms = null, rung_ms = null, share = 0, ticks = 0
     where run = $1 and number = $2 and fence = $3 and status = 'claimed'`,
    [run, number, fence],
  );
}

/** Ends a claim as `status`. False when the claim was lost: nothing changes then. */
export async function endClaim(
  sql: Sql,
  { run, number, fence }: Claim,
  status: 'done' | 'failed',
  columns: {
    readonly result?: string;
    readonly sha256?: string;
    readonly failure?: unknown;
    readonly ticks: number;
  },
): Promise<boolean> {
  const ended = await sql.query(
    `update task set status = $4, worker = null, lease_ms = null, share = 1, ticks = $5, result = $6,
       result_sha256 = $7, failure = $8
     where run = $1 and number = $2 and fence = $3 and status = 'claimed' returning run`,
    [
      run,
      number,
      fence,
      status,
      columns.ticks,
      columns.result ?? null,
      columns.sha256 ?? null,
      columns.failure === undefined ? null : JSON.stringify(columns.failure),
    ],
  );
  return ended.length > 0;
}

/** Calls off what is still open of a run, or of one cell behind a shard. */
export async function drop(sql: Sql, run: string, behind?: { cell: number; number: number }): Promise<void> {
  await sql.query(
    `update task set status = 'dropped', worker = null, lease_ms = null
     where run = $1 and status in ('queued', 'claimed') and ($2::int is null or (cell = $2 and number > $3))`,
    [run, behind?.cell ?? null, behind?.number ?? null],
  );
}
