// The process of a slot: opens what a replay needs, does one job at a time, and ends when its worker is gone.
import { Unreachable } from '../../contract/index.ts';
import { openArchive, openCache, openSandbox, openStore } from '../compose.ts';
import type { Prepared } from '../run/prepare.ts';
import { assemble } from './assembly.ts';
import { loadPlan } from './plan.ts';
import { replayShard, type ShardParts } from './shard.ts';
import { BEAT_MS, type Done, type FromReplayer, type Job, STOP_MS, type ToReplayer } from './slot.ts';

/** Runs whose plan is kept: the shards of a run tend to come one after another. */
const PLANS = 4;

interface Opened {
  readonly parts: ShardParts;
  readonly temp: string;
}

let opened: Promise<Opened> | null = null;
let stop = new AbortController();
const plans = new Map<string, Promise<Prepared>>();

process.on('message', (message: ToReplayer) => {
  if ('open' in message) {
    opened = open(message.open);
    opened.then(() => say({ ready: true }), fault);
  } else if ('abort' in message) stop.abort(new Error('called off'));
  else {
    const beat = setInterval(() => say({ beat: true }), BEAT_MS);
    void doJob(message.job)
      .finally(() => clearInterval(beat))
      .then((done) => say({ done }), fault);
  }
});
process.on('disconnect', async () => {
  // Nobody is left who would end a process whose engine does not answer.
  setTimeout(() => process.exit(1), STOP_MS);
  stop.abort(new Error('the worker is gone'));
  await opened
    ?.then(({ parts }) => Promise.all([parts.sandbox.close(), parts.store.close()]))
    .catch(() => {});
  process.exit();
});
// A terminal's signals go to the whole group; the worker decides what is finished first.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

async function open({
  config,
  sandbox,
  limits,
}: Extract<ToReplayer, { open: unknown }>['open']): Promise<Opened> {
  if (config.archive === null)
    throw new Error('BACKTEST_ARCHIVE is not set: name the archive of recorded ticks');
  const [store, archive, cache, box] = await Promise.all([
    openStore(config),
    openArchive(config.archive),
    openCache(config),
    openSandbox(sandbox, config),
  ]);
  return { parts: { store, archive, cache, sandbox: box, limits }, temp: config.temp_folder };
}

async function doJob(job: Job): Promise<Done> {
  stop = new AbortController();
  const { parts, temp } = await opened!;
  const prepared = await planOf(parts, job.plan);
  if (job.kind === 'assembly') {
    say({ progress: { phase: 'report', share: 0, ticks: 0 } });
    return { assembly: await assemble(parts, temp, prepared, job, job.shards, stop.signal) };
  }
  const shard = await replayShard(parts, prepared, job, stop.signal, ({ phase, done, total, ticks }) =>
    say({ progress: { phase, share: done / total, ticks } }),
  );
  return { shard };
}

function planOf({ store, limits }: ShardParts, key: string): Promise<Prepared> {
  const known = plans.get(key);
  if (known) return known;
  const loading = loadPlan(store, key, limits);
  loading.catch(() => plans.delete(key));
  plans.set(key, loading);
  if (plans.size > PLANS) plans.delete(plans.keys().next().value!);
  return loading;
}

function say(message: FromReplayer): void {
  if (process.connected) process.send!(message, () => {});
}

function fault(error: unknown): void {
  const { message, stack } = error as Error;
  say({ fault: error instanceof Unreachable ? message : (stack ?? message) });
}
