import type { Database } from '../database/database.ts';
import type { RunQueue } from '../queue/queue.ts';

interface Waiting {
  readonly run: string;
  readonly number: number;
  readonly fence: number;
  [column: string]: unknown;
}

const bell = ({ run, number, fence }: Waiting): string => `${run}.${number}.${fence}`;

/** Rings for the queued tasks of a run. Throws Unreachable; the sweeper rings again then. */
export async function ringFor(
  { db, queue }: { readonly db: Database; readonly queue: RunQueue },
  run: string,
): Promise<void> {
  const waiting = await db.query<Waiting>(
    `select run, number, fence from task where run = $1 and status = 'queued' and due_ms <= now_ms() order by number`,
    [run],
  );
  await queue.ring(waiting.map(bell));
  await db.query(
    `update task set rung_ms = now_ms() where run = $1 and status = 'queued' and due_ms <= now_ms()`,
    [run],
  );
}

/**
 * Rings for what waits and was not rung for, or so long ago that the queue may have forgotten. A queue that is empty
 * while tasks wait has forgotten all.
 */
export async function ringAgain(
  { db, queue }: { readonly db: Database; readonly queue: RunQueue },
  ring_again_ms: number,
): Promise<number> {
  const forgot = (await queue.depth()) === 0;
  const waiting = await db.query<Waiting>(
    `select run, number, fence from task
     where status = 'queued' and due_ms <= now_ms() and ($1 or rung_ms is null or rung_ms < now_ms() - $2::bigint)
     order by queued_ms, run, number limit 1000`,
    [forgot, ring_again_ms],
  );
  if (waiting.length === 0) return 0;
  await queue.ring(waiting.map(bell));
  await db.query(
    `update task set rung_ms = now_ms() from unnest($1::text[], $2::int[]) as rung (run, number)
     where task.run = rung.run and task.number = rung.number and status = 'queued'`,
    [waiting.map(({ run }) => run), waiting.map(({ number }) => number)],
  );
  return waiting.length;
}
