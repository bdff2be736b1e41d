import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { PACKAGE } from '../../src/compose.ts';
import type { Database } from '../../src/database/database.ts';
import { migrate } from '../../src/database/migrate.ts';
import { openPglite } from '../../src/database/pglite.ts';
import { openPostgres } from '../../src/database/postgres.ts';
import { createCustomer } from '../../src/ledger/customer.ts';
import { grant, hold, settle } from '../../src/ledger/transfer.ts';
import { startPostgres } from '../services/postgres.ts';
import type { Row } from './row.ts';

const TRANSFERS = 2_000;

/**
 * Holds and settlements a second, each a transaction of its own, on a Postgres that waits for its disk and on the embedded one in
 * memory; by one client, and by 8 that share one customer or have one each. The limit: the smallest write that
 * the same clients can commit.
 */
export async function ledgerRows(): Promise<Row[]> {
  const rows: Row[] = [];
  const server = await startPostgres({ durable: true });
  const engines: [string, Database][] = [
    ['postgres', openPostgres(server.url)],
    ['pglite', await openPglite(null)],
  ];
  try {
    for (const [name, db] of engines) {
      await migrate(db, join(PACKAGE, 'src', 'database', 'migrations'));
      await db.script('create table mark (id bigint generated always as identity)');
      for (const [clients, customers] of [
        [1, 1],
        [8, 1],
        [8, 8],
      ] as const)
        rows.push(await measured(`ledger ${name}`, db, clients, customers));
    }
  } finally {
    for (const [, db] of engines) await db.close();
    await server.stop();
  }
  return rows;
}

export async function bench(print: (row: Row) => void): Promise<void> {
  for (const row of await ledgerRows()) print(row);
}

async function measured(name: string, db: Database, clients: number, customers: number): Promise<Row> {
  const each = TRANSFERS / clients;
  const mark = randomBytes(4).toString('hex');
  const ids: string[] = [];
  for (let i = 0; i < customers; i++) {
    const { id } = await createCustomer(db, `${mark}-${i}`);
    await grant(db, { id: `${mark}-${i}`, customer: id, amount: TRANSFERS });
    ids.push(id);
  }
  const transfers = async (client: number) => {
    for (let i = 0; i < each / 2; i++) {
      const run = `${mark}-${client}-${i}`;
      await hold(db, { run, customer: ids[client % customers]!, amount: 1 });
      await settle(db, { run, amount: 1 });
    }
  };
  const marks = async () => {
    for (let i = 0; i < each; i++) await db.query('insert into mark default values');
  };
  // Connects, and warms up.
  await Promise.all(Array.from({ length: clients }, () => db.query('select pg_sleep(0.01)')));
  const limit = await rate(clients, marks);
  const value = await rate(clients, transfers);
  const who = `${clients} client${clients === 1 ? '' : 's'}, ${customers} customer${customers === 1 ? '' : 's'}`;
  return { name: `${name}, ${who}`, value, unit: 'transfers/s', limit, limitName: 'one-row insert' };
}

/** How many of TRANSFERS a second all clients manage together. */
async function rate(clients: number, work: (client: number) => Promise<void>): Promise<number> {
  const start = performance.now();
  await Promise.all(Array.from({ length: clients }, (_, client) => work(client)));
  return TRANSFERS / ((performance.now() - start) / 1000);
}
