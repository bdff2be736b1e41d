-- Times are ms since 1970 by this database's own clock: no other clock decides anything.
create function now_ms() returns bigint language sql volatile
  return floor(extract(epoch from clock_timestamp()) * 1000)::bigint;

create table customer (
  id text primary key,
  name text not null unique,
  -- Credits that may be spent. Kept by the trigger on transfer, and by nothing else.
  balance bigint not null default 0 constraint customer_balance check (balance >= 0),
  -- The turn at which a task of theirs was last handed out: the least comes next.
  served bigint not null default 0,
  created_ms bigint not null default now_ms()
);

create sequence turn;

create table api_key (
  id text primary key,
  customer text not null references customer,
  -- Of the whole key, which is random enough to need no salt.
  sha256 text not null unique,
  created_ms bigint not null default now_ms(),
  expires_ms bigint,
  revoked_ms bigint
);

-- The journal. A hold ends once: `ends` is unique, so a settlement and a release of one hold exclude each other, and
-- the foreign key lets nobody end what is no hold, another customer's, another run's, or another amount.
create table transfer (
  id text primary key,
  seq bigint generated always as identity unique,
  kind text not null constraint transfer_kind check (kind in ('grant', 'hold', 'settle', 'release')),
  customer text not null references customer,
  amount bigint not null constraint transfer_amount check (amount >= 0),
  run text,
  ends text constraint transfer_ends unique,
  held bigint,
  ends_kind text generated always as (case when ends is not null then 'hold' end) stored,
  created_ms bigint not null default now_ms(),
  unique (id, kind, customer, amount, run),
  constraint transfer_ends_hold foreign key (ends, ends_kind, customer, held, run)
    references transfer (id, kind, customer, amount, run),
  constraint transfer_has_run check ((kind = 'grant') = (run is null)),
  -- So a run has one hold, and whatever is repeated meets what it repeats. No grant may be in their way.
  constraint transfer_id check (case kind when 'grant' then id not like '%:%' else id = run || ':' || kind end),
  -- No key is checked of which a part is null.
  constraint transfer_end_is_whole check (
    (kind in ('settle', 'release')) = (ends is not null) and (ends is not null) = (held is not null)
  ),
  constraint transfer_within_hold check (amount <= held),
  constraint transfer_release_is_free check (kind <> 'release' or amount = 0)
);
create index transfer_of_customer on transfer (customer, seq desc);

-- What each transfer moves between accounts: a customer's (by id), `holds`, `revenue`, `issuance`. Sums to zero.
create table posting (
  transfer text not null references transfer,
  account text not null,
  amount bigint not null check (amount <> 0),
  primary key (transfer, account)
);
create index posting_of_account on posting (account);

-- Only this writes postings and balances: a transfer cannot be posted by halves.
create function post_transfer() returns trigger language plpgsql as $$
begin
  insert into posting (transfer, account, amount)
    select new.id, leg.account, leg.amount
    from (values
      ('issuance', case when new.kind = 'grant' then -new.amount else 0 end),
      (new.customer, case new.kind
        when 'grant' then new.amount
        when 'hold' then -new.amount
        else new.held - new.amount end),
      ('holds', case new.kind when 'grant' then 0 when 'hold' then new.amount else -new.held end),
      ('revenue', case when new.kind = 'settle' then new.amount else 0 end)
    ) as leg (account, amount)
    where leg.amount <> 0;
  update customer set balance = balance + case new.kind
      when 'grant' then new.amount
      when 'hold' then -new.amount
      else new.held - new.amount end
    where id = new.customer;
  return null;
end $$;
create trigger transfer_posts after insert on transfer for each row execute function post_transfer();

create function refuse() returns trigger language plpgsql as $$
begin
  raise exception '% on % is refused: %', tg_op, tg_table_name, tg_argv[0]
    using errcode = 'restrict_violation', constraint = tg_name;
end $$;
create trigger transfer_append_only before update or delete or truncate on transfer
  for each statement execute function refuse('a transfer is final, write another one');
create trigger posting_append_only before update or delete or truncate on posting
  for each statement execute function refuse('a posting is final, write another transfer');
-- At depth 0 nobody's trigger is at work, so it is somebody by hand.
create trigger posting_by_transfer before insert on posting
  for each statement when (pg_trigger_depth() = 0) execute function refuse('write a transfer');
create trigger customer_balance_by_transfer before update of balance on customer
  for each statement when (pg_trigger_depth() = 0) execute function refuse('write a transfer');
create trigger customer_starts_at_nothing before insert on customer
  for each row when (new.balance <> 0) execute function refuse('write a transfer');

