import { join } from 'node:path';
import { PGlite, type Transaction, types } from '@electric-sql/pglite';
import type { Database, Row, Sql } from './database.ts';
import { failure, retried, told, unbroken } from './failure.ts';
import { lockFolder } from './lock.ts';

/**
 * Postgres inside this process. Statements run one after another; a transaction keeps everything else waiting. `folder`:
 * where it keeps its data, null: in memory. Throws an Error when another process uses the folder.
 */
export async function openPglite(folder: string | null): Promise<Database> {
  const unlock = folder === null ? null : await lockFolder(folder);
  const engine = await start(folder).catch(async (error) => {
    await unlock?.();
    throw error;
  });

  let closing: Promise<void> | null = null;
  return {
    kind: 'pglite',
    ...speaking(engine),
    transaction: (work) => retried(() => transaction(engine, work)),
    close: () => (closing ??= engine.close().finally(() => unlock?.())),
  };
}

async function start(folder: string | null): Promise<PGlite> {
  const dataDir = folder === null ? 'memory://' : join(folder, 'data');
  return PGlite.create({ dataDir, parsers: { [types.INT8]: Number, [types.NUMERIC]: Number } });
}

async function transaction<T>(engine: PGlite, work: (sql: Sql) => Promise<T>): Promise<T> {
  let own: unknown;
  try {
    return await engine.transaction((inner) =>
      unbroken(speaking(inner), work).catch((error) => {
        own = error;
        throw error;
      }),
    );
  } catch (error) {
    throw error === own ? error : failure(error);
  }
}

const speaking = (engine: PGlite | Transaction): Sql => ({
  async query<R extends Row>(text: string, parameters: readonly unknown[] = []): Promise<R[]> {
    return (await told(engine.query<R>(text, [...parameters]))).rows;
  },
  async script(text) {
    await told(engine.exec(text));
  },
});
