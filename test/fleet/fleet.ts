import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  FLEET_LIMITS,
  type FleetLimits,
  LIMITS,
  type Limits,
  type Run,
  scope,
} from '../../contract/index.ts';
import { openArchive } from '../../src/archive/catalogue.ts';
import { readSource } from '../../src/check/read.ts';
import { openStore, PACKAGE, type SandboxKind } from '../../src/compose.ts';
import { type Config, parse } from '../../src/config.ts';
import type { Database } from '../../src/database/database.ts';
import { migrate } from '../../src/database/migrate.ts';
import { openPglite } from '../../src/database/pglite.ts';
import { readRun } from '../../src/fleet/runs.ts';
import { Slot } from '../../src/fleet/slot.ts';
import { type Submission, type Submitted, submit } from '../../src/fleet/submit.ts';
import { type RunningWorker, startWorker, type WorkerEvent } from '../../src/fleet/worker.ts';
import { createCustomer } from '../../src/ledger/customer.ts';
import { grant } from '../../src/ledger/transfer.ts';
import { openMemoryQueue } from '../../src/queue/memory.ts';
import type { RunQueue } from '../../src/queue/queue.ts';
import { prepare } from '../../src/run/prepare.ts';
import type { ObjectStore } from '../../src/store/store.ts';
import { SYNTHETIC } from '../run/runs.ts';

export interface FleetOptions {
  readonly limits?: Partial<FleetLimits>;
  readonly box?: Partial<Limits>;
  readonly archive?: string;
  readonly sandbox?: SandboxKind;
  /** An own database and queue each, if none are given. */
  readonly db?: Database;
  readonly queue?: RunQueue;
}

/** A whole fleet in one process: database, queue, store, and as many workers as a test starts. */
export class Fleet {
  readonly folder: string;
  readonly config: Config;
  readonly db: Database;
  readonly queue: RunQueue;
  readonly store: ObjectStore;
  readonly limits: FleetLimits;
  readonly box: Limits;
  readonly events: WorkerEvent[] = [];
  private readonly sandbox: SandboxKind;
  private readonly workers: RunningWorker[] = [];

  private constructor(
    folder: string,
    config: Config,
    store: ObjectStore,
    {
      db,
      queue,
      limits,
      box,
      sandbox = 'process',
    }: Required<Pick<FleetOptions, 'db' | 'queue'>> & FleetOptions,
  ) {
    this.folder = folder;
    this.sandbox = sandbox;
    this.config = config;
    this.store = store;
    this.db = db;
    this.queue = queue;
    this.limits = { ...FLEET_LIMITS, progress_ms: 100, sweep_ms: 300, ...limits };
    this.box = { ...LIMITS, ...box };
  }

  static async open(options: FleetOptions = {}): Promise<Fleet> {
    const folder = mkdtempSync(join(tmpdir(), 'backtest-fleet-'));
    const env = {
      BACKTEST_ARCHIVE: options.archive ?? SYNTHETIC,
      BACKTEST_DATA: join(folder, 'data'),
      BACKTEST_CACHE: join(folder, 'cache'),
    };
    const config = parse(env, folder, tmpdir());
    const db = options.db ?? (await openPglite(null));
    await migrate(db, join(PACKAGE, 'src/database/migrations'));
    const queue = options.queue ?? openMemoryQueue();
    return new Fleet(folder, config, await openStore(config), { ...options, db, queue });
  }

  async customer(name: string, credits: number): Promise<string> {
    const customer = await createCustomer(this.db, name);
    await grant(this.db, { id: `grant-${name}`, customer: customer.id, amount: credits });
    return customer.id;
  }

  async submit(
    customer: string,
    folder: string,
    wanted: object = { days: 1 },
    more: Partial<Submission> = {},
  ): Promise<Submitted> {
    const archive = openArchive(this.config.archive!);
    const prepared = await prepare(
      await readSource(folder, this.box),
      archive,
      scope.parse(wanted),
      this.box,
      null,
    );
    const submission = {
      customer,
      prepared,
      uploads: new Map(),
      locale: 'en',
      email: null,
      repeat: null,
      ...more,
    };
    return submit(this, submission, this.limits);
  }

  async work(slots = 1, id = `worker-${this.workers.length}`): Promise<RunningWorker> {
    const open = { config: this.config, sandbox: this.sandbox, limits: this.box };
    const worker = await startWorker({
      id,
      db: this.db,
      queue: this.queue,
      store: this.store,
      slots: Array.from({ length: slots }, () => new Slot(open)),
      limits: this.limits,
      tell: (event) => this.events.push(event),
    });
    this.workers.push(worker);
    return worker;
  }

  /** Waits until a run is over. */
  async over(customer: string, id: string): Promise<Run> {
    for (;;) {
      const run = await readRun(this.db, customer, id);
      if (run === null || run.finished_ms !== null) return run!;
      await sleep(50);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.stop()));
    await this.queue.close();
    await this.db.close();
    await this.store.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}
