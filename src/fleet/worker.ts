import { setTimeout as sleep } from 'node:timers/promises';
import { type FleetLimits, Unreachable } from '../../contract/index.ts';
import type { Database } from '../database/database.ts';
import type { Listener, RunQueue } from '../queue/queue.ts';
import type { ObjectStore } from '../store/store.ts';
import type { ShardRow } from './assembly.ts';
import { type Ended, failShard, faulted, finishRun, finishShard } from './ending.ts';
import { bellOf, ringFor } from './ring.ts';
import type { Done, Job, Slot } from './slot.ts';
import { type Swept, sweep } from './sweeper.ts';
import { type Claim, claim, handBack, renew, type TaskProgress } from './task.ts';

/** What a worker tells of itself: to a log, to metrics. Never source, keys or links. */
export type WorkerEvent =
  | { readonly event: 'claimed'; readonly claim: Claim }
  | {
      readonly event: 'done';
      readonly claim: Claim;
      readonly done: Done;
      readonly ended: Ended;
      readonly ms: number;
    }
  | { readonly event: 'lost' | 'handed_back'; readonly claim: Claim }
  | {
      readonly event: 'fault';
      readonly claim: Claim;
      readonly message: string;
      readonly wait_ms: number | null;
    }
  | { readonly event: 'swept'; readonly swept: Swept }
  | { readonly event: 'trouble'; readonly what: string; readonly message: string };

export interface WorkerParts {
  /** Names this worker; no two have the same. */
  readonly id: string;
  readonly db: Database;
  readonly queue: RunQueue;
  readonly store: ObjectStore;
  readonly slots: readonly Slot[];
  readonly limits: FleetLimits;
  readonly tell: (event: WorkerEvent) => void;
}

export interface RunningWorker {
  /** Takes no more; finishes or, after `grace_ms`, hands back what it has; closes its slots. */
  stop(): Promise<void>;
}

class Lost extends Error {}
class HandedBack extends Error {}

/** Starts to take tasks: one for each bell, as many at once as there are slots. */
export async function startWorker(parts: WorkerParts): Promise<RunningWorker> {
  const { queue, limits, tell } = parts;
  const free = [...parts.slots];
  const stopping = new AbortController();
  const trouble = (what: string) => (error: unknown) =>
    tell({ event: 'trouble', what, message: (error as Error).message });
  const answer = async (): Promise<void> => {
    const slot = free.pop()!;
    await answerBell(parts, slot, stopping.signal).catch(trouble('task'));
    free.push(slot);
  };
  await Promise.all(parts.slots.map((slot) => slot.warm()));
  const listener = await queue.listen(parts.slots.length, answer, trouble('queue'));
  const sweeping = new AbortController();
  const swept = Promise.all([
    every(limits.sweep_ms, sweeping.signal, async () => {
      const did = await sweep(parts, limits).catch(trouble('sweep'));
      if (did) tell({ event: 'swept', swept: did });
    }),
    every(limits.lease_ms / 3, sweeping.signal, () => seen(parts).catch(trouble('heartbeat'))),
  ]);
  let stopped: Promise<void> | null = null;
  return { stop: () => (stopped ??= stop(parts, listener, stopping, sweeping, swept)) };
}

async function stop(
  { db, id, slots, limits }: WorkerParts,
  listener: Listener,
  stopping: AbortController,
  sweeping: AbortController,
  swept: Promise<unknown>,
): Promise<void> {
  const late = setTimeout(() => stopping.abort(new HandedBack('the worker stops')), limits.grace_ms);
  await listener.stop();
  clearTimeout(late);
  sweeping.abort();
  await swept;
  await Promise.all(slots.map((slot) => slot.close()));
  await db.query('delete from worker where id = $1', [id]).catch(() => {});
}

async function every(ms: number, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await work();
    await sleep(ms, undefined, { signal }).catch(() => {});
  }
}

/** Tells the others that this worker lives. */
async function seen({ db, id, slots }: WorkerParts): Promise<void> {
  await db.query(
    `insert into worker (id, slots) values ($1, $2) on conflict (id) do update set seen_ms = now_ms(), slots = $2`,
    [id, slots.length],
  );
}

