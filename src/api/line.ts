import { tooMany } from './auth.ts';
import { BUSY, Refusal } from './errors.ts';

/** Lets a request of so many bytes in until it is answered. Throws a Refusal: 429 or 503 where there is no room. */
export type Door = (client: string, answered: AbortSignal, bytes: number) => void;

/** For requests with large bodies, from their headers on: `all` bytes at once, and `each` of one client. */
export function doorFor(all: number, each: number): Door {
  const inside = new Map<string, number>();
  let total = 0;
  const count = (client: string, bytes: number) => {
    total += bytes;
    const now = (inside.get(client) ?? 0) + bytes;
    if (now === 0) inside.delete(client);
    else inside.set(client, now);
  };
  return (client, answered, bytes) => {
    if ((inside.get(client) ?? 0) + bytes > each) throw tooMany(1);
    if (total + bytes > all) throw new Refusal(503, BUSY);
    count(client, bytes);
    answered.addEventListener('abort', () => count(client, -bytes), { once: true });
  };
}

/** Runs work when its turn comes; refuses it with 503 where too much waits or `signal` ends before it began. */
export type Line = <T>(client: string, signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

/**
 * A waiting line for work that costs much: `slots` at once and `room` in wait. Clients take turns, and none has the last
 * slot to itself: whoever sends a hundred slow submissions delays his own.
 */
export function waitingLine(slots: number, room: number): Line {
  const waiting = new Map<string, (() => void)[]>();
  const working = new Map<string, number>();
  let [busy, length] = [0, 0];

  const next = () => {
    for (const [client, turns] of waiting) {
      if (busy >= slots) return;
      if ((working.get(client) ?? 0) >= Math.max(1, slots - 1)) continue;
      const turn = turns.shift()!;
      length--;
      // To the end of the circle.
      waiting.delete(client);
      if (turns.length > 0) waiting.set(client, turns);
      count(client, 1);
      turn();
    }
  };
  const count = (client: string, by: 1 | -1) => {
    busy += by;
    const now = (working.get(client) ?? 0) + by;
    if (now === 0) working.delete(client);
    else working.set(client, now);
  };

  return async (client, signal, work) => {
    if (length >= room) throw new Refusal(503, BUSY);
    await new Promise<void>((turn) => {
      length++;
      waiting.set(client, [...(waiting.get(client) ?? []), turn]);
      next();
    });
    try {
      // Nobody waits for the answer any more.
      if (signal.aborted) throw new Refusal(503, BUSY);
      return await work();
    } finally {
      count(client, -1);
      next();
    }
  };
}