create table upload (
  -- Names the object too.
  key text primary key,
  customer text not null references customer,
  bytes bigint not null,
  created_ms bigint not null default now_ms(),
  expires_ms bigint not null
);
create index upload_of_customer on upload (customer, created_ms);

create table run (
  id text primary key,
  customer text not null references customer,
  status text not null default 'queued' check (status in ('queued', 'staging', 'running', 'done', 'failed')),
  language text not null,
  mode text not null,
  venue text not null,
  assets jsonb not null,
  from_day text not null,
  to_day text not null,
  market_days integer not null,
  cells integer not null,
  credits_held bigint not null,
  credits_spent bigint,
  source_sha256 text not null,
  -- The object that says all of what to run.
  plan text not null,
  locale text not null,
  email text,
  rejection jsonb,
  report jsonb,
  archive text,
  archive_bytes bigint,
  archive_sha256 text,
  -- Whether the store may still hold results of its shards.
  leftovers boolean not null default true,
  created_ms bigint not null default now_ms(),
  started_ms bigint,
  finished_ms bigint,
  -- A run that nobody works at after this time is given up.
  deadline_ms bigint not null,
  constraint run_end_is_whole check ((status in ('done', 'failed')) = (finished_ms is not null)),
  constraint run_end_is_settled check ((status in ('done', 'failed')) = (credits_spent is not null)),
  constraint run_done_has_archive check (
    (status = 'done') = (archive is not null and archive_bytes is not null and archive_sha256 is not null)
  )
);
create index run_of_customer on run (customer, created_ms desc);
create index run_open on run (customer, created_ms, id) where status in ('queued', 'staging', 'running');
create index run_leftovers on run (finished_ms) where leftovers and finished_ms is not null;

-- A run's shards in the order of its plan, then the assembly. Queued tasks are the outbox: whatever the queue forgets,
-- the sweeper rings for again.
create table task (
  run text not null references run,
  number integer not null,
  kind text not null check (kind in ('shard', 'assembly')),
  customer text not null references customer,
  cell integer,
  status text not null default 'queued' check (status in ('queued', 'claimed', 'done', 'failed', 'dropped')),
  -- Grows with every claim; whoever holds an older one changes nothing any more.
  fence integer not null default 0,
  faults integer not null default 0,
  -- When its run was submitted: a customer's runs are served in that order.
  queued_ms bigint not null default now_ms(),
  -- Not before. Nothing waits that never met a fault: the clock may jump.
  due_ms bigint not null default 0,
  rung_ms bigint,
  worker text,
  lease_ms bigint,
  -- Of 1, and tick rows shown so far.
  share real not null default 0,
  ticks bigint not null default 0,
  result text,
  result_sha256 text,
  failure jsonb,
  primary key (run, number),
  constraint task_claim_is_whole check ((status = 'claimed') = (worker is not null and lease_ms is not null)),
  constraint task_kind_has_cell check ((kind = 'shard') = (cell is not null))
);
create index task_queued on task (customer, queued_ms, run, number) where status = 'queued';
create index task_due on task (due_ms) where status = 'queued';
-- Not by lease: whoever renews one then changes no index.
create index task_claimed on task (run) where status = 'claimed';
create index task_open on task (run) where status in ('queued', 'claimed');

create table worker (
  id text primary key,
  slots integer not null,
  seen_ms bigint not null default now_ms()
);

-- Gives a worker the next task: of the customer who waited longest since their last one, the oldest run's first. A
-- loop, since a join may lock the tasks of customers whose turn it is not. It goes over those who have an open run, and
-- looks at the tasks of none but whose turn it is: a look at all customers or tasks would be paid with every claim.
create function claim_task(by_worker text, for_ms bigint) returns setof task language plpgsql as $$
declare
  whose text;
  chosen task;
begin
  for whose in
    select id from customer join (
        select customer, min(created_ms) as since from run
          where status in ('queued', 'staging', 'running') group by customer
      ) as waiting on waiting.customer = customer.id
      order by served, since, id
  loop
    select * into chosen from task
      where customer = whose and status = 'queued' and due_ms <= now_ms()
      order by queued_ms, run, number limit 1 for update skip locked;
    if found then
      update task set status = 'claimed', fence = fence + 1, worker = by_worker, lease_ms = now_ms() + for_ms
        where run = chosen.run and number = chosen.number returning * into chosen;
      update run set status = 'staging', started_ms = now_ms() where id = chosen.run and status = 'queued';
      update customer set served = nextval('turn') where id = whose;
      return next chosen;
      return;
    end if;
  end loop;
end $$;
