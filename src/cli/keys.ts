import { findCustomer } from '../ledger/customer.ts';
import { createKey, type Key, listKeys, revokeKey } from '../ledger/key.ts';
import { withDatabase } from './database.ts';
import { Mistake } from './failure.ts';

const DAY_MS = 86_400_000;
const MOST_DAYS = 36_500;

interface Output {
  readonly json?: boolean;
}

/**
 * `backtest keys create CUSTOMER [--expires DAYS]`. The key goes to stdout, alone on its line; what there is to say of it goes
 * to stderr.
 */
export async function addKey(
  customer: string,
  { expires, json }: Output & { readonly expires?: number },
): Promise<void> {
  if (expires !== undefined && !(expires > 0 && expires <= MOST_DAYS))
    throw new Mistake(`--expires: give a number of days from 1 to ${MOST_DAYS}.`);
  const expires_ms = expires === undefined ? null : Date.now() + expires * DAY_MS;
  const made = await withDatabase(async (db) => {
    const found = await findCustomer(db, customer);
    if (found === null)
      throw new Mistake(
        `${customer}: there is no such customer. npx backtest credits grant ${JSON.stringify(customer)} 100 makes one.`,
      );
    return { customer: found.name, expires_ms, ...(await createKey(db, found.id, { expires_ms })) };
  });
  if (json) {
    process.stdout.write(`${JSON.stringify({ ok: true, ...made })}\n`);
    return;
  }
  process.stdout.write(`${made.key}\n`);
  const until = expires_ms === null ? 'until it is revoked' : `until ${minute(expires_ms)}`;
  process.stderr.write(`${made.id} of ${made.customer}, good ${until}. This key is not shown again.\n`);
}

/** `backtest keys revoke KEY`, by its id or itself. Revoking twice is no mistake. */
export async function endKey(idOrKey: string, { json }: Output): Promise<void> {
  if (!(await withDatabase((db) => revokeKey(db, idOrKey))))
    throw new Mistake('There is no such key. npx backtest keys list shows those that are there.');
  process.stdout.write(json ? `${JSON.stringify({ ok: true })}\n` : 'It is revoked.\n');
}

/** `backtest keys list` */
export async function showKeys({ json }: Output): Promise<void> {
  const keys = await withDatabase(listKeys);
  process.stdout.write(json ? `${JSON.stringify({ ok: true, keys })}\n` : tell(keys));
}

function tell(keys: readonly Key[]): string {
  if (keys.length === 0) return 'There are no keys yet. npx backtest keys create CUSTOMER makes one.\n';
  const rows = keys.map((key) => [key.id, minute(key.created_ms), state(key), key.customer]);
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) => `${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ')}\n`).join('');
}

function state({ expires_ms, revoked_ms }: Key): string {
  if (revoked_ms !== null) return `revoked ${minute(revoked_ms)}`;
  if (expires_ms === null) return 'good';
  return `${expires_ms > Date.now() ? 'expires' : 'expired'} ${minute(expires_ms)}`;
}

/** As in 2026-10-14 09:30Z. */
const minute = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')}Z`;
