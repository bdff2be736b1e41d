import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { migrate } from '../../src/database/migrate.ts';
import { openPostgres } from '../../src/database/postgres.ts';
import { type Postgres, startPostgres } from '../services/postgres.ts';

let server: Postgres;
let db: Database;
let folder: string;
beforeAll(async () => {
  server = await startPostgres();
  db = openPostgres(server.url);
});
afterAll(async () => {
  await db.close();
  await server.stop();
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'migrate-'));
  await db.script('drop schema public cascade; create schema public');
  await write('0001-first.sql', 'create table purse (id text); create sequence turn;');
  await write('0002-second.sql', "insert into purse values ('ann'); select nextval('turn');");
  await write('README.md', 'not a migration');
});
afterEach(() => rm(folder, { recursive: true }));

const write = (name: string, text: string) => writeFile(join(folder, name), text);
const applied = async () =>
  (await db.query<{ name: string }>('select name from migration order by applied_ms, name')).map(
    ({ name }) => name,
  );

test('each file runs once, in order, also where only later ones are new', async () => {
  await migrate(db, folder);
  await write('0003-third.sql', "insert into purse values ('bob')");
  await migrate(db, folder);
  await migrate(db, folder);
  expect(await applied()).toEqual(['0001-first.sql', '0002-second.sql', '0003-third.sql']);
  expect(await db.query('select id from purse')).toEqual([{ id: 'ann' }, { id: 'bob' }]);
});

test('many processes that start at once run each file once', async () => {
  const starting = Array.from({ length: 8 }, () => openPostgres(server.url));
  await Promise.all(starting.map((one) => migrate(one, folder)));
  expect(await db.query("select id, nextval('turn') as turn from purse")).toEqual([{ id: 'ann', turn: 2 }]);
  await Promise.all(starting.map((one) => one.close()));
});

test('a file that changed after it ran is refused, by its name', async () => {
  await migrate(db, folder);
  await write('0001-first.sql', 'create table purse (id text, coins bigint);');
  await expect(migrate(db, folder)).rejects.toThrow('0001-first.sql has changed since');
});

test('a file that fails changes nothing, and those before it stand', async () => {
  await write('0003-broken.sql', "insert into purse values ('bob'); select 1/0;");
  await expect(migrate(db, folder)).rejects.toMatchObject({ code: '22012' });
  expect(await applied()).toEqual(['0001-first.sql', '0002-second.sql']);
  expect(await db.query('select id from purse')).toEqual([{ id: 'ann' }]);
});
