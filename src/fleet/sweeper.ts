import type { FleetLimits } from '../../contract/index.ts';
import type { Database, Row } from '../database/database.ts';
import type { RunQueue } from '../queue/queue.ts';
import type { ObjectStore } from '../store/store.ts';
import { failRun, faulted, OVERDUE } from './ending.ts';
import { ringAgain } from './ring.ts';
import type { Claim } from './task.ts';

export interface SweepParts {
  readonly db: Database;
  readonly queue: RunQueue;
  readonly store: ObjectStore;
}

export interface Swept {
  /** Claims whose worker was not heard of, runs given up, tasks rung for again, objects removed. */
  readonly expired: number;
  readonly overdue: number;
  readonly rung: number;
  readonly removed: number;
}

/** Mends whatever a dead worker, a dead api or an emptied queue left behind. Any number of workers may do it at once. */
export async function sweep(parts: SweepParts, limits: FleetLimits): Promise<Swept> {
  const expired = await expireClaims(parts.db, limits);
  const overdue = await giveUp(parts.db);
  const rung = await ringAgain(parts, limits.ring_again_ms);
  // Last, since nobody waits for it: a store that is away must not keep tasks from being rung for.
  const removed = await removeLeftovers(parts, limits);
  return { expired, overdue, rung, removed };
}

/** A claim whose lease has run out counts as a fault: a task that kills its workers must come to an end. */
async function expireClaims(db: Database, limits: FleetLimits): Promise<number> {
  const expired = await db.query<Claim & Row>(
    `select run, number, kind, fence from task where status = 'claimed' and lease_ms < now_ms() limit 1000`,
  );
  for (const claim of expired) await faulted(db, claim, limits);
  return expired.length;
}

/**
 * Ends all leases, for an embedded database that was just opened: it has one process, so whoever held a claim is dead,
 * and nobody has to wait for that to show.
 */
export async function endLeases(db: Database): Promise<void> {
  await db.query(`update task set lease_ms = 0 where status = 'claimed'`);
}

/** Fails runs past their deadline that no live worker is at. */
async function giveUp(db: Database): Promise<number> {
  const overdue = await db.query<{ id: string }>(
    `select id from run where status in ('queued', 'staging', 'running') and deadline_ms < now_ms()
       and not exists (
         select 1 from task where task.run = run.id and task.status = 'claimed' and task.lease_ms >= now_ms())
     limit 100`,
  );
  for (const { id } of overdue) {
    await db.transaction(async (sql) => {
      // What was true a moment ago may not be any more.
      const still = await sql.query(
        `select id from run where id = $1 and status in ('queued', 'staging', 'running') for update`,
        [id],
      );
      const claimed = await sql.query(`select run from task where run = $1 and status = 'claimed'`, [id]);
      if (still.length > 0 && claimed.length === 0) await failRun(sql, id, OVERDUE);
    });
  }
  return overdue.length;
}

/** Removes shard results of finished runs, and uploads once no run can name them or wait with them any more. */
async function removeLeftovers(
  { db, store }: SweepParts,
  { leftovers_ms, run_ms }: FleetLimits,
): Promise<number> {
  const results = await db.query<{ run: string; number: number; object: string }>(
    `select run, number, task.result as object from task join run on run.id = task.run
     where task.result is not null and finished_ms < now_ms() - $1::bigint limit 100`,
    [leftovers_ms],
  );
  for (const { run, number, object } of results) {
    await store.remove(object);
    await db.query('update task set result = null where run = $1 and number = $2', [run, number]);
  }
  const uploads = await db.query<{ key: string }>(
    'select key from upload where created_ms < now_ms() - $1::bigint limit 100',
    [leftovers_ms + 2 * run_ms],
  );
  for (const { key } of uploads) {
    await store.remove(key);
    await db.query('delete from upload where key = $1', [key]);
  }
  return results.length + uploads.length;
}
