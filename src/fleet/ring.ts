import type { Database } from '../database/database.ts';
import type { RunQueue } from '../queue/queue.ts';

export interface RingParts {
  readonly db: Database;
  readonly queue: RunQueue;
}

interface Waiting {
  readonly run: string;
  readonly number: number;
  readonly fence: number;
  [column: string]: unknown;
}

/**
 * Bells are all alike, so no more of them need to wait than slots can answer between two sweeps: the queue stays small
 * however many tasks wait.
 */
const ENOUGH = 1_000;

/** Names the bell of a task, as long as nobody claims it. */
export const bellOf = ({ run, number, fence }: Pick<Waiting, 'run' | 'number' | 'fence'>): string =>
  `${run}.${number}.${fence}`;

/**
 * Rings for the queued tasks of a run, and for no more than `ENOUGH`: the sweeper rings for the rest when their time
 * comes. Throws Unreachable; the sweeper rings again then.
 */
export async function ringFor(parts: RingParts, run: string): Promise<void> {
  const waiting = await parts.db.query<Waiting>(
    `select run, number, fence from task where run = $1 and status = 'queued' and due_ms <= now_ms()
     order by number limit ${ENOUGH}`,
    [run],
  );
  await ring(parts, waiting);
}

/**
 * Rings for what waits and was not rung for, or more than `ring_again_ms` ago so that the queue may have forgotten; at
 * most for `ENOUGH` at a time, and only while fewer bells wait. A queue that is empty while tasks wait has forgotten all.
 * Answers how many. Throws Unreachable.
 */
export async function ringAgain(parts: RingParts, ring_again_ms: number): Promise<number> {
  const depth = await parts.queue.depth();
  if (depth >= ENOUGH) return 0;
  // Any will do, so they are not sorted: of a million that wait that takes a second.
  const waiting = await parts.db.query<Waiting>(
    `select run, number, fence from task
     where status = 'queued' and due_ms <= now_ms() and ($1 or rung_ms is null or rung_ms < now_ms() - $2::bigint)
     limit ${ENOUGH}`,
    [depth === 0, ring_again_ms],
  );
  await ring(parts, waiting);
  return waiting.length;
}

async function ring({ db, queue }: RingParts, waiting: readonly Waiting[]): Promise<void> {
  if (waiting.length === 0) return;
  await queue.ring(waiting.map(bellOf));
  await db.query(
    `update task set rung_ms = now_ms() from unnest($1::text[], $2::int[]) as rung (run, number)
     where task.run = rung.run and task.number = rung.number and status = 'queued'`,
    [waiting.map(({ run }) => run), waiting.map(({ number }) => number)],
  );
}
