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
-- the foreign key lets nobody end what is no hold, another customer's, or another amount.
create table transfer (
  id text primary key,
  seq bigint generated always as identity unique,
  kind text not null check (kind in ('grant', 'hold', 'settle', 'release')),
  customer text not null references customer,
  amount bigint not null check (amount >= 0),
  run text,
  ends text constraint transfer_ends unique,
  held bigint,
  ends_kind text generated always as (case when ends is not null then 'hold' end) stored,
  created_ms bigint not null default now_ms(),
  unique (id, kind, customer, amount),
  constraint transfer_ends_hold foreign key (ends, ends_kind, customer, held)
    references transfer (id, kind, customer, amount),
  constraint transfer_end_is_whole check ((kind in ('settle', 'release')) = (ends is not null and held is not null)),
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

-- Nobody writes postings or balances but this: a transfer cannot be posted by halves.
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

create function append_only() returns trigger language plpgsql as $$
begin
  raise exception '% is append only', tg_table_name using errcode = 'restrict_violation';
end $$;
create trigger transfer_append_only before update or delete or truncate on transfer
  for each statement execute function append_only();
create trigger posting_append_only before update or delete or truncate on posting
  for each statement execute function append_only();

create table upload (
  -- Names the object too.
  key text primary key,
  customer text not null references customer,
  bytes bigint not null,
  created_ms bigint not null default now_ms(),
  expires_ms bigint not null
);

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
create index run_open on run (created_ms) where status in ('queued', 'staging', 'running');

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
  due_ms bigint not null default now_ms(),
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
create index task_queued on task (customer, run, number) where status = 'queued';
create index task_due on task (due_ms) where status = 'queued';
create index task_leased on task (lease_ms) where status = 'claimed';
create index task_open on task (run) where status in ('queued', 'claimed');

create table worker (
  id text primary key,
  slots integer not null,
  seen_ms bigint not null default now_ms()
);
