import type { Database, Sql } from '../database/database.ts';

/**
 * Checks from the journal up that credits, runs and tasks agree, whatever the schema or the code were meant to prevent.
 * One sentence for each thing that is wrong; empty when all is well. Reads one moment of the database, and all of it:
 * some seconds for each 100,000 runs.
 */
export function violations(sql: Database | Sql): Promise<string[]> {
  return 'transaction' in sql ? sql.transaction(audit) : audit(sql);
}

async function audit(sql: Sql): Promise<string[]> {
  // By a script, which may take minutes; it is one statement all the same, lest it sees two moments.
  await sql.script(`create temporary table audit as ${VIEWS} ${CHECKS.join(' union all ')}`);
  const rows = await sql.query<{ what: string }>('select what from audit order by what');
  await sql.script('drop table audit');
  return rows.map(({ what }) => what);
}

const OPEN = `('queued', 'staging', 'running')`;

const VIEWS = `with
  hold as (
    select begun.id, begun.run, begun.customer, begun.amount, ended.kind as ended, ended.amount as charged
    from transfer as begun left join transfer as ended on ended.ends = begun.id
    where begun.kind = 'hold'
  ),
  leg as (
    select id as transfer, account, sum(amount) as amount from (
      select id, customer as account, amount from transfer where kind = 'grant'
      union all select id, 'issuance', -amount from transfer where kind = 'grant'
      union all select id, customer, -amount from transfer where kind = 'hold'
      union all select id, 'holds', amount from transfer where kind = 'hold'
      union all select id, 'holds', -held from transfer where ends is not null
      union all select id, customer, held - amount from transfer where ends is not null
      union all select id, 'revenue', amount from transfer where ends is not null
    ) as due (id, account, amount) where amount <> 0 group by id, account
  )`;

/** Each selects a text, \`what\`, for whatever breaks a rule. */
const CHECKS = [
  // Every transfer is posted as its kind says.
  `select format('transfer %s posts %s to %s instead of %s', coalesce(leg.transfer, posting.transfer),
     coalesce(posting.amount, 0), coalesce(leg.account, posting.account), coalesce(leg.amount, 0)) as what
   from leg full join posting on posting.transfer = leg.transfer and posting.account = leg.account
   where posting.amount is distinct from leg.amount`,
  // What one account loses another one gets.
  `select format('the postings of transfer %s add up to %s', transfer, sum(amount))
   from posting group by transfer having sum(amount) <> 0`,
  `select format('all postings together add up to %s', sum(amount)) from posting having sum(amount) <> 0`,
  // A balance is what the postings made of it, and never less than nothing.
  `select format('customer %s has a balance of %s, but postings of %s', id, balance, coalesce(posted, 0))
   from customer left join (select account, sum(amount) as posted from posting group by account) as own
     on own.account = customer.id
   where balance <> coalesce(posted, 0)`,
  `select format('customer %s has a balance of %s', id, balance) from customer where balance < 0`,
  // A hold ends once, and costs no more than was held.
  `select format('hold %s has %s ends', ends, count(*)) from transfer
   where ends is not null group by ends having count(*) > 1`,
  `select format('%s charges %s of hold %s, which is of %s', ended.id, ended.amount, ended.ends, hold.amount)
   from transfer as ended left join hold on hold.id = ended.ends
   where ended.ends is not null and (hold.id is null or hold.customer <> ended.customer
     or hold.run <> ended.run or hold.amount <> ended.held or ended.amount > hold.amount)`,
  `select format('%s credits are on hold, but open holds are of %s', held.amount, open.amount)
   from (select coalesce(sum(amount), 0) as amount from posting where account = 'holds') as held,
     (select coalesce(sum(amount), 0) as amount from hold where ended is null) as open
   where held.amount <> open.amount`,
  // A run and its hold tell the same story.
  `select format('run %s is %s with %s credits held and %s spent, but its hold of %s has the end: %s %s', run.id, status,
     credits_held, coalesce(credits_spent::text, 'none'), coalesce(hold.amount::text, 'nothing'), coalesce(ended, 'none'),
     charged)
   from run left join hold on hold.run = run.id
   where hold.id is null or hold.customer <> run.customer or hold.amount <> credits_held
     or (status in ${OPEN} and ended is not null)
     or (status = 'done' and (ended is distinct from 'settle' or credits_spent is distinct from charged))
     or (status = 'failed' and (ended is distinct from 'release' or credits_spent is distinct from 0))`,
  `select format('hold %s is of no run', hold.id) from hold left join run on run.id = hold.run where run.id is null`,
  // Nothing is left to do for a run that is over.
  `select format('task %s.%s is %s, but its run is %s', task.run, number, task.status, run.status)
   from task join run on run.id = task.run
   where task.status in ('queued', 'claimed') and run.status not in ${OPEN}`,
];
