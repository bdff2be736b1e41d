import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FleetLimits, Rejection, Unreachable } from '../../contract/index.ts';
import type { Database, Sql } from '../database/database.ts';
import { InsufficientCredits } from '../ledger/refused.ts';
import { balance, hold } from '../ledger/transfer.ts';
import type { RunQueue } from '../queue/queue.ts';
import type { Prepared } from '../run/prepare.ts';
import { workSize } from '../run/work.ts';
import type { ObjectStore } from '../store/store.ts';
import { storePlan } from './plan.ts';
import { ringFor } from './ring.ts';

const TRIES = 3;
const TRY_AGAIN_MS = 500;

export interface Submission {
  readonly customer: string;
  readonly prepared: Prepared;
  /** A series' file and the object that holds it. */
  readonly uploads: ReadonlyMap<string, string>;
  readonly locale: string;
  readonly email: string | null;
  /** Names this submission to its customer: a repeat answers the first one's run. */
  readonly repeat: string | null;
}

export interface Submitted {
  readonly run_id: string;
  readonly credits_held: number;
}

/**
 * Takes a run: in one transaction the run, its shards and its hold; then the queue is rung, which the answer does not wait
 * for. Throws InsufficientCredits, or a Rejection, and then there is no run; Unreachable, and then there may be one, which a
 * repeat would answer.
 */
export async function submit(
  parts: { readonly db: Database; readonly store: ObjectStore; readonly queue: RunQueue },
  submission: Submission,
  limits: FleetLimits,
): Promise<Submitted> {
  const { prepared, customer, repeat } = submission;
  const shards = workSize(prepared);
  if (shards > limits.shards) {
    const counts = `${prepared.quote.marketDays} market-days in ${prepared.quote.sweepCells} cells`;
    throw new Rejection('E_LIMIT', `${counts} make ${shards} shards; a run has at most ${limits.shards}`);
  }
  const run = runId(customer, repeat);
  const plan = await storePlan(parts.store, prepared, submission.uploads);
  const accepted = await again(() =>
    parts.db.transaction(async (sql) => {
      if (!(await insertRun(sql, run, plan, submission, limits))) return repeated(sql, run, plan);
      const amount = prepared.quote.credits;
      const funds = await balance(sql, customer);
      if (funds < amount) throw new InsufficientCredits(funds, amount);
      await sql.query(
        `insert into task (run, number, kind, customer, cell)
         select $1, number, 'shard', $2, number % $4 from generate_series(0, $3 - 1) as number`,
        [run, customer, shards, prepared.quote.sweepCells],
      );
      // Last, since it locks the customer, whom every claim of a task waits for.
      await hold(sql, { run, customer, amount });
      return { run_id: run, credits_held: amount };
    }),
  );
  // The answer does not wait: what the queue does not hear the sweeper rings for.
  void ringFor(parts, run).catch(() => {});
  return accepted;
}

/** A commit may get through although its answer does not. Who asks again with the same run id finds it. */
async function again<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Unreachable) || tries === TRIES) throw error;
      await sleep(TRY_AGAIN_MS);
    }
  }
}

function runId(customer: string, repeat: string | null): string {
  if (repeat === null) return `run_${randomBytes(12).toString('hex')}`;
  return `run_${createHash('sha256').update(`${customer}\n${repeat}`).digest('hex').slice(0, 24)}`;
}

async function insertRun(
  sql: Sql,
  run: string,
  plan: string,
  { customer, prepared, locale, email }: Submission,
  limits: FleetLimits,
): Promise<boolean> {
  const { quote, manifest, checked } = prepared;
  const made = await sql.query(
    `insert into run (id, customer, language, mode, venue, assets, from_day, to_day, market_days, cells,
       credits_held, source_sha256, plan, locale, email, deadline_ms)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, now_ms() + $16::bigint)
     on conflict (id) do nothing returning id`,
    [
      run,
      customer,
      manifest.language,
      manifest.mode,
      quote.venue,
      JSON.stringify(quote.assets),
      quote.from,
      quote.to,
      quote.marketDays,
      quote.sweepCells,
      quote.credits,
      checked.source_sha256,
      plan,
      locale,
      email,
      limits.run_ms,
    ],
  );
  return made.length > 0;
}

/** What the first of two submissions under one name was answered. */
async function repeated(sql: Sql, run: string, plan: string): Promise<Submitted> {
  const [first] = await sql.query<{ plan: string; credits_held: number }>(
    'select plan, credits_held from run where id = $1',
    [run],
  );
  if (first!.plan !== plan)
    throw new Rejection('E_BODY', 'the Idempotency-Key was used for another submission: use a new one');
  return { run_id: run, credits_held: first!.credits_held };
}
