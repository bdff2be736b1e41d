import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Job, Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { Unreachable } from '../../contract/unreachable.ts';
import type { Listener, RunQueue } from './queue.ts';

/** How long a caller waits for the server before it goes on without. */
const ANSWER_MS = 2_000;
/** Bells in one round trip: a few hundred kilobytes. */
const CHUNK = 1_000;
/** An idle listener asks again this often (seconds), so a wake-up that got lost costs no more. */
const WAIT_S = 5;
/** Of silence after a question; then the connection counts as dead. More than the 10 s that a listener may wait. */
const LISTENER_SILENCE_MS = 12_000;
/**
 * A bell is acknowledged as soon as it is taken, long before its task is done: leases live in the database. So a lock
 * is held for milliseconds, and one that runs out means that its holder died or lost its connection in between. The
 * bell then rings once more.
 */
const LOCK_MS = 15_000;

const retryStrategy = (times: number) => Math.min(50 * 2 ** times, 1_000);

/**
 * A queue on a Redis server (`redis://` or `rediss://`), by BullMQ. `name` tells apart fleets that share a server.
 * Connects by itself, again and again; a server that is away shows when the queue is used.
 */
export function openBullQueue(redis_url: string, { name = 'backtest-fleet' } = {}): RunQueue {
  const client = new Redis(redis_url, {
    retryStrategy,
    // Fail, rather than ring when nobody expects it any more.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    socketTimeout: ANSWER_MS,
  });
  // Reconnecting is its business; those who use it hear of it by what they asked for.
  client.on('error', () => {});
  // Any number of callers may wait for a connection.
  client.setMaxListeners(Infinity);
  const queue = new Queue(name, { connection: client, skipVersionCheck: true });
  queue.on('error', () => {});

  /** What the server says within a bounded time. */
  const ask = async <T>(question: () => Promise<T>): Promise<T> => {
    const late = AbortSignal.timeout(ANSWER_MS);
    const tooLate = once(late, 'abort').then(() => {
      throw new Error(`no answer within ${ANSWER_MS / 1000} s`);
    });
    const answer = async () => {
      if (client.status !== 'ready') await once(client, 'ready', { signal: late });
      return await question();
    };
    try {
      return await Promise.race([answer(), tooLate]);
    } catch (error) {
      throw new Unreachable('The queue', error);
    }
  };

  return {
    kind: 'bullmq',
    async ring(tasks, delay_ms = 0) {
      for (let from = 0; from < tasks.length; from += CHUNK) {
        const jobs = tasks.slice(from, from + CHUNK).map((task) => ({
          name: 'bell',
          data: {},
          opts: {
            // Neither a colon nor a bare number is allowed.
            jobId: `bell.${encodeURIComponent(task)}`,
            delay: delay_ms,
            // A name that is kept could not be rung for again.
            removeOnComplete: true,
            removeOnFail: true,
          },
        }));
        await ask(() => queue.addBulk(jobs));
      }
    },
    async listen(slots, answer, onError) {
      const worker = new Worker(name, null, {
        connection: {
          url: redis_url,
          retryStrategy,
          maxRetriesPerRequest: null,
          socketTimeout: LISTENER_SILENCE_MS,
        },
        autorun: false,
        drainDelay: WAIT_S,
        lockDuration: LOCK_MS,
        stalledInterval: LOCK_MS,
        // Taking a bell is all there is to it, so a second death while doing that says nothing against the bell.
        maxStalledCount: 10,
      });
      return hear(worker, slots, answer, onError);
    },
    depth: () => ask(() => queue.getWaitingCount()),
    async probe() {
      const problems = unfit(await ask(() => client.info()));
      const { host, port } = client.options;
      if (problems.length > 0)
        throw new Error(
          `Redis at ${host}:${port} would lose bells. Change its settings: ${problems.join(', ')}.`,
        );
    },
    async close() {
      client.disconnect();
    },
  };
}

/** Takes bells with a worker of BullMQ, whose own loop would hold a bell as long as it is answered. */
function hear(
  worker: Worker,
  slots: number,
  answer: () => Promise<void>,
  onError: (error: Error) => void,
): Listener {
  const busy = new Set<Promise<void>>();
  const token = randomUUID();
  let stopping = false;
  let told = '';
  const tell = (error: Error) => {
    // An outage makes the same complaint many times.
    if (stopping || told === error.message) return;
    told = error.message;
    onError(new Unreachable('The queue', error));
  };
  worker.on('error', tell);
  worker.getBackend().on('ready', () => {
    told = '';
  });

  const take = async (job: Job) => {
    // Not waited for: should the server not hear of it, or too late, the bell merely rings again.
    job.moveToCompleted(null, token, false).catch(() => {});
    await answer();
  };
  const loop = async () => {
    while (!stopping) {
      if (busy.size >= slots) {
        await Promise.race(busy);
        continue;
      }
      try {
        const job: Job | undefined = await worker.getNextJob(token);
        if (job && stopping) await job.moveToWait(token);
        else if (job) {
          const taken = take(job)
            .catch(onError)
            .finally(() => busy.delete(taken));
          busy.add(taken);
        }
      } catch (error) {
        tell(error as Error);
        await sleep(retryStrategy(1));
      }
    }
  };
  void worker.startStalledCheckTimer();
  const looped = loop();
  return {
    async stop() {
      stopping = true;
      // Wakes the loop, unless the server is away: then there is nothing to take either.
      const woken = worker
        .getBackend()
        .disconnectBlocking(false)
        .then(() => looped);
      await Promise.all([...busy, Promise.race([woken.catch(() => {}), sleep(ANSWER_MS)])]);
      await worker.close(true);
    },
  };
}

/** What to set, from what the server says about itself: CONFIG is often forbidden on a hosted one. */
function unfit(info: string): string[] {
  const field = (name: string) => info.match(new RegExp(`^${name}:(.*?)\r?$`, 'm'))?.[1];
  const problems: string[] = [];
  if (field('maxmemory_policy') !== 'noeviction')
    problems.push(`maxmemory-policy noeviction (it is ${field('maxmemory_policy')})`);
  if (field('aof_enabled') !== '1') problems.push('appendonly yes (it is no)');
  return problems;
}
