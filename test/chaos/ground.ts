import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, expect, test } from 'vitest';
import { FLEET_LIMITS, LIMITS, type Scope, scope } from '../../contract/index.ts';
import { openArchive } from '../../src/archive/catalogue.ts';
import { readSource } from '../../src/check/read.ts';
import { openDatabase, openStore } from '../../src/compose.ts';
import { type Config, parse } from '../../src/config.ts';
import type { Database } from '../../src/database/database.ts';
import { type Submission, type Submitted, submit } from '../../src/fleet/submit.ts';
import { createCustomer } from '../../src/ledger/customer.ts';
import { violations } from '../../src/ledger/invariants.ts';
import { grant } from '../../src/ledger/transfer.ts';
import { openBullQueue } from '../../src/queue/bullmq.ts';
import type { RunQueue } from '../../src/queue/queue.ts';
import { prepare } from '../../src/run/prepare.ts';
import type { ObjectStore } from '../../src/store/store.ts';
import { SYNTHETIC } from '../run/runs.ts';
import { type Postgres, startPostgres } from '../services/postgres.ts';
import { type Redis, startRedis } from '../services/redis.ts';
import { childrenOf, type Hand, processesOf, startHand } from './crew.ts';
import { Calm, entriesOf, sha256 } from './reports.ts';
import { until } from './until.ts';

/** Everything that waits is short, so that a case sees leases end and sweepers sweep. */
const HASTY = {
  BACKTEST_LEASE_MS: '1500',
  BACKTEST_SWEEP_MS: '300',
  BACKTEST_BACKOFF_MS: '200',
  BACKTEST_GRACE_MS: '500',
};

/** A market-day of the fixtures, and two of them: a shard each. */
export const ONE_DAY = { assets: ['BTC'], from: '2026-10-14', to: '2026-10-14' };
export const TWO_DAYS = { assets: ['BTC'], from: '2026-10-14', to: '2026-10-15' };

const calm = new Calm();
afterAll(() => calm.close());

/** A fleet of real servers and processes, and an account of what it was asked to do. */
export class Ground {
  readonly postgres: Postgres;
  readonly redis: Redis;
  readonly folder: string;
  readonly config: Config;
  readonly db: Database;
  readonly store: ObjectStore;
  readonly queue: RunQueue;
  private readonly hands: Hand[] = [];
  private readonly asked = new Map<string, { folder: string; wanted: Partial<Scope> }>();

  private constructor(
    postgres: Postgres,
    redis: Redis,
    folder: string,
    config: Config,
    opened: { readonly db: Database; readonly store: ObjectStore },
  ) {
    this.postgres = postgres;
    this.redis = redis;
    this.folder = folder;
    this.config = config;
    this.db = opened.db;
    this.store = opened.store;
    this.queue = openBullQueue(redis.url);
  }

  static async open(folder = mkdtempSync(join(tmpdir(), 'backtest-chaos-'))): Promise<Ground> {
    const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
    mkdirSync(join(folder, 'temp'));
    const config = parse(environment(folder, { postgres, redis }), folder, join(folder, 'temp'));
    const [db, store] = await Promise.all([openDatabase(config), openStore(config)]);
    await db.script(RECORD_MOVES);
    return new Ground(postgres, redis, folder, config, { db, store });
  }

  /** The environment of a process of this fleet. */
  env(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    return { ...environment(this.folder, this), ...more };
  }

  async customer(name: string, credits: number): Promise<string> {
    const { id } = await createCustomer(this.db, name);
    await grant(this.db, { id: `grant-${name}`, customer: id, amount: credits });
    return id;
  }

  async submit(
    customer: string,
    folder: string,
    wanted: Partial<Scope> = ONE_DAY,
    more: Partial<Submission> = {},
  ): Promise<Submitted> {
    const archive = openArchive(SYNTHETIC);
    const prepared = await prepare(
      await readSource(folder, LIMITS),
      archive,
      scope.parse(wanted),
      LIMITS,
      null,
    );
    const submission = { customer, prepared, uploads: new Map(), locale: 'en', email: null, repeat: null };
    const submitted = await submit(this, { ...submission, ...more }, FLEET_LIMITS);
    this.expect(submitted.run_id, folder, wanted);
    return submitted;
  }

  /** Says what a run that was submitted by other means is of. */
  expect(run: string, folder: string, wanted: Partial<Scope>): void {
    this.asked.set(run, { folder, wanted });
  }

  async worker(more: Readonly<Record<string, string>> = {}, nodeArgs: readonly string[] = []): Promise<Hand> {
    const hand = await startHand(this.env(more), nodeArgs);
    this.hands.push(hand);
    return hand;
  }

