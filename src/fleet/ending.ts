import type { Failure, FleetLimits, RunReport } from '../../contract/index.ts';
import type { Database, Sql } from '../database/database.ts';
import { release, settle } from '../ledger/transfer.ts';
import { move } from './state.ts';
import { type Claim, drop, endClaim } from './task.ts';

// Every way in which a task ends. Each is one transaction that locks the run first and then asks whether the claim still
// holds; one that does not changes nothing.

/**
 * `stale`: somebody else has the task by now, or it is over. `open`: other shards are still to come. `next`: the assembly
 * waits to be rung for. `over`: so is the run.
 */
export type Ended = 'stale' | 'open' | 'next' | 'over';

/** Brings in a shard. The last one makes the assembly. */
export function finishShard(
  db: Database,
  claim: Claim,
  shard: { readonly result: string; readonly sha256: string; readonly ticks: number },
): Promise<Ended> {
  return ending(db, claim.run, async (sql) => {
    if (!(await endClaim(sql, claim, 'done', shard))) return 'stale';
    return advance(sql, claim.run);
  });
}

/** A strategy failed. What stands behind that in its cell is called off; what stands before may still fail first. */
export function failShard(db: Database, claim: Claim, failure: Failure): Promise<Ended> {
  return ending(db, claim.run, async (sql) => {
    if (!(await endClaim(sql, claim, 'failed', { failure, ticks: 0 }))) return 'stale';
    const [task] = await sql.query<{ cell: number }>('select cell from task where run = $1 and number = $2', [
      claim.run,
      claim.number,
    ]);
    await drop(sql, claim.run, { cell: task!.cell, number: claim.number });
    return advance(sql, claim.run);
  });
}

/** Ends the run: the archive lies in the store, and each cell that has a report is paid for. */
export function finishRun(
  db: Database,
  claim: Claim,
  made: { readonly archive: string; readonly bytes: number; readonly report: RunReport },
): Promise<Ended> {
  return ending(db, claim.run, async (sql) => {
    if (!(await endClaim(sql, claim, 'done', { ticks: 0 }))) return 'stale';
    const spent = made.report.cells.reduce((sum, { market_days }) => sum + market_days, 0);
    await settle(sql, { run: claim.run, amount: spent });
    await end(sql, claim.run, 'done', {
      credits_spent: spent,
      archive: made.archive,
      archive_bytes: made.bytes,
      archive_sha256: made.report.archive_sha256,
      report: JSON.stringify(made.report),
    });
    return 'over';
  });
}

/**
 * A fault of ours: the task waits and is tried again, until it was tried too often. `wait_ms`: until it may be rung for;
 * null where it is not tried again, or not by us. `expired`: counts only where nobody renewed the claim meanwhile.
 */
export function faulted(
  db: Database,
  { run, number, fence }: Claim,
  limits: FleetLimits,
  { expired = false } = {},
): Promise<{ readonly wait_ms: number | null }> {
  return ending(db, run, async (sql) => {
    const [task] = await sql.query<{ faults: number; wait_ms: number }>(
      `update task set status = 'queued', worker = null, lease_ms = null, rung_ms = null, share = 0, ticks = 0,
         faults = faults + 1, due_ms = now_ms() + ($4 * power(4, least(faults, 5)))::bigint
       where run = $1 and number = $2 and fence = $3 and status = 'claimed' and not ($5 and lease_ms >= now_ms())
       returning faults, due_ms - now_ms() as wait_ms`,
      [run, number, fence, limits.backoff_ms, expired],
    );
    if (!task) return { wait_ms: null };
    if (task.faults < limits.faults) return { wait_ms: task.wait_ms };
    await failRun(sql, run, FAULT);
    return { wait_ms: null };
  });
}

/** Gives up a run that is open: all of its hold goes back. */
export async function failRun(sql: Sql, run: string, rejection: unknown): Promise<void> {
  await drop(sql, run);
  await release(sql, { run });
  await end(sql, run, 'failed', { credits_spent: 0, rejection: JSON.stringify(rejection) });
}

export const FAULT = {
  code: 'E_FAULT',
  detail:
    'The run could not be finished for a fault of the service. The credits were returned; submit it again.',
};
export const OVERDUE = {
  code: 'E_FAULT',
  detail: 'The run was not finished in time. The credits were returned; submit it again.',
};

async function end(
  sql: Sql,
  run: string,
  to: 'done' | 'failed',
  columns: Readonly<Record<string, unknown>>,
): Promise<void> {
  const [{ now }] = (await sql.query<{ now: number }>('select now_ms() as now')) as [{ now: number }];
  if (!(await move(sql, run, to, { ...columns, finished_ms: now })))
    throw new Error(`the run ${run} cannot become ${to} from what it is`);
}

/** One end at a time for each run: which shard is the last one must be certain. */
function ending<T>(db: Database, run: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  return db.transaction(async (sql) => {
    await sql.query('select id from run where id = $1 for update', [run]);
    return work(sql);
  });
}

/** Once no shard is open: the assembly where a cell has all of its shards, else the end of the run. */
async function advance(sql: Sql, run: string): Promise<Ended> {
  const open = await sql.query(
    `select number from task where run = $1 and status in ('queued', 'claimed') limit 1`,
    [run],
  );
  if (open.length > 0) return 'open';
  const [whole] = await sql.query(
    `select cell from task where run = $1 and kind = 'shard'
     group by cell having bool_and(status = 'done') limit 1`,
    [run],
  );
  if (!whole) {
    const [first] = await sql.query<{ failure: Failure }>(
      `select failure from task where run = $1 and status = 'failed' order by number limit 1`,
      [run],
    );
    await failRun(sql, run, first!.failure);
    return 'over';
  }
  await sql.query(
    `insert into task (run, number, kind, customer, queued_ms)
     select run, max(number) + 1, 'assembly', customer, min(queued_ms) from task where run = $1 group by run, customer`,
    [run],
  );
  return 'next';
}
