import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PACKAGE } from '../../src/compose.ts';
import { migrate } from '../../src/database/migrate.ts';
import { openPglite } from '../../src/database/pglite.ts';
import type { WorkerEvent } from '../../src/fleet/worker.ts';
import { makeMetrics } from '../../src/ops/metrics.ts';
import { openMemoryQueue } from '../../src/queue/memory.ts';

const claim = { run: 'run_1', number: 0, kind: 'shard', fence: 1 } as const;
const shard = { ok: true, result: 'r', sha256: 's', ticks: 50_000, stage_ms: 200, replay_ms: 500 } as const;
const failure = {
  kind: 'timed_out',
  code: 'E',
  detail: '',
  place: { hook: null, market: null, ts_ms: null },
  traceback: '',
  last_logs: [],
} as const;

const shown = async (...events: WorkerEvent[]): Promise<string> => {
  const metrics = makeMetrics(4);
  for (const event of events) metrics.hear(event);
  return metrics.registry.metrics();
};

test('what a worker did can be read off its metrics', async () => {
  const text = await shown(
    { event: 'claimed', claim },
    { event: 'done', claim, done: { shard }, ended: 'next', ms: 700 },
    { event: 'claimed', claim },
    {
      event: 'done',
      claim,
      done: { shard: { ok: false, failure: { ...failure, last_logs: [] } } },
      ended: 'next',
      ms: 1,
    },
    { event: 'claimed', claim },
    { event: 'fault', claim, message: 'disk full', wait_ms: 1 },
    { event: 'claimed', claim },
    { event: 'handed_back', claim },
    { event: 'claimed', claim },
    { event: 'trouble', what: 'queue', message: 'away' },
    { event: 'swept', swept: { expired: 2, overdue: 0, rung: 3, removed: 0 } },
  );
  for (const line of [
    'backtest_slots 4',
    'backtest_slots_busy 1',
    'backtest_claims_total{kind="shard",end="done"} 2',
    'backtest_claims_total{kind="shard",end="fault"} 1',
    'backtest_claims_total{kind="shard",end="handed_back"} 1',
    'backtest_outcomes_total{outcome="completed"} 1',
    'backtest_outcomes_total{outcome="timed_out"} 1',
    'backtest_sandbox_starts_total 2',
    'backtest_ticks_total 50000',
    'backtest_stage_seconds_sum 0.2',
    'backtest_replay_seconds_sum 0.5',
    'backtest_replay_ticks_per_second_sum 100000',
    'backtest_trouble_total{what="queue"} 1',
    'backtest_swept_total{what="expired"} 2',
    'backtest_swept_total{what="rung"} 3',
  ])
    expect(text.split('\n')).toContain(line);
});

test('no metric has a label that grows with runs or customers', async () => {
  const text = await shown({ event: 'claimed', claim }, { event: 'lost', claim });
  expect(text).not.toContain('run_1');
});

test('a database that is away takes its own numbers out of the metrics, and no others', async () => {
  const [db, queue] = [await openPglite(null), openMemoryQueue()];
  await migrate(db, join(PACKAGE, 'src/database/migrations'));
  const metrics = makeMetrics(4);
  metrics.watch({ db, queue });
  const lines = async () =>
    (await metrics.registry.metrics()).split('\n').filter((line) => !line.startsWith('#'));
  const fleets = [
    'backtest_tasks{status="queued"} 0',
    'backtest_runs{status="running"} 0',
    'backtest_task_wait_seconds 0',
  ];
  expect(await lines()).toEqual(expect.arrayContaining([...fleets, 'backtest_queue_depth 0']));
  await db.close();
  const left = await lines();
  expect(left).toEqual(expect.arrayContaining(['backtest_queue_depth 0', 'backtest_slots 4']));
  for (const line of fleets) expect(left).not.toContain(line);
});
