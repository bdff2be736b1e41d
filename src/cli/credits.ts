import { randomBytes } from 'node:crypto';
import { createCustomer, findCustomer } from '../ledger/customer.ts';
import { violations } from '../ledger/invariants.ts';
import { LedgerConflict } from '../ledger/refused.ts';
import { balance, grant } from '../ledger/transfer.ts';
import { withDatabase } from './database.ts';
import { Mistake } from './failure.ts';

/**
 * `backtest credits grant CUSTOMER AMOUNT [--id ID]`. A customer of that name or id who is not there yet is made. `id`: names
 * this grant, so that the command may be repeated.
 */
export async function grantCredits(
  customer: string,
  amount: number,
  { id, json }: { readonly id?: string; readonly json?: boolean },
): Promise<void> {
  if (!Number.isSafeInteger(amount) || amount < 1)
    throw new Mistake(`${amount}: give a whole number of credits, 1 or more.`);
  const granted = await withDatabase((db) =>
    db.transaction(async (sql) => {
      const found = await findCustomer(sql, customer);
      if (found === null && (customer.trim() === '' || customer.startsWith('cus_')))
        throw new Mistake(
          `${customer}: there is no such customer, and this cannot be the name of a new one.`,
        );
      const { id: whom, name } = found ?? (await createCustomer(sql, customer));
      const payment = id ?? `grant_${randomBytes(12).toString('hex')}`;
      const entry = await grant(sql, { id: payment, customer: whom, amount }).catch((error) => {
        throw error instanceof LedgerConflict ? new Mistake(`${error.message}.`) : error;
      });
      return { customer: whom, name, grant: entry.id, amount, balance: await balance(sql, whom) };
    }),
  );
  process.stdout.write(
    json
      ? `${JSON.stringify({ ok: true, ...granted })}\n`
      : `${granted.name} was granted ${counted(amount)} (${granted.grant}) and has ${counted(granted.balance)} to spend.\n`,
  );
}

/** `backtest credits audit`: exit code 1 where something does not add up. */
export async function auditCredits({ json }: { readonly json?: boolean }): Promise<void> {
  const found = await withDatabase(violations);
  const ok = found.length === 0;
  const text = ok ? 'All transfers, balances, holds and runs agree.' : found.join('\n');
  process.stdout.write(json ? `${JSON.stringify({ ok, violations: found })}\n` : `${text}\n`);
  process.exitCode = ok ? 0 : 1;
}

const counted = (credits: number): string =>
  `${credits.toLocaleString('en-US')} credit${credits === 1 ? '' : 's'}`;
