import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Database, Sql } from '../../src/database/database.ts';
import { violations } from '../../src/ledger/invariants.ts';
import { engines, startEngine } from '../database/engines.ts';
import { take } from './book.ts';

const transfer = (values: string) =>
  `insert into transfer (id, kind, customer, amount, run, ends, held) values (${values})`;

// What somebody with a database prompt, or a mistake in our code, may try; and the rule that stands in the way. Ann has 70
// credits left, 20 on hold for run a; run b was settled with 10.
const attempts: [attempt: string, sql: string, rule: string][] = [
  ['change a transfer', `update transfer set amount = 1 where id = 'pay'`, 'transfer_append_only'],
  ['delete a transfer', `delete from transfer where id = 'a:hold'`, 'transfer_append_only'],
  ['empty the journal', 'truncate transfer cascade', 'transfer_append_only'],
  ['change a posting', `update posting set amount = 1 where transfer = 'pay'`, 'posting_append_only'],
  ['delete a posting', `delete from posting where transfer = 'pay'`, 'posting_append_only'],
  ['empty the postings', 'truncate posting', 'posting_append_only'],
  ['post by hand', `insert into posting values ('pay', 'revenue', 5)`, 'posting_by_transfer'],
  [
    'set a balance by hand',
    `update customer set balance = 1000 where id = 'ann'`,
    'customer_balance_by_transfer',
  ],
  [
    'start with a balance',
    `insert into customer (id, name, balance) values ('z', 'z', 5)`,
    'customer_starts_at_nothing',
  ],
  ['settle a hold twice', transfer(`'b:settle', 'settle', 'ann', 5, 'b', 'b:hold', 10`), 'transfer_pkey'],
  [
    'release what was settled',
    transfer(`'b:release', 'release', 'ann', 0, 'b', 'b:hold', 10`),
    'transfer_ends',
  ],
  [
    'charge more than was held',
    transfer(`'a:settle', 'settle', 'ann', 21, 'a', 'a:hold', 20`),
    'transfer_within_hold',
  ],
  [
    'charge more by a bigger hold',
    transfer(`'a:settle', 'settle', 'ann', 21, 'a', 'a:hold', 21`),
    'transfer_ends_hold',
  ],
  [
    "release another's hold",
    transfer(`'a:release', 'release', 'bob', 0, 'a', 'a:hold', 20`),
    'transfer_ends_hold',
  ],
  [
    "release another run's hold",
    transfer(`'c:release', 'release', 'ann', 0, 'c', 'a:hold', 20`),
    'transfer_ends_hold',
  ],
  ['release a grant', transfer(`'a:release', 'release', 'ann', 0, 'a', 'pay', 100`), 'transfer_ends_hold'],
  [
    'release for a charge',
    transfer(`'a:release', 'release', 'ann', 5, 'a', 'a:hold', 20`),
    'transfer_release_is_free',
  ],
  [
    'settle without a hold',
    transfer(`'c:settle', 'settle', 'ann', 5, 'c', null, null`),
    'transfer_end_is_whole',
  ],
  [
    'settle a hold of nobody knows what',
    transfer(`'a:settle', 'settle', 'ann', 5, 'a', 'a:hold', null`),
    'transfer_end_is_whole',
  ],
  [
    'end a hold by a grant',
    transfer(`'gift', 'grant', 'ann', 5, null, 'a:hold', null`),
    'transfer_end_is_whole',
  ],
  ['hold twice for a run', transfer(`'a:hold-2', 'hold', 'ann', 5, 'a', null, null`), 'transfer_id'],
  ['hold for no run', transfer(`'c:hold', 'hold', 'ann', 5, null, null, null`), 'transfer_has_run'],
  ['hold more than there is', transfer(`'c:hold', 'hold', 'ann', 71, 'c', null, null`), 'customer_balance'],
  ['grant less than nothing', transfer(`'gift', 'grant', 'ann', -5, null, null, null`), 'transfer_amount'],
  ['grant to nobody', transfer(`'gift', 'grant', 'zed', 5, null, null, null`), 'transfer_customer_fkey'],
  ['delete a customer', `delete from customer where id = 'ann'`, 'transfer_customer_fkey'],
];

