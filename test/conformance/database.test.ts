import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Unreachable } from '../../contract/unreachable.ts';
import { type Database, type Sql, SqlError } from '../../src/database/database.ts';
import { engines, startEngine } from '../database/engines.ts';

describe.each(engines)('a %s database', (engine) => {
  let db: Database;
  let stop: () => Promise<void>;
  beforeAll(async () => {
    ({ db, stop } = await startEngine(engine));
    await db.script(`create table purse (
      id text primary key, coins bigint not null constraint not_in_debt check (coins >= 0))`);
  });
  afterAll(() => stop());
  beforeEach(async () => {
    await db.script(`delete from purse; insert into purse values ('ann', 10), ('bob', 0)`);
  });

  const coins = async (id: string) =>
    (await db.query<{ coins: number }>('select coins from purse where id = $1', [id]))[0]?.coins;
  const add = (sql: Sql, id: string, amount: number) =>
    sql.query('update purse set coins = coins + $2 where id = $1', [id, amount]);
  const fail = (sql: Sql, code: string) =>
    sql.script(`do $$ begin raise exception 'made up' using errcode = '${code}'; end $$`);

  test('commits a transaction whose work returns, and answers what it returned', async () => {
    const answer = await db.transaction(async (sql) => {
      await add(sql, 'ann', -4);
      await add(sql, 'bob', 4);
      return 'moved';
    });
    expect(answer).toBe('moved');
    expect([await coins('ann'), await coins('bob')]).toEqual([6, 4]);
  });

  test('undoes a transaction whose work throws, and throws the same', async () => {
    const mine = new Error('changed my mind');
    const work = async (sql: Sql) => {
      await add(sql, 'ann', -4);
      throw mine;
    };
    await expect(db.transaction(work)).rejects.toBe(mine);
    expect(await coins('ann')).toBe(10);
  });

  test('names the code and the rule that a refused statement breaks', async () => {
    const debt = add(db, 'bob', -1);
    await expect(debt).rejects.toBeInstanceOf(SqlError);
    await expect(debt).rejects.toMatchObject({ code: '23514', constraint: 'not_in_debt' });
    const twice = db.transaction((sql) => sql.query(`insert into purse values ('ann', 1)`));
    await expect(twice).rejects.toMatchObject({ name: 'SqlError', code: '23505', constraint: 'purse_pkey' });
    await expect(db.query('selec 1')).rejects.toMatchObject({ code: '42601', constraint: null });
  });

  test('commits nothing after a statement failed, even if the work looked away', async () => {
    const work = async (sql: Sql) => {
      await add(sql, 'ann', 1);
      await add(sql, 'bob', -1).catch(() => {});
      return 'all is well';
    };
    await expect(db.transaction(work)).rejects.toMatchObject({ constraint: 'not_in_debt' });
    expect(await coins('ann')).toBe(10);
  });

  test.each(['40001', '40P01'])('runs a transaction again that met %s, from its start', async (code) => {
    let attempts = 0;
    await db.transaction(async (sql) => {
      await add(sql, 'ann', 1);
      if (++attempts < 3) await fail(sql, code);
    });
    expect(attempts).toBe(3);
    expect(await coins('ann')).toBe(11);
  });

  test('gives up a transaction that meets nothing but conflicts', async () => {
    await expect(db.transaction((sql) => fail(sql, '40001'))).rejects.toMatchObject({ code: '40001' });
    expect(await coins('ann')).toBe(10);
  });

  test('keeps count when many transactions change one row at once', async () => {
    const one = async (sql: Sql) => {
      const [row] = await sql.query<{ coins: number }>(`select coins from purse where id = 'bob' for update`);
      await sql.query(`update purse set coins = $1 where id = 'bob'`, [row!.coins + 1]);
    };
    await Promise.all(Array.from({ length: 40 }, () => db.transaction(one)));
    expect(await coins('bob')).toBe(40);
  });

  test('answers integers as numbers, json as values, and nothing as null', async () => {
    const [row] = await db.query(
      `select 9007199254740991::bigint as big, count(*) as count, sum(coins) as sum, null::bigint as nothing,
         $1::jsonb as list, $2::jsonb as object, $3::text[] as texts, true as flag, 0.5::real as half, $4::text as gone
       from purse`,
      [JSON.stringify(['BTC']), JSON.stringify({ a: [1, null] }), ['x', 'y, "z"'], null],
    );
    expect(row).toEqual({
      big: 9007199254740991,
      count: 2,
      sum: 10,
      nothing: null,
      list: ['BTC'],
      object: { a: [1, null] },
      texts: ['x', 'y, "z"'],
      flag: true,
      half: 0.5,
      gone: null,
    });
    expect(await db.query('select id from purse where id = any($1) order by id', [['bob', 'ann']])).toEqual([
      { id: 'ann' },
      { id: 'bob' },
    ]);
  });

  test('runs a script whole or not at all', async () => {
    const script = db.script(`insert into purse values ('cid', 1); insert into purse values ('ann', 1);`);
    await expect(script).rejects.toMatchObject({ code: '23505' });
    expect(await coins('cid')).toBeUndefined();
  });

  test('answers what it was asked before it was closed, and nothing after', async () => {
    const other = await startEngine(engine);
    const last = Array.from({ length: 20 }, () =>
      other.db.transaction(async (sql) => {
        await sql.query(`select nextval('turn')`);
        return sql.query('select 1 as one');
      }),
    );
    await Promise.all([other.db.close(), other.db.close()]);
    expect(await Promise.all(last)).toEqual(Array(20).fill([{ one: 1 }]));
    await expect(other.db.query('select 1')).rejects.toBeInstanceOf(Unreachable);
    await expect(other.db.script('select 1')).rejects.toBeInstanceOf(Unreachable);
    await expect(other.db.transaction(async () => 1)).rejects.toBeInstanceOf(Unreachable);
    await other.stop();
  });
});