/** Takes the task whose turn it is and sees it to an end. Finds nothing where another worker was quicker. */
async function answerBell(parts: WorkerParts, slot: Slot, stopping: AbortSignal): Promise<void> {
  const { db, id, limits, tell } = parts;
  if (stopping.aborted) return;
  const task = await claim(db, id, limits.lease_ms);
  if (task === null) return;
  tell({ event: 'claimed', claim: task });
  const began = performance.now();
  const lease = new Lease(parts, task);
  try {
    const signal = AbortSignal.any([stopping, lease.lost]);
    const done = await slot.run(await jobOf(db, task), signal, lease.heard);
    // Where an answer got lost, `stale` may stand for what it said; the sweeper rings for an assembly that is missed here.
    const ended = await lease.persist(() => bringIn(db, task, done));
    tell({ event: 'done', claim: task, done, ended, ms: performance.now() - began });
    if (ended === 'next') await ringFor(parts, task.run).catch(() => {});
  } catch (error) {
    await broken(parts, task, lease, error);
  } finally {
    await lease.end();
  }
}

/** Whatever went wrong with a task is either nobody's fault (it is another's by now, or we stop) or ours. */
async function broken(parts: WorkerParts, task: Claim, lease: Lease, error: unknown): Promise<void> {
  const { db, queue, limits, tell } = parts;
  if (error instanceof Lost) return tell({ event: 'lost', claim: task });
  if (error instanceof HandedBack) {
    await lease.persist(() => handBack(db, task));
    tell({ event: 'handed_back', claim: task });
    return queue.ring([bellOf(task)]).catch(() => {});
  }
  const { wait_ms } = await lease.persist(() => faulted(db, task, limits));
  tell({ event: 'fault', claim: task, message: (error as Error).message, wait_ms });
  if (wait_ms === null) return;
  await queue.ring([bellOf(task)], wait_ms).catch(() => {});
}

async function jobOf(db: Database, task: Claim): Promise<Job> {
  const [run] = await db.query<{ plan: string }>('select plan from run where id = $1', [task.run]);
  const { run: id, number, fence } = task;
  const job = { run: id, number, fence, plan: run!.plan };
  if (task.kind === 'shard') return { kind: 'shard', ...job };
  const shards = await db.query<ShardRow & { [column: string]: unknown }>(
    `select number, cell, result, result_sha256 as sha256, failure from task
     where run = $1 and kind = 'shard' order by number`,
    [id],
  );
  return { kind: 'assembly', ...job, shards };
}

function bringIn(db: Database, task: Claim, done: Done): Promise<Ended> {
  if ('assembly' in done) return finishRun(db, task, done.assembly);
  return done.shard.ok ? finishShard(db, task, done.shard) : failShard(db, task, done.shard.failure);
}

/** Keeps a claim alive while its work is done, and says when it is lost. Measured by a clock that never jumps. */
class Lease {
  private readonly parts: WorkerParts;
  private readonly task: Claim;
  private readonly losing = new AbortController();
  private readonly ending = new AbortController();
  private readonly renewing: Promise<void>;
  private progress: TaskProgress = { phase: 'stage', share: 0, ticks: 0 };
  private told = this.progress;
  private renewed = performance.now();

  constructor(parts: WorkerParts, task: Claim) {
    this.parts = parts;
    this.task = task;
    this.renewing = every(parts.limits.progress_ms, this.ending.signal, () => this.renew());
  }

  get lost(): AbortSignal {
    return this.losing.signal;
  }

  readonly heard = (progress: TaskProgress): void => {
    this.progress = progress;
  };

  /** Tries until the database has answered, as long as the claim may still be ours. A repeat changes nothing. */
  async persist<T>(write: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await write();
      } catch (error) {
        // What the database refuses it will refuse again.
        if (!(error instanceof Unreachable) || this.overdue()) throw error;
        await sleep(200);
      }
    }
  }

  async end(): Promise<void> {
    this.ending.abort();
    await this.renewing;
  }

  private async renew(): Promise<void> {
    const { db, limits } = this.parts;
    const due = performance.now() - this.renewed > limits.lease_ms / 3;
    if (this.progress === this.told && !due) return;
    const { progress } = this;
    const asked = performance.now();
    try {
      if (!(await renew(db, this.task, progress, limits.lease_ms))) this.lose('another worker has it');
      this.renewed = asked;
      this.told = progress;
    } catch (error) {
      if (this.overdue()) this.lose((error as Error).message);
    }
  }

  private overdue(): boolean {
    return performance.now() - this.renewed > this.parts.limits.lease_ms;
  }

  private lose(why: string): void {
    if (!this.losing.signal.aborted) this.losing.abort(new Lost(why));
  }
}
