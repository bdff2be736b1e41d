import { randomBytes } from 'node:crypto';
import type { Sql } from '../database/database.ts';

export type Customer = {
  readonly id: string;
  readonly name: string;
  /** Credits that may be spent. */
  readonly balance: number;
};

/** Makes a customer; one of that name that is there already is answered instead. */
export async function createCustomer(sql: Sql, name: string): Promise<Customer> {
  const id = `cus_${randomBytes(12).toString('hex')}`;
  await sql.query('insert into customer (id, name) values ($1, $2) on conflict (name) do nothing', [
    id,
    name,
  ]);
  return (await findCustomer(sql, name))!;
}

export async function findCustomer(sql: Sql, nameOrId: string): Promise<Customer | null> {
  const [found] = await sql.query<Customer>(
    'select id, name, balance from customer where id = $1 or name = $1 order by id = $1 desc limit 1',
    [nameOrId],
  );
  return found ?? null;
}
