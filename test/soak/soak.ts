import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { InsufficientCredits } from '../../src/ledger/refused.ts';
import { Ground } from '../chaos/ground.ts';
import { sound } from '../chaos/sound.ts';
import { until } from '../chaos/until.ts';
import { type Deed, schedule, wreak } from './havoc.ts';
import { pick, random } from './random.ts';
import { type Kind, kinds } from './strategies.ts';

export interface SoakOptions {
  readonly runs: number;
  readonly seed: number;
  readonly workers: number;
  readonly tell: (line: string) => void;
}

export interface Soaked {
  readonly wall_s: number;
  /** By kind: runs that ended as they should, and those given up after too many faults. */
  readonly kinds: Readonly<Record<string, { readonly as_expected: number; readonly faulted: number }>>;
  readonly deeds: Readonly<Partial<Record<Deed, number>>>;
  readonly refused: number;
  readonly repeated: number;
  readonly claims: number;
  readonly faults: number;
  readonly deadlocks: number;
}

const CUSTOMERS = 4;
/** Runs that are open at once. */
const OPEN = 24;
/** For each run: much longer than it takes on a slow machine. */
const RUN_MS = 10_000;

/**
 * Submits runs to a fleet to which everything is done that can befall one, and then holds what remains to what a fleet
 * promises. Throws where it does not hold. The same seed does the same, in the same order.
 */
export async function soak({ runs, seed, workers, tell }: SoakOptions): Promise<Soaked> {
  const began = performance.now();
  const ground = await Ground.open();
  try {
    mkdirSync(join(ground.folder, 'strategies'));
    const all = kinds(join(ground.folder, 'strategies'));
    const customers: string[] = [];
    for (let n = 0; n < CUSTOMERS; n++) customers.push(await ground.customer(`customer-${n}`, 10 * runs));
    const poor = await ground.customer('poor', 0);
    const crew = await Promise.all(Array.from({ length: workers }, () => ground.worker()));

    const off = new AbortController();
    const deeds: Partial<Record<Deed, number>> = {};
    const havoc = wreak(ground, crew, schedule(seed), off.signal, ({ deed, for_ms }) => {
      deeds[deed] = (deeds[deed] ?? 0) + 1;
      tell(`${((performance.now() - began) / 1000).toFixed(1)} s: ${deed}, ${(for_ms / 1000).toFixed(1)} s`);
    });
    const failed = havoc.then(
      () => new Promise<never>(() => {}),
      (error) => {
        throw error;
      },
    );
    const submitted = await Promise.race([submitAll(ground, all, { runs, seed, customers, poor }), failed]);
    const over = until('all runs are over', async () => (await open(ground)) === 0, {
      every_ms: 200,
      most_ms: 60_000 + runs * RUN_MS,
    });
    await Promise.race([over, failed]);
    off.abort();
    await havoc;
    await until('all workers stand still', async () => (await claimed(ground)) === 0);
    await sound(ground);
    return {
      wall_s: Math.round((performance.now() - began) / 1000),
      kinds: await outcomes(ground, submitted.kindOf),
      deeds,
      refused: submitted.refused,
      repeated: submitted.repeated,
      ...(await counts(ground)),
    };
  } finally {
    await ground.close();
  }
}

async function submitAll(
  ground: Ground,
  all: readonly Kind[],
  { runs, seed, customers, poor }: { runs: number; seed: number; customers: readonly string[]; poor: string },
): Promise<{ kindOf: Map<string, Kind>; refused: number; repeated: number }> {
  const draw = random(seed + 1);
  const kindOf = new Map<string, Kind>();
  let [refused, repeated] = [0, 0];
  for (let n = 0; n < runs; n++) {
    const [kind, customer, again] = [pick(draw, all), pick(draw, customers), draw() < 0.1];
    const [{ folder, wanted }, repeat] = [kind, `submission-${n}`];
    const ask = (whose: string) => persistently(() => ground.submit(whose, folder, wanted, { repeat }));
    const { run_id } = await ask(customer);
    kindOf.set(run_id, kind);
    if (again) {
      repeated += 1;
      assert.equal((await ask(customer)).run_id, run_id);
    }
    if (draw() < 0.05) {
      refused += 1;
      await assert.rejects(ask(poor), InsufficientCredits);
    }
    await until('there is room for another run', async () => (await open(ground)) < OPEN, {
      every_ms: 100,
      most_ms: OPEN * RUN_MS,
    });
  }
  return { kindOf, refused, repeated };
}

/** Asks again, as a client does who got no answer. */
async function persistently<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if ((error as Error).name !== 'Unreachable') throw error;
      await sleep(100);
    }
  }
}

async function count(ground: Ground, text: string): Promise<number> {
  const [row] = await ground.db.query<{ n: number }>(text).catch(() => []);
  return row?.n ?? Number.POSITIVE_INFINITY;
}

const open = (ground: Ground) => count(ground, 'select count(*) as n from run where finished_ms is null');
const claimed = (ground: Ground) => count(ground, `select count(*) as n from task where status = 'claimed'`);

/** A run ends as its kind does, or was given up for faults; nothing else is charged for. */
async function outcomes(ground: Ground, kindOf: ReadonlyMap<string, Kind>): Promise<Soaked['kinds']> {
  const rows = await ground.db.query<{
    id: string;
    status: string;
    credits_spent: number;
    code: string | null;
  }>(`select id, status, credits_spent, rejection->>'code' as code from run`);
  assert.equal(rows.length, kindOf.size);
  const told: Record<string, { as_expected: number; faulted: number }> = {};
  for (const { id, status, credits_spent, code } of rows) {
    const { name, ends, spent } = kindOf.get(id)!;
    told[name] ??= { as_expected: 0, faulted: 0 };
    if (code === 'E_FAULT') told[name].faulted += 1;
    else told[name].as_expected += 1;
    const expected = code === 'E_FAULT' ? ['failed', 0] : [ends, spent];
    assert.deepEqual([name, status, credits_spent], [name, ...expected]);
  }
  return told;
}

async function counts(ground: Ground): Promise<Pick<Soaked, 'claims' | 'faults' | 'deadlocks'>> {
  const [row] = await ground.db.query<{ claims: number; faults: number; deadlocks: number }>(
    `select sum(fence) as claims, sum(faults) as faults,
       (select deadlocks from pg_stat_database where datname = current_database()) as deadlocks from task`,
  );
  return row!;
}
