import { on } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, watch } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FLEET_LIMITS, LIMITS, type Scope, scope } from '../../contract/index.ts';
import { openArchive } from '../../src/archive/catalogue.ts';
import { readSource } from '../../src/check/read.ts';
import { openDatabase, openStore } from '../../src/compose.ts';
import { type Config, parse } from '../../src/config.ts';
import type { Database } from '../../src/database/database.ts';
import { type Submission, type Submitted, submit } from '../../src/fleet/submit.ts';
import { createCustomer } from '../../src/ledger/customer.ts';
import { grant } from '../../src/ledger/transfer.ts';
import { openBullQueue } from '../../src/queue/bullmq.ts';
import type { RunQueue } from '../../src/queue/queue.ts';
import { prepare } from '../../src/run/prepare.ts';
import type { ObjectStore } from '../../src/store/store.ts';
import { SYNTHETIC } from '../run/runs.ts';
import { type Postgres, startPostgres } from '../services/postgres.ts';
import { type Redis, startRedis } from '../services/redis.ts';
import { end, type Hand, processesOf, startHand } from './crew.ts';
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

/** A fleet of real servers and processes, and an account of what it was asked to do. */
export class Ground {
  readonly postgres: Postgres;
  readonly redis: Redis;
  readonly folder: string;
  readonly config: Config;
  readonly db: Database;
  readonly store: ObjectStore;
  readonly queue: RunQueue;
  readonly hands: Hand[] = [];
  /** What each run is of. */
  readonly asked = new Map<string, { folder: string; wanted: Partial<Scope> }>();

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

  /** The names of what the store has below a key. */
  objects(key: string): string[] {
    const path = join(this.folder, 'data/objects/objects', ...key.split('/').map((part) => `${part}+`));
    return existsSync(path) ? readdirSync(path) : [];
  }

  /** Resolves when an assembly begins to write. */
  async assembles(): Promise<void> {
    const temp = watch(join(this.folder, 'temp'));
    for await (const [, name] of on(temp, 'change')) if (String(name).startsWith('box-assembly-')) break;
    temp.close();
  }

  async faults(run: string): Promise<number> {
    const [row] = await this.db.query<{ faults: number }>(
      'select sum(faults) as faults from task where run = $1',
      [run],
    );
    return row!.faults;
  }

  async close(): Promise<void> {
    for (const hand of this.hands) {
      hand.resume();
      await hand.kill();
    }
    // After a case that failed somebody may be left.
    for (const pid of processesOf(this.folder)) end(pid);
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
