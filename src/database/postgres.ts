import pg from 'pg';
import { Unreachable } from '../../contract/unreachable.ts';
import type { Database, Row, Sql } from './database.ts';
import { retried, told, unbroken } from './failure.ts';

const CONNECT_MS = 3_000;
const STATEMENT_MS = 10_000;
/** For an answer that the network swallows. Later than the server's own limit, which leaves the connection usable. */
const ANSWER_MS = STATEMENT_MS + 2_000;
const SCRIPT_MS = 600_000;

const { INT8, NUMERIC } = pg.types.builtins;

/**
 * A Postgres server, by its `postgres://` address. Connects when it is first asked something. `connections`: how many at
 * once; who finds none free within 3 s is told `Unreachable`.
 */
export function openPostgres(url: string, { connections = 10 }: { connections?: number } = {}): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: CONNECT_MS,
    statement_timeout: STATEMENT_MS,
    query_timeout: ANSWER_MS,
    // Whose process stands still, or whose network is gone, must not keep rows locked.
    idle_in_transaction_session_timeout: STATEMENT_MS,
    keepAlive: true,
    application_name: 'backtest-fleet',
    types: { getTypeParser },
  });
  // A connection that breaks while idle leaves the pool by itself; one in use fails the statement that runs on it.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));

  const running = new Set<Promise<unknown>>();
  let closing: Promise<void> | null = null;
  const borrow = <T>(work: (sql: Sql) => Promise<T>): Promise<T> => {
    if (closing !== null) return Promise.reject(new Unreachable('the database', new Error('it was closed')));
    const run = borrowing(pool, work).finally(() => running.delete(run));
    running.add(run);
    return run;
  };
  return {
    kind: 'postgres',
    query: (text, parameters) => borrow((sql) => sql.query(text, parameters)),
    script: (text) => borrow((sql) => sql.script(text)),
    transaction: (work) => retried(() => borrow((sql) => transaction(sql, work))),
    // The pool would forget those who still wait for a connection.
    close: () => (closing ??= Promise.allSettled(running).then(() => pool.end())),
  };
}

/** Lends a connection, and takes back only one that is fit for the next. */
async function borrowing<T>(pool: pg.Pool, work: (sql: Sql) => Promise<T>): Promise<T> {
  const client = await pool.connect().catch((error) => {
    // Whatever the server says to somebody who is not even in, it is about the server.
    throw new Unreachable('the database', error);
  });
  let fit = true;
  try {
    return await work(speaking(client));
  } catch (error) {
    fit = !(error instanceof Unreachable);
    throw error;
  } finally {
    client.release(!fit || client.getTransactionStatus() !== 'I');
  }
}

const speaking = (client: pg.PoolClient): Sql => ({
  async query<R extends Row>(text: string, parameters: readonly unknown[] = []): Promise<R[]> {
    return (await told(client.query<R>(text, [...parameters]))).rows;
  },
  async script(text) {
    const unhurried = `set local statement_timeout = ${SCRIPT_MS};${text}`;
    await told(client.query({ text: unhurried, query_timeout: ANSWER_MS + SCRIPT_MS } as pg.QueryConfig));
  },
});

async function transaction<T>(sql: Sql, work: (sql: Sql) => Promise<T>): Promise<T> {
  await sql.query('begin');
  try {
    const result = await unbroken(sql, work);
    await sql.query('commit');
    return result;
  } catch (error) {
    // What went wrong first is what counts; a connection that cannot even do this is thrown away.
    await sql.query('rollback').catch(() => {});
    throw error;
  }
}

function getTypeParser(type: number, format?: 'text' | 'binary') {
  return type === INT8 || type === NUMERIC ? Number : pg.types.getTypeParser(type, format as 'text');
}
