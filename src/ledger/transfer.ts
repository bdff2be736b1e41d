import { HISTORY_ENTRIES, type LedgerEntry } from '../../contract/ledger.ts';
import type { Sql } from '../database/database.ts';
import { AlreadyEnded, InsufficientCredits, LedgerConflict } from './refused.ts';

// Each transfer is one statement that inserts a row or none; triggers do the rest. None of them makes the database refuse
// something, so a transaction can go on after any error from here. Amounts are whole credits.

type Stored = LedgerEntry & { readonly customer: string; readonly amount: number };

const ENTRY = `id, kind,
  case kind when 'grant' then amount when 'hold' then -amount else held - amount end as change,
  case kind when 'settle' then amount else 0 end as spent,
  run as run_id, created_ms`;

/** Gives a customer credits. `id`: the payment's or whatever else names it, without colons. Throws LedgerConflict. */
export async function grant(
  sql: Sql,
  { id, customer, amount }: { readonly id: string; readonly customer: string; readonly amount: number },
): Promise<LedgerEntry> {
  if (id.includes(':')) throw new LedgerConflict(`"${id}" cannot name a grant: it has a colon`);
  const [made] = await sql.query<LedgerEntry>(
    `insert into transfer (id, kind, customer, amount)
     select $1, 'grant', id, $3::bigint from customer where id = $2
     on conflict (id) do nothing returning ${ENTRY}`,
    [id, customer, whole(amount)],
  );
  return made ?? repeated(await find(sql, id), 'grant', customer, amount) ?? unknown(customer);
}

/** Reserves credits for a run. Throws InsufficientCredits, LedgerConflict. */
export async function hold(
  sql: Sql,
  { run, customer, amount }: { readonly run: string; readonly customer: string; readonly amount: number },
): Promise<LedgerEntry> {
  const id = `${run}:hold`;
  // The lock makes whoever comes at once wait here, and then see the balance that is left.
  const [made] = await sql.query<LedgerEntry & { readonly balance: number }>(
    `with funds as (select id, balance from customer where id = $2 for no key update),
       made as (
         insert into transfer (id, kind, customer, amount, run)
         select $1, 'hold', id, $3::bigint, $4 from funds where balance >= $3::bigint
         on conflict (id) do nothing returning ${ENTRY}
       )
     select made.*, funds.balance from funds left join made on true`,
    [id, customer, whole(amount), run],
  );
  if (made === undefined) return unknown(customer);
  const { balance, ...entry } = made;
  if (entry.id !== null) return entry;
  const first = repeated(await find(sql, id), 'hold', customer, amount);
  if (first !== null) return first;
  throw new InsufficientCredits(balance, amount);
}

/** Ends a run's hold: charges `amount` of it, the rest comes back. Throws AlreadyEnded, LedgerConflict. */
export const settle = (sql: Sql, { run, amount }: { readonly run: string; readonly amount: number }) =>
  end(sql, run, 'settle', amount);

/** Ends a run's hold: all of it comes back. Throws AlreadyEnded, LedgerConflict. */
export const release = (sql: Sql, { run }: { readonly run: string }) => end(sql, run, 'release', 0);

/** Credits that may be spent. Throws LedgerConflict where there is no such customer. */
export async function balance(sql: Sql, customer: string): Promise<number> {
  const [row] = await sql.query<{ balance: number }>('select balance from customer where id = $1', [
    customer,
  ]);
  return row?.balance ?? unknown(customer);
}

/** The newest entries first. */
export async function history(sql: Sql, customer: string): Promise<LedgerEntry[]> {
  return sql.query<LedgerEntry>(
    `select ${ENTRY} from transfer where customer = $1 order by seq desc limit $2`,
    [customer, HISTORY_ENTRIES],
  );
}

async function end(sql: Sql, run: string, kind: 'settle' | 'release', amount: number): Promise<LedgerEntry> {
  const ends = `${run}:hold`;
  const [made] = await sql.query<LedgerEntry>(
    `insert into transfer (id, kind, customer, amount, run, ends, held)
     select $1, $2, customer, $3::bigint, run, id, amount from transfer where id = $4 and amount >= $3::bigint
     on conflict do nothing returning ${ENTRY}`,
    [`${run}:${kind}`, kind, whole(amount), ends],
  );
  if (made !== undefined) return made;

  const held = await find(sql, ends);
  if (held === null) throw new LedgerConflict(`there is no hold of ${run}`);
  const other = kind === 'settle' ? 'release' : 'settle';
  if ((await find(sql, `${run}:${other}`)) !== null) throw new AlreadyEnded(run, other);
  const first = repeated(await find(sql, `${run}:${kind}`), kind, held.customer, amount);
  if (first !== null) return first;
  throw new LedgerConflict(`${run} cannot be charged ${amount} credits: its hold is ${held.amount}`);
}

async function find(sql: Sql, id: string): Promise<Stored | null> {
  const text = `select ${ENTRY}, customer, amount from transfer where id = $1`;
  return (await sql.query<Stored>(text, [id]))[0] ?? null;
}

/** What the first of two equal transfers was answered; null where there was none. */
function repeated(
  first: Stored | null,
  kind: LedgerEntry['kind'],
  customer: string,
  amount: number,
): LedgerEntry | null {
  if (first === null) return null;
  const { customer: whose, amount: much, ...entry } = first;
  if (entry.kind === kind && whose === customer && much === amount) return entry;
  throw new LedgerConflict(
    `${entry.id} is there already with other contents: ${entry.kind} of ${much} credits for ${whose}, not ${kind} of ${amount} for ${customer}`,
  );
}

function unknown(customer: string): never {
  throw new LedgerConflict(`there is no customer ${customer}`);
}

function whole(amount: number): number {
  if (Number.isSafeInteger(amount) && amount >= 0) return amount;
  throw new TypeError(`${amount} is no amount of credits`);
}
