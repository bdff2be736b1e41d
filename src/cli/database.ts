import { openDatabase } from '../compose.ts';
import { readConfig } from '../config.ts';
import type { Database } from '../database/database.ts';

/** Opens the database for one command, and closes it after. */
export async function withDatabase<T>(work: (db: Database) => Promise<T>): Promise<T> {
  const db = await openDatabase(readConfig());
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}
