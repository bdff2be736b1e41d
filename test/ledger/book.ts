import type { LedgerEntry } from '../../contract/ledger.ts';
import type { Database, Sql } from '../../src/database/database.ts';
import { grant, hold, release, settle } from '../../src/ledger/transfer.ts';

/** Something that happens to a customer's account. `of` names the payment or the run. */
export interface Step {
  readonly kind: LedgerEntry['kind'];
  readonly of: string;
  readonly amount: number;
}

/** What a step was answered, without what a clock decides; or the name of the error. */
export type Outcome = Omit<LedgerEntry, 'created_ms'> | string;

/** Takes a step as the service does: together with the run that it is about, in one transaction. */
export async function take(db: Database, customer: string, step: Step): Promise<Outcome> {
  try {
    const { created_ms: _, ...entry } = await db.transaction((sql) => act(sql, customer, step));
    return entry;
  } catch (error) {
    return (error as Error).name;
  }
}

async function act(sql: Sql, customer: string, { kind, of, amount }: Step): Promise<LedgerEntry> {
  if (kind === 'grant') return grant(sql, { id: of, customer, amount });
  if (kind === 'hold') {
    await openRun(sql, of, customer, amount);
    return hold(sql, { run: of, customer, amount });
  }
  const entry = await (kind === 'settle' ? settle(sql, { run: of, amount }) : release(sql, { run: of }));
  await sql.query(
    `update run set status = case $2 when 'settle' then 'done' else 'failed' end, credits_spent = $3::bigint,
       finished_ms = now_ms(), archive = made.a, archive_bytes = length(made.a), archive_sha256 = made.a
     from (select case $2 when 'settle' then 'zip' end as a) as made
     where id = $1 and finished_ms is null`,
    [of, kind, entry.spent],
  );
  return entry;
}

export async function openRun(sql: Sql, id: string, customer: string, credits: number): Promise<void> {
  await sql.query(
    `insert into run (id, customer, language, mode, venue, assets, from_day, to_day, market_days, cells, credits_held,
       source_sha256, plan, locale, deadline_ms)
     values ($1, $2, 'python@3.14', 'market', 'venue_a', '["BTC"]', '2026-10-01', '2026-10-01', 1, 1, $3, '', '', 'en', 0)
     on conflict (id) do nothing`,
    [id, customer, credits],
  );
}
