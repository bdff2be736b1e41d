import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import type { ObjectStore } from '../store/store.ts';

/** The bytes of an object, which match their sha256. Throws a fault otherwise. */
export async function fetchObject(store: ObjectStore, key: string, sha256: string): Promise<Buffer> {
  const stream = await store.get(key);
  if (stream === null) throw new Error(`the object ${key} is not in the store any more`);
  const bytes = await buffer(stream);
  const found = createHash('sha256').update(bytes).digest('hex');
  if (found !== sha256)
    throw new Error(`the object ${key} is damaged: its sha256 is ${found}, not ${sha256}`);
  return bytes;
}
