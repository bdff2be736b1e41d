import { setTimeout as sleep } from 'node:timers/promises';
import { end, type Hand } from '../chaos/crew.ts';
import type { Ground } from '../chaos/ground.ts';
import { pick, random } from './random.ts';

// No box is killed: a strategy can do that to itself, and nobody could tell the difference.
const DEEDS = [
  'kill a worker',
  'kill a worker',
  'freeze a worker',
  'freeze a worker',
  'kill a replayer',
  'stop a worker',
  'empty the queue',
  'kill the queue',
  'freeze the queue',
  'kill the database',
  'freeze the database',
  'ring without end',
] as const;
export type Deed = (typeof DEEDS)[number];

export interface Plan {
  readonly deed: Deed;
  readonly after_ms: number;
  readonly for_ms: number;
  /** Which worker, from 0 up to 1. */
  readonly whom: number;
}

/** What is done to a fleet and when, without end: the same for the same seed. */
export function* schedule(seed: number): Generator<Plan, never> {
  const draw = random(seed);
  for (;;) {
    // Longer than a lease, often.
    yield {
      deed: pick(draw, DEEDS),
      after_ms: 300 + draw() * 2_200,
      for_ms: 500 + draw() * 2_500,
      whom: draw(),
    };
  }
}

/** Does what the schedule says until it is called off, and brings back what it took down. `crew` is kept as it is in number. */
export async function wreak(
  ground: Ground,
  crew: Hand[],
  plans: Generator<Plan, never>,
  off: AbortSignal,
  tell: (plan: Plan) => void,
): Promise<void> {
  const coming: Promise<void>[] = [];
  // Nobody waits for it: more happens while a worker starts.
  const replace = (at: number): void => {
    const hand = ground.worker().then((next) => {
      crew[at] = next;
    });
    hand.catch(() => {});
    coming.push(hand);
  };
  while (!off.aborted) {
    const plan = plans.next().value;
    await sleep(plan.after_ms, undefined, { signal: off }).catch(() => {});
    if (off.aborted) break;
    tell(plan);
    await commit(ground, crew, plan, replace);
  }
  await Promise.all(coming);
}

async function commit(
  { redis, postgres, queue }: Ground,
  crew: readonly Hand[],
  { deed, for_ms, whom }: Plan,
  replace: (at: number) => void,
): Promise<void> {
  const at = Math.floor(whom * crew.length);
  const hand = crew[at]!;
  if (!hand.running && deed.endsWith(' worker')) return;
  switch (deed) {
    case 'kill a worker':
      await hand.kill();
      return replace(at);
    case 'stop a worker':
      await hand.drain();
      return replace(at);
    case 'freeze a worker':
      hand.pause();
      await sleep(for_ms);
      return hand.resume();
    case 'kill a replayer':
      return hand.replayers().forEach(end);
    case 'empty the queue':
      return redis.flush();
    case 'kill the queue':
      await redis.kill();
      await sleep(for_ms);
      return redis.restart();
    case 'freeze the queue':
      await redis.pause();
      await sleep(for_ms);
      return redis.resume();
    case 'kill the database':
      await postgres.kill();
      await sleep(for_ms);
      return postgres.restart();
    case 'freeze the database':
      await postgres.pause();
      await sleep(for_ms);
      return postgres.resume();
    case 'ring without end':
      return queue.ring(Array.from({ length: 50 }, (_, number) => `run_nobody.${number}.${whom}`));
  }
}
