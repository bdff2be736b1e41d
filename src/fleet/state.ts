import type { RunStatus } from '../../contract/index.ts';
import type { Row, Sql } from '../database/database.ts';

/** From where a run may come to each status. Whatever is not here is refused. */
const comesFrom: Readonly<Record<RunStatus, readonly RunStatus[]>> = {
  queued: [],
  // By the claim of its first task.
  staging: ['queued'],
  // By the first tick of a shard.
  running: ['staging'],
  // By the assembly: only it has an archive to show.
  done: ['staging', 'running'],
  // By strategy failures in all cells, by too many faults, or because nobody worked at it for too long.
  failed: ['queued', 'staging', 'running'],
};

/** Moves a run on and sets `columns`. False, and nothing changes, where its status does not allow that. */
export async function move(sql: Sql, run: string, to: RunStatus, columns: Row = {}): Promise<boolean> {
  const names = Object.keys(columns);
  const sets = names.map((name, at) => `, ${name} = $${at + 4}`).join('');
  const moved = await sql.query(
    `update run set status = $2${sets} where id = $1 and status = any ($3::text[]) returning id`,
    [run, to, comesFrom[to], ...Object.values(columns)],
  );
  return moved.length > 0;
}
