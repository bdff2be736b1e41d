import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { violations } from '../../src/ledger/invariants.ts';
import { childrenOf, processesOf } from './crew.ts';
import type { Ground } from './ground.ts';
import { Calm, type Entries, entriesOf, sha256 } from './reports.ts';
import { until } from './until.ts';

/** Shared by all grounds of a process; whoever uses them closes it. */
export const calm = new Calm();

/** Throws unless all runs are over, nothing of what a fleet promises was broken, and nobody is left behind. */
export async function sound(ground: Ground): Promise<void> {
  assert.deepEqual(await violations(ground.db), []);
  for (const check of [MOVED_AGAIN, NOT_OVER, TO_DO, UNBALANCED])
    assert.deepEqual(await ground.db.query(check), []);
  await archives(ground);
  await nobodyLeft(ground);
}

/** Every archive is what was settled, and what a machine without trouble makes of the same strategy. */
async function archives({ db, store, asked }: Ground): Promise<void> {
  const done = await db.query<{ id: string; archive: string; archive_sha256: string }>(
    `select id, archive, archive_sha256 from run where status = 'done'`,
  );
  // One machine makes no report of a sweep of which a cell fails: then runs are held to each other.
  const firsts = new Map<string, Entries>();
  for (const { id, archive, archive_sha256 } of done) {
    const bytes = await buffer((await store.get(archive))!);
    assert.equal(sha256(bytes), archive_sha256);
    const { folder, wanted } = asked.get(id)!;
    const { 'cells.json': _, ...entries } = await entriesOf(bytes);
    const key = JSON.stringify([folder, wanted]);
    if (!firsts.has(key)) firsts.set(key, (await calm.entries(folder, wanted)) ?? entries);
    assert.deepEqual(entries, firsts.get(key));
  }
}

/** Who of this fleet's processes still lives is a worker, or a replayer of one. */
async function nobodyLeft({ hands, folder }: Ground): Promise<void> {
  const strangers = (): number[] => {
    const workers = hands.filter(({ running }) => running).map(({ pid }) => pid);
    const crew = [...workers, ...workers.flatMap((pid) => childrenOf(pid))];
    return processesOf(folder).filter((pid) => !crew.includes(pid));
  };
  await until('nobody is left behind', () => strangers().length === 0, { most_ms: 15_000 }).catch(() => {
    assert.deepEqual(
      strangers().map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8')),
      [],
    );
  });
}

const MOVED_AGAIN = `select run, status from moved group by run, status having count(*) > 1
  union all select run, 'both ends' from moved where status in ('done', 'failed') group by run having count(*) > 1`;
const NOT_OVER = `select id, status from run where status not in ('done', 'failed')`;
const TO_DO = `select run, number, status from task where status in ('queued', 'claimed')`;

/** Whose grants are not what they have and have spent; credits on hold. */
const UNBALANCED = `
  select customer.id, balance, granted, spent from customer,
    lateral (select coalesce(sum(amount), 0) as granted from transfer
      where customer = customer.id and kind = 'grant') as granted,
    lateral (select coalesce(sum(credits_spent), 0) as spent from run where customer = customer.id) as spent
  where granted <> balance + spent
  union all
  select account, sum(amount), null, null from posting where account = 'holds' group by account having sum(amount) <> 0`;
