import pg from 'pg';
import { until } from './until.ts';

/** A place in the database where whoever comes by waits: a worker is killed there, and then the place is opened. */
export interface Gate {
  /** Resolves when somebody waits. */
  reached(): Promise<void>;
  /** Lets everybody pass from now on. */
  open(): Promise<void>;
}

/** Keeps transactions that did something to `task` or `run` inside of their COMMIT. `when`: SQL over `new` (and `old`). */
export async function commitGate(
  url: string,
  on: 'insert on task' | 'update on task' | 'update on run',
  when: string,
): Promise<Gate> {
  return gate(
    url,
    [
      `create or replace function wait_at_gate() returns trigger language plpgsql as $$
     begin perform pg_advisory_xact_lock_shared(77); return null; end $$`,
      'select pg_advisory_lock(77)',
      `create constraint trigger gate after ${on} deferrable initially deferred
     for each row when (${when}) execute function wait_at_gate()`,
    ],
    `drop trigger gate on ${on.split(' ').at(-1)}`,
  );
}

/** Keeps the end of a task inside of its first statement: whoever dies there has changed nothing. */
export const endGate = (url: string, kind: 'shard' | 'assembly'): Promise<Gate> =>
  gate(
    url,
    [
      `create or replace function wait_before_end() returns trigger language plpgsql as $$
     begin perform pg_advisory_xact_lock_shared(78); return new; end $$`,
      'select pg_advisory_lock(78)',
      `create trigger gate before update on task for each row
     when (new.kind = '${kind}' and new.status = 'done') execute function wait_before_end()`,
    ],
    'drop trigger gate on task',
  );

/** Keeps whoever wants to end a task of the run: they lock it first. */
export const runGate = (url: string, run: string): Promise<Gate> =>
  gate(url, ['begin', `select id from run where id = '${run}' for update`], null);

async function gate(url: string, close: readonly string[], cleanup: string | null): Promise<Gate> {
  const client = await connect(url);
  for (const text of close) await client.query(text);
  const { rows } = await client.query('select pg_backend_pid() as pid');
  const watcher = await connect(url);
  return {
    async reached() {
      await until('somebody waits at the gate', async () => {
        const waiting = await watcher.query(
          'select pid from pg_stat_activity where $1 = any (pg_blocking_pids(pid))',
          [rows[0].pid],
        );
        return waiting.rows.length > 0;
      });
    },
    async open() {
      // Ends its locks too.
      await client.end();
      if (cleanup) await watcher.query(cleanup);
      await watcher.end();
    },
  };
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client(url);
  // The server is killed now and then.
  client.on('error', () => {});
  await client.connect();
  return client;
}
