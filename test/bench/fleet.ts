import { LIMITS } from '../../contract/index.ts';
import { openPostgres } from '../../src/database/postgres.ts';
import { openBullQueue } from '../../src/queue/bullmq.ts';
import { Fleet } from '../fleet/fleet.ts';
import { strategy } from '../run/runs.ts';
import { startPostgres } from '../services/postgres.ts';
import { startRedis } from '../services/redis.ts';
import type { Row } from './row.ts';

const RUNS = 40;
const ONE_DAY = { assets: ['BTC'], days: 1 };

/** What the fleet adds to a run, and how many short runs it does, on a real Postgres and a real Redis. */
export async function bench(print: (row: Row) => void): Promise<void> {
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  try {
    const rows = await overhead(postgres.url, redis.url);
    const median = (name: keyof Took): number =>
      rows.map((row) => row[name]).sort((a, b) => a - b)[rows.length >> 1]!;
    print({ name: 'fleet: submit to shard, queue alone', value: median('queue'), unit: 'ms' });
    print({ name: 'fleet: staging (warm)', value: median('stage'), unit: 'ms' });
    print({ name: 'fleet: container and replay', value: median('replay'), unit: 'ms' });
    print({ name: 'fleet: whole run, submit to archive', value: median('whole'), unit: 'ms' });
    let one: number | undefined;
    for (const workers of [1, 2, 4]) {
      const value = await throughput(postgres.url, redis.url, workers);
      one ??= value;
      const name = `fleet: short runs, ${workers} workers`;
      print({
        name,
        value,
        unit: 'runs/s',
        limit: one * Math.min(workers, 2),
        limitName: 'one worker, times cores',
      });
    }
  } finally {
    await Promise.all([postgres.stop(), redis.stop()]);
  }
}

interface Took {
  readonly queue: number;
  readonly stage: number;
  readonly replay: number;
  readonly whole: number;
}

/** Of single runs, one after another, in containers. */
async function overhead(database: string, redis: string): Promise<Took[]> {
  const fleet = await open(database, redis, 'docker');
  try {
    const customer = await fleet.customer('overhead', RUNS + 3);
    await fleet.work(1);
    const took: Took[] = [];
    for (let run = 0; run < 12; run++) {
      const began = performance.now();
      const shard = ended(fleet, fleet.events.length);
      const { run_id } = await fleet.submit(customer, strategy('idle-python'), ONE_DAY);
      const { at, stage_ms, replay_ms } = await shard;
      await fleet.over(customer, run_id);
      const whole = performance.now() - began;
      took.push({ queue: at - began - stage_ms - replay_ms, stage: stage_ms, replay: replay_ms, whole });
    }
    return took.slice(2);
  } finally {
    await fleet.close();
  }
}

async function ended(
  fleet: Fleet,
  from: number,
): Promise<{ at: number; stage_ms: number; replay_ms: number }> {
  for (;;) {
    const found = fleet.events.slice(from).find((event) => event.event === 'done');
    if (found && 'shard' in found.done && found.done.shard.ok)
      return { at: performance.now(), ...found.done.shard };
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** Runs a second of many that wait at once, as plain processes: containers are measured by themselves. */
async function throughput(database: string, redis: string, workers: number): Promise<number> {
  const fleet = await open(database, redis, 'process');
  try {
    const customer = await fleet.customer(`throughput-${workers}`, RUNS);
    const runs = await Promise.all(
      Array.from({ length: RUNS }, () => fleet.submit(customer, strategy('idle-node'), ONE_DAY)),
    );
    for (let worker = 0; worker < workers; worker++) await fleet.work(1);
    const began = performance.now();
    for (const { run_id } of runs) await fleet.over(customer, run_id);
    return (RUNS * 1000) / (performance.now() - began);
  } finally {
    await fleet.close();
  }
}

async function open(database: string, redis: string, sandbox: 'docker' | 'process'): Promise<Fleet> {
  return Fleet.open({ db: openPostgres(database), queue: openBullQueue(redis), sandbox, box: LIMITS });
}
