import type { Archive } from '../archive/catalogue.ts';
import { openArchive, openDatabase, openQueue, openStore } from '../compose.ts';
import type { Config } from '../config.ts';
import type { Database } from '../database/database.ts';
import type { RunQueue } from '../queue/queue.ts';
import type { ObjectStore } from '../store/store.ts';

/** What a service stands on. */
export interface Parts {
  readonly db: Database;
  readonly queue: RunQueue;
  readonly store: ObjectStore;
  readonly archive: Archive;
}

/** Each part is opened when it is first asked for, and again after that failed. */
export interface Opening {
  get<K extends keyof Parts>(name: K): Promise<Parts[K]>;
  all(): Promise<Parts>;
  close(): Promise<void>;
}

export function openParts(config: Config): Opening {
  const ways: { readonly [K in keyof Parts]: () => Promise<Parts[K]> } = {
    db: () => openDatabase(config),
    queue: () => openQueue(config),
    store: () => openStore(config),
    async archive() {
      if (config.archive === null)
        throw new Error('BACKTEST_ARCHIVE is not set. Name the archive of recorded ticks.');
      return openArchive(config.archive);
    },
  };
  const opened: { [K in keyof Parts]?: Promise<Parts[K]> } = {};
  const get = <K extends keyof Parts>(name: K): Promise<Parts[K]> => {
    const known = opened[name] as Promise<Parts[K]> | undefined;
    if (known) return known;
    const opening = ways[name]();
    (opened as Record<string, unknown>)[name] = opening;
    opening.catch(() => {
      delete opened[name];
    });
    return opening;
  };
  return {
    get,
    async all() {
      const [db, queue, store, archive] = await Promise.all([
        get('db'),
        get('queue'),
        get('store'),
        get('archive'),
      ]);
      return { db, queue, store, archive };
    },
    async close() {
      const left = [opened.queue, opened.store, opened.db];
      await Promise.all(left.map(async (part) => (await part?.catch(() => null))?.close()));
    },
  };
}
