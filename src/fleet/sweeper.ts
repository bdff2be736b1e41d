import { type FleetLimits, Unreachable } from '../../contract/index.ts';
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

const REMOVED_AT_ONCE = 16;

/**
 * Mends whatever a dead worker, a dead api or an emptied queue left behind. Any number of workers may do it at once. What
 * cannot be mended keeps nothing else from it, and is thrown at the end; Unreachable is thrown at once.
 */
export async function sweep(parts: SweepParts, limits: FleetLimits): Promise<Swept> {
  const { db } = parts;
  const failures: unknown[] = [];
  const each = async <T>(found: readonly T[], mend: (one: T) => Promise<unknown>): Promise<number> => {
    for (const one of found)
      await mend(one).catch((error) => {
        if (error instanceof Unreachable) throw error;
        failures.push(error);
      });
    return found.length;
  };
  const expired = await each(await expiredClaims(db), (claim) =>
    faulted(db, claim, limits, { expired: true }),
  );
  const overdue = await each(await overdueRuns(db), ({ id }) => giveUp(db, id));
  const rung = await ringAgain(parts, limits.ring_again_ms);
  await forgetWorkers(db, limits.leftovers_ms + limits.lease_ms);
  // Last, since nobody waits for it: a store that is away must not keep tasks from being rung for.
  const removed =
    (await removeResults(parts, limits.leftovers_ms)) +
    (await removeUploads(parts, limits.leftovers_ms + 2 * limits.run_ms));
  if (failures.length > 0) throw failures[0];
  return { expired, overdue, rung, removed };
}

/** A claim whose lease has run out counts as a fault: a task that kills its workers must come to an end. */
const expiredClaims = (db: Database) =>
  db.query<Claim & Row>(
    `select run, number, kind, fence from task where status = 'claimed' and lease_ms < now_ms() limit 1000`,
  );

/**
 * Ends all leases, for an embedded database that was just opened: it has one process, so whoever held a claim is dead,
 * and nobody has to wait for that to show.
 */
export async function endLeases(db: Database): Promise<void> {
  await db.query(`update task set lease_ms = 0 where status = 'claimed'`);
}

const OPEN = `status in ('queued', 'staging', 'running')`;

/** Runs past their deadline that no live worker is at. */
const overdueRuns = (db: Database) =>
  db.query<{ id: string }>(
    `select id from run where ${OPEN} and deadline_ms < now_ms()
       and not exists (
         select 1 from task where task.run = run.id and task.status = 'claimed' and task.lease_ms >= now_ms())
     limit 100`,
  );

async function giveUp(db: Database, run: string): Promise<void> {
  await db.transaction(async (sql) => {
    // What was true a moment ago may not be any more.
    const still = await sql.query(`select id from run where id = $1 and ${OPEN} for update`, [run]);
    const claimed = await sql.query(`select run from task where run = $1 and status = 'claimed'`, [run]);
    if (still.length > 0 && claimed.length === 0) await failRun(sql, run, OVERDUE);
  });
}

/** Removes shard results of runs that were finished more than `age_ms` ago. */
async function removeResults({ db, store }: SweepParts, age_ms: number): Promise<number> {
  // Some of the oldest, by chance: so sweepers that are at it together rarely meet at one run.
  const runs = await db.query<{ id: string }>(
    `select id from (
       select id from run where leftovers and finished_ms < (select now_ms() - $1::bigint)
       order by finished_ms limit 1000
     ) as oldest order by random() limit 100`,
    [age_ms],
  );
  if (runs.length === 0) return 0;
  const ids = runs.map(({ id }) => id);
  const results = await db.query<{ run: string; number: number; result: string }>(
    `select run, number, result from task where run = any ($1::text[]) and result is not null limit 1000`,
    [ids],
  );
  for (let from = 0; from < results.length; from += REMOVED_AT_ONCE) {
    const some = results.slice(from, from + REMOVED_AT_ONCE);
    await Promise.all(some.map(({ result }) => store.remove(result)));
    await db.query(
      `update task set result = null from unnest($1::text[], $2::int[]) as gone (run, number)
       where task.run = gone.run and task.number = gone.number`,
      [some.map(({ run }) => run), some.map(({ number }) => number)],
    );
  }
  await db.query(
    `update run set leftovers = false where id = any ($1::text[])
       and not exists (select from task where task.run = run.id and result is not null)`,
    [ids],
  );
  return results.length;
}

/** Removes uploads of more than `age_ms` ago: no run can name them or wait with them any more. */
async function removeUploads({ db, store }: SweepParts, age_ms: number): Promise<number> {
  const uploads = await db.query<{ key: string }>(
    'select key from upload where created_ms < now_ms() - $1::bigint limit 100',
    [age_ms],
  );
  for (const { key } of uploads) {
    await store.remove(key);
    await db.query('delete from upload where key = $1', [key]);
  }
  return uploads.length;
}

/** Workers that died tell nobody that they are gone. */
async function forgetWorkers(db: Database, age_ms: number): Promise<void> {
  await db.query('delete from worker where seen_ms < now_ms() - $1::bigint', [age_ms]);
}