  /** Waits until a run is over, through whatever befalls the database meanwhile. */
  async over(run: string): Promise<'done' | 'failed'> {
    const [row] = await until(`${run} is over`, async () => {
      const rows = await this.db
        .query<{ status: 'done' | 'failed' }>(
          `select status from run where id = $1 and finished_ms is not null`,
          [run],
        )
        .catch(() => []);
      return rows.length > 0 ? rows : null;
    });
    return row!.status;
  }

  async faults(run: string): Promise<number> {
    const [row] = await this.db.query<{ faults: number }>(
      'select sum(faults) as faults from task where run = $1',
      [run],
    );
    return row!.faults;
  }

  /** Nothing of what a fleet promises was broken, and nobody is left behind. Every run must be over. */
  async sound(): Promise<void> {
    expect(await violations(this.db)).toEqual([]);
    expect(
      await this.db.query(`select run, status from moved where status not in ('staging', 'running')
       group by run, status having count(*) > 1`),
    ).toEqual([]);
    expect(await this.db.query(`select id, status from run where status not in ('done', 'failed')`)).toEqual(
      [],
    );
    expect(await this.db.query(`select run, number from task where status in ('queued', 'claimed')`)).toEqual(
      [],
    );
    expect(await this.db.query(UNBALANCED)).toEqual([]);
    const done = await this.db.query<{ id: string; archive: string; archive_sha256: string }>(
      `select id, archive, archive_sha256 from run where status = 'done'`,
    );
    for (const run of done) {
      const stream = await this.store.get(run.archive);
      const bytes = await buffer(stream!);
      expect(sha256(bytes)).toBe(run.archive_sha256);
      const { folder, wanted } = this.asked.get(run.id)!;
      const { 'cells.json': _, ...entries } = await entriesOf(bytes);
      expect(entries).toEqual(await calm.entries(folder, wanted));
    }
    await this.nobodyLeft();
  }

  /** Who of this fleet's processes still lives is a worker, or a replayer of one. */
  private async nobodyLeft(): Promise<void> {
    const strangers = (): number[] => {
      const known = this.hands.filter(({ running }) => running).map(({ pid }) => pid);
      const crew = [...known, ...known.flatMap((pid) => childrenOf(pid))];
      return processesOf(this.folder).filter((pid) => !crew.includes(pid));
    };
    const named = () =>
      strangers().map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' '));
    await until('nobody is left behind', () => strangers().length === 0, { most_ms: 15_000 }).catch(() => {
      expect(named()).toEqual([]);
    });
  }

  async close(): Promise<void> {
    for (const hand of this.hands) {
      hand.resume();
      await hand.kill();
    }
    await Promise.all([this.db.close(), this.queue.close(), this.store.close()]);
    await Promise.all([this.postgres.stop(), this.redis.stop()]);
    await rm(this.folder, { recursive: true, force: true });
  }
}

function environment(
  folder: string,
  { postgres, redis }: { readonly postgres: Postgres; readonly redis: Redis },
): Record<string, string> {
  return {
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
    BACKTEST_DATA: join(folder, 'data'),
    BACKTEST_ARCHIVE: SYNTHETIC,
    BACKTEST_CACHE: join(folder, 'cache'),
    BACKTEST_SANDBOX: 'process',
    BACKTEST_SLOTS: '1',
    BACKTEST_OPS_PORT: '0',
    ...HASTY,
    TMPDIR: join(folder, 'temp'),
  };
}

/** Remembers every status that a run came to. */
const RECORD_MOVES = `
  create table moved (run text, status text);
  create function record_move() returns trigger language plpgsql as $$
    begin insert into moved values (new.id, new.status); return null; end $$;
  create trigger run_moves after update of status on run
    for each row when (old.status <> new.status) execute function record_move();`;

/** Whose grants are not what they have and have spent; credits on hold. */
const UNBALANCED = `
  select customer.id, balance, granted, spent from customer,
    lateral (select coalesce(sum(amount), 0) as granted from transfer
      where customer = customer.id and kind = 'grant') as granted,
    lateral (select coalesce(sum(credits_spent), 0) as spent from run where customer = customer.id) as spent
  where granted <> balance + spent
  union all
  select account, sum(amount), null, null from posting where account = 'holds' group by account having sum(amount) <> 0`;

/** At once: enough that nobody only waits, few enough that nobody's lease ends for want of a processor. */
const SCENES = 3;
let scenes = 0;

/** A case with servers of its own. Whatever happens in it, the ground is sound at its end. */
export function chaos(
  title: string,
  play: (ground: Ground, customer: string) => Promise<void>,
  folder?: string,
): void {
  test.concurrent(title, async () => {
    await until('there is room', () => scenes < SCENES, { most_ms: 300_000 });
    scenes += 1;
    const ground = await Ground.open(folder);
    try {
      await play(ground, await ground.customer('first', 1_000));
      await ground.sound();
    } finally {
      await ground.close();
      scenes -= 1;
    }
  }, 300_000);
}