// With every rule of the schema out of the way: what is broken, and what the audit says.
const damages: [damage: string, sql: string, says: string][] = [
  [
    'a balance that grew',
    `update customer set balance = 75 where id = 'ann'`,
    'customer ann has a balance of 75, but postings of 70',
  ],
  [
    'a balance below nothing',
    `update customer set balance = -1 where id = 'ann'`,
    'customer ann has a balance of -1',
  ],
  [
    'a posting that is gone',
    `delete from posting where transfer = 'a:hold' and account = 'holds'`,
    'transfer a:hold posts 0 to holds instead of 20',
  ],
  [
    'a posting that is wrong',
    `update posting set amount = -19 where transfer = 'a:hold' and account = 'ann'`,
    'the postings of transfer a:hold add up to 1',
  ],
  ['credits from nowhere', `insert into posting values ('x', 'ann', 1)`, 'all postings together add up to 1'],
  ['a second end', transfer(`'b:release', 'release', 'ann', 0, 'b', 'b:hold', 10`), 'hold b:hold has 2 ends'],
  [
    'a charge beyond the hold',
    transfer(`'a:settle', 'settle', 'ann', 21, 'a', 'a:hold', 20`),
    'a:settle charges 21 of hold a:hold, which is of 20',
  ],
  [
    'an end by another customer',
    transfer(`'a:settle', 'settle', 'bob', 20, 'a', 'a:hold', 20`),
    'a:settle charges 20 of hold a:hold, which is of 20',
  ],
  [
    'an end that was not posted',
    transfer(`'a:release', 'release', 'ann', 0, 'a', 'a:hold', 20`),
    '20 credits are on hold, but open holds are of 0',
  ],
  [
    'a run that is done and not settled',
    `update run set status = 'done', credits_spent = 20 where id = 'a'`,
    'run a is done with 20 credits held and 20 spent, but its hold of 20 has the end: none',
  ],
  [
    'a run that failed and is not released',
    `update run set status = 'failed', credits_spent = 0 where id = 'a'`,
    'run a is failed with 20 credits held and 0 spent, but its hold of 20 has the end: none',
  ],
  [
    'a run that spent something else',
    `update run set credits_spent = 9 where id = 'b'`,
    'run b is done with 10 credits held and 9 spent, but its hold of 10 has the end: settle 10',
  ],
  [
    'a run that failed and was settled',
    `update run set status = 'failed', credits_spent = 0 where id = 'b'`,
    'run b is failed with 10 credits held and 0 spent, but its hold of 10 has the end: settle 10',
  ],
  [
    'an open run whose hold ended',
    `update run set status = 'running' where id = 'b'`,
    'run b is running with 10 credits held and 10 spent, but its hold of 10 has the end: settle 10',
  ],
  [
    'a run that held something else',
    `update run set credits_held = 21 where id = 'a'`,
    'run a is queued with 21 credits held and none spent, but its hold of 20 has the end: none',
  ],
  [
    'a run without a hold',
    `update run set id = 'z' where id = 'a'`,
    'run z is queued with 20 credits held and none spent, but its hold of nothing has the end: none',
  ],
  ['a hold without a run', `delete from run where id = 'a'`, 'hold a:hold is of no run'],
  [
    'work for a run that is over',
    `insert into task (run, number, kind, customer, cell) values ('b', 0, 'shard', 'ann', 0)`,
    'task b.0 is queued, but its run is done',
  ],
];

describe.each(engines)('on %s', (engine) => {
  let db: Database;
  let stop: () => Promise<void>;
  beforeAll(async () => {
    ({ db, stop } = await startEngine(engine));
    await db.script(`insert into customer (id, name) values ('ann', 'Ann'), ('bob', 'Bob')`);
    await take(db, 'ann', { kind: 'grant', of: 'pay', amount: 100 });
    await take(db, 'ann', { kind: 'hold', of: 'a', amount: 20 });
    await take(db, 'ann', { kind: 'hold', of: 'b', amount: 10 });
    await take(db, 'ann', { kind: 'settle', of: 'b', amount: 10 });
  });
  afterAll(() => stop());
  afterEach(async () => {
    expect(await violations(db)).toEqual([]);
  });

  test.each(attempts)('the schema lets nobody %s', async (_, sql, rule) => {
    await expect(db.query(sql)).rejects.toMatchObject({ name: 'SqlError', constraint: rule });
  });

  test.each(damages)('the audit tells of %s', async (_, sql, says) => {
    const undo = new Error('undo');
    let told: string[] = [];
    const broken = db.transaction(async (inside) => {
      await withoutRules(inside);
      await inside.query(sql);
      told = await violations(inside);
      throw undo;
    });
    await expect(broken).rejects.toBe(undo);
    expect(told.join('\n')).toContain(says);
  });
});

async function withoutRules(sql: Sql): Promise<void> {
  const rules = await sql.query<{ owner: string; rule: string }>(
    `select conrelid::regclass::text as owner, conname as rule from pg_constraint
     where connamespace = 'public'::regnamespace and conname in
       ('customer_balance', 'transfer_ends', 'transfer_within_hold', 'run_end_is_whole', 'run_end_is_settled',
        'run_done_has_archive')`,
  );
  const drops = rules.map(({ owner, rule }) => `alter table ${owner} drop constraint ${rule};`);
  await sql.script(`${drops.join('')} set local session_replication_role = replica;`);
}
