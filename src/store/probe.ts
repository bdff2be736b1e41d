import { randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import type { ObjectStore } from './store.ts';

/** Throws what an operation throws, or an Error when what is read is not what was written. */
export async function probeStore(store: Omit<ObjectStore, 'probe'>, where: string): Promise<void> {
  const key = `probe/${randomUUID()}`;
  const written = Buffer.from(key);
  await store.put(key, written);
  try {
    // What was there first must stay.
    await store.put(key, Buffer.from('other bytes'));
    const stream = await store.get(key);
    if (stream === null || !written.equals(await buffer(stream))) {
      throw new Error(
        `${where} does not give back what was written to it. Choose another place for objects.`,
      );
    }
  } finally {
    await store.remove(key);
  }
}
