import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until `holds` answers something, and returns that. Throws after a minute: `what` is what did not come true. */
export async function until<T>(
  what: string,
  holds: () => T | Promise<T>,
  { every_ms = 20, most_ms = 60_000 } = {},
): Promise<NonNullable<T>> {
  const end = performance.now() + most_ms;
  for (;;) {
    const found = await holds();
    if (found) return found;
    if (performance.now() > end) throw new Error(`waited ${most_ms / 1000} s in vain until ${what}`);
    await sleep(every_ms);
  }
}
