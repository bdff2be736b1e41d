import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Database } from '../database/database.ts';
import type { Claim } from '../fleet/task.ts';
import type { WorkerEvent } from '../fleet/worker.ts';
import type { RunQueue } from '../queue/queue.ts';

export interface Metrics {
  readonly registry: Registry;
  /** Counts what a worker tells of itself. */
  hear(event: WorkerEvent): void;
  /** From now on the fleet's own numbers are shown too: those that every process sees alike. */
  watch(fleet: { readonly db: Database; readonly queue: RunQueue }): void;
}

const SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const TICKS = [1e4, 3e4, 1e5, 2e5, 4e5, 8e5, 1.6e6, 3.2e6];

/** Prometheus metrics of one process. `slots`: how many tasks its worker takes at once; 0 where it has none. */
export function makeMetrics(slots: number): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  let db: Database | null = null;
  const made = workerMetrics(registry, slots);
  return {
    registry,
    hear(event) {
      count(made, event);
      if ('ended' in event && event.ended === 'over' && db) void countCredits(made, db, event.claim);
    },
    watch(fleet) {
      db = fleet.db;
      fleetGauges(registry, fleet);
    },
  };
}

type Made = ReturnType<typeof workerMetrics>;

function workerMetrics(registry: Registry, slots: number) {
  const registers = [registry];
  new Gauge({ name: 'backtest_slots', help: 'Tasks that this worker takes at once', registers }).set(slots);
  return {
    busy: new Gauge({ name: 'backtest_slots_busy', help: 'Tasks that this worker is at', registers }),
    claims: new Counter({
      name: 'backtest_claims_total',
      help: 'Tasks taken, by what became of them: done, fault, lost, handed_back',
      labelNames: ['kind', 'end'] as const,
      registers,
    }),
    outcomes: new Counter({
      name: 'backtest_outcomes_total',
      help: 'What became of strategies, by kind, one for each shard',
      labelNames: ['outcome'] as const,
      registers,
    }),
    boxes: new Counter({
      name: 'backtest_sandbox_starts_total',
      help: 'Boxes whose strategy came to an end, one for each shard',
      registers,
    }),
    stage: new Histogram({
      name: 'backtest_stage_seconds',
      help: 'Time to stage the days of a shard',
      buckets: SECONDS,
      registers,
    }),
    replay: new Histogram({
      name: 'backtest_replay_seconds',
      help: 'Time to replay a shard',
      buckets: SECONDS,
      registers,
    }),
    speed: new Histogram({
      name: 'backtest_replay_ticks_per_second',
      help: 'Tick rows shown to a strategy per second of its replay',
      buckets: TICKS,
      registers,
    }),
    ticks: new Counter({ name: 'backtest_ticks_total', help: 'Tick rows shown to strategies', registers }),
    settled: new Counter({
      name: 'backtest_credits_settled_total',
      help: 'Credits charged for runs that this worker ended',
      registers,
    }),
    released: new Counter({
      name: 'backtest_credits_released_total',
      help: 'Held credits that went back for runs that this worker ended',
      registers,
    }),
    swept: new Counter({
      name: 'backtest_swept_total',
      help: 'What the sweeper mended: expired claims, overdue runs, bells rung again, leftovers removed',
      labelNames: ['what'] as const,
      registers,
    }),
    trouble: new Counter({
      name: 'backtest_trouble_total',
      help: 'What this worker could not do and will try again',
      labelNames: ['what'] as const,
      registers,
    }),
  };
}

function count(made: Made, event: WorkerEvent): void {
  switch (event.event) {
    case 'claimed':
      made.busy.inc();
      return;
    case 'swept':
      for (const what of ['expired', 'overdue', 'rung', 'removed'] as const)
        made.swept.inc({ what }, event.swept[what]);
      return;
    case 'trouble':
      made.trouble.inc({ what: event.what });
      return;
  }
  made.busy.dec();
  made.claims.inc({ kind: event.claim.kind, end: event.event });
  if (event.event !== 'done' || 'assembly' in event.done) return;
  const { shard } = event.done;
  made.boxes.inc();
  made.outcomes.inc({ outcome: shard.ok ? 'completed' : shard.failure.kind });
  if (!shard.ok) return;
  made.ticks.inc(shard.ticks);
  made.stage.observe(shard.stage_ms / 1000);
  made.replay.observe(shard.replay_ms / 1000);
  if (shard.replay_ms > 0) made.speed.observe(shard.ticks / (shard.replay_ms / 1000));
}

/** How a run was paid for, where that task was its last. */
async function countCredits(made: Made, db: Database, { run }: Claim): Promise<void> {
  const [end] = await db
    .query<{ amount: number; held: number }>(
      'select amount, held from transfer where id in ($1 || $2, $1 || $3)',
      [run, ':settle', ':release'],
    )
    .catch(() => []);
  if (!end) return;
  made.settled.inc(end.amount);
  made.released.inc(end.held - end.amount);
}

/** Only what is open is looked at: history grows, this must stay quick. */
function fleetGauges(
  registry: Registry,
  { db, queue }: { readonly db: Database; readonly queue: RunQueue },
): void {
  const gauge = (name: string, help: string, value: () => Promise<number>) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        return shown(this, async () => this.set(await value()));
      },
    });
  const open = (table: 'task' | 'run', help: string, statuses: readonly string[]) =>
    new Gauge({
      name: `backtest_${table}s`,
      help,
      labelNames: ['status'],
      registers: [registry],
      collect() {
        return shown(this, async () => {
          // As text, since a parameter would not tell that the index of open ones will do.
          const list = statuses.map((status) => `'${status}'`).join();
          const rows = await db.query<{ status: string; count: number }>(
            `select status, count(*) from ${table} where status in (${list}) group by status`,
          );
          for (const status of statuses)
            this.set({ status }, rows.find((row) => row.status === status)?.count ?? 0);
        });
      },
    });
  gauge('backtest_queue_depth', 'Bells that wait in the queue', () => queue.depth());
  gauge('backtest_task_wait_seconds', 'How long the task that waits longest has waited', async () => {
    const [row] = await db.query<{ ms: number }>(
      `select coalesce(now_ms() - min(greatest(queued_ms, due_ms)), 0) as ms from task
       where status = 'queued' and due_ms <= now_ms()`,
    );
    return row!.ms / 1000;
  });
  open('task', 'Open tasks of the fleet', ['queued', 'claimed']);
  open('run', 'Open runs of the fleet', ['queued', 'staging', 'running']);
}

/** What cannot be known is left out: an old number would be a lie, and the other metrics are needed most then. */
async function shown(gauge: Gauge, update: () => Promise<void>): Promise<void> {
  try {
    await update();
  } catch {
    gauge.reset();
    gauge.remove({});
  }
}
