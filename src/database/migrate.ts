import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database, Sql } from './database.ts';

/** Any number, the same in every version of this program. */
const LOCK = 7_214_301;

/**
 * Brings the schema up to what the `.sql` files of `folder` say: each runs once, in the order of their names, in a
 * transaction of its own. Any number of processes may do this at once. Throws an Error when a file that ran here has
 * changed since.
 */
export async function migrate(db: Database, folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  for (const name of names) {
    const text = await readFile(join(folder, name), 'utf8');
    await db.transaction((sql) => apply(sql, name, text));
  }
}

async function apply(sql: Sql, name: string, text: string): Promise<void> {
  // A script, because it may wait long for another process that migrates.
  await sql.script(`select pg_advisory_xact_lock(${LOCK})`);
  await sql.script(
    'create table if not exists migration (name text primary key, sha256 text not null, applied_ms bigint not null)',
  );
  const sha256 = createHash('sha256').update(text).digest('hex');
  const [before] = await sql.query<{ sha256: string }>('select sha256 from migration where name = $1', [
    name,
  ]);
  if (before === undefined) {
    await sql.script(text);
    await sql.query(
      'insert into migration values ($1, $2, floor(extract(epoch from clock_timestamp()) * 1000)::bigint)',
      [name, sha256],
    );
  } else if (before.sha256 !== sha256) {
    throw new Error(
      `${name} has changed since this database was made with it. Put it back as it was, and write what is new into a file with the next number.`,
    );
  }
}
