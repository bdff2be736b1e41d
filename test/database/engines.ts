import { join } from 'node:path';
import { PACKAGE } from '../../src/compose.ts';
import type { Database } from '../../src/database/database.ts';
import { migrate } from '../../src/database/migrate.ts';
import { openPglite } from '../../src/database/pglite.ts';
import { openPostgres } from '../../src/database/postgres.ts';
import { startPostgres } from '../services/postgres.ts';

export const MIGRATIONS = join(PACKAGE, 'src', 'database', 'migrations');
export const engines = ['postgres', 'pglite'] as const;
export type Engine = (typeof engines)[number];

/** A database of its own with the schema in it, and what ends it. `connections`: of Postgres. */
export async function startEngine(
  engine: Engine,
  connections = 10,
): Promise<{ db: Database; stop(): Promise<void> }> {
  const server = engine === 'postgres' ? await startPostgres() : null;
  const db = server === null ? await openPglite(null) : openPostgres(server.url, { connections });
  await migrate(db, MIGRATIONS);
  return {
    db,
    async stop() {
      await db.close();
      await server?.stop();
    },
  };
}
