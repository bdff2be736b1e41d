import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Unreachable } from '../../contract/unreachable.ts';
import type { Database, Sql } from '../../src/database/database.ts';
import { openPostgres } from '../../src/database/postgres.ts';
import { type Postgres, startPostgres } from '../services/postgres.ts';

describe('a Postgres server that goes away', () => {
  let server: Postgres;
  /** Has one connection: were it lost once, nothing would work any more. */
  let db: Database;
  beforeEach(async () => {
    server = await startPostgres();
    db = openPostgres(server.url, { connections: 1 });
    await db.script('create table purse (id text primary key, coins bigint); ');
    await db.script(`insert into purse values ('ann', 10), ('bob', 0)`);
  });
  afterEach(async () => {
    await db.close();
    await server.stop();
  });

  test('in the middle of a transaction leaves no trace of it, and is used again when it is back', async () => {
    const work = async (sql: Sql) => {
      await sql.query('update purse set coins = 0');
      await server.kill();
      await sql.query('select 1');
    };
    await expect(db.transaction(work)).rejects.toBeInstanceOf(Unreachable);
    await expect(db.query('select 1')).rejects.toBeInstanceOf(Unreachable);
    await server.restart();
    expect(await db.query(`select coins from purse where id = 'ann'`)).toEqual([{ coins: 10 }]);
  });

  test('while nobody asks does no harm', async () => {
    await server.restart();
    expect(await db.query('select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('by order of its operator is away, and not wrong', async () => {
    const ended = db.query('select pg_terminate_backend(pg_backend_pid())');
    await expect(ended).rejects.toBeInstanceOf(Unreachable);
    expect(await db.query('select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('without a word is given up in bounded time, and used again when it is back', async () => {
    const other = openPostgres(server.url);
    await server.pause();
    await Promise.all([
      expect(db.query('select 1')).rejects.toBeInstanceOf(Unreachable),
      expect(other.query('select 1')).rejects.toBeInstanceOf(Unreachable),
    ]);
    await server.resume();
    expect(await db.query('select 1 as one')).toEqual([{ one: 1 }]);
    await other.close();
  });

  test('gives up a statement that takes too long', async () => {
    expect(await db.query('show statement_timeout')).toEqual([{ statement_timeout: '10s' }]);
    const cancelled = db.query('select pg_cancel_backend(pg_backend_pid()), pg_sleep(60)');
    await expect(cancelled).rejects.toBeInstanceOf(Unreachable);
    expect(await db.query('select 1 as one')).toEqual([{ one: 1 }]);
  });

  test.each([
    ['nobody listens', () => 'postgres://postgres@127.0.0.1:1/postgres'],
    ['no such host', () => 'postgres://postgres@nowhere.invalid/postgres'],
    ['no such database', () => server.url.replace(/postgres$/, 'nothing')],
    ['no such user', () => server.url.replace('postgres@', 'nobody@')],
  ])('is away where there is none: %s', async (_, url) => {
    const none = openPostgres(url());
    await expect(none.query('select 1')).rejects.toBeInstanceOf(Unreachable);
    await expect(none.transaction(async () => 1)).rejects.toBeInstanceOf(Unreachable);
    await none.close();
  });

  test('undoes one of two transactions that wait for each other, and runs it again', async () => {
    const many = openPostgres(server.url);
    let started = 0;
    let bothStarted = () => {};
    const both = new Promise<void>((resolve) => {
      bothStarted = resolve;
    });
    const add = (sql: Sql, id: string) => sql.query('update purse set coins = coins + 1 where id = $1', [id]);
    const crossing = (first: string, second: string) =>
      many.transaction(async (sql) => {
        await add(sql, first);
        if (++started === 2) bothStarted();
        await both;
        await add(sql, second);
      });
    await Promise.all([crossing('ann', 'bob'), crossing('bob', 'ann')]);
    expect(started).toBe(3);
    expect(await many.query('select coins from purse order by id')).toEqual([{ coins: 12 }, { coins: 2 }]);
    await many.close();
  });
});
