import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Failure, Limits, UnitResult } from '../../contract/index.ts';
import type { Cache } from '../archive/cache.ts';
import type { Archive } from '../archive/catalogue.ts';
import type { Prepared } from '../run/prepare.ts';
import { type Progress, ProgressMeter } from '../run/progress.ts';
import { stager } from '../run/run.ts';
import { type FileRecord, Inventory } from '../run/staging.ts';
import { runUnits, workAt } from '../run/work.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { ObjectStore } from '../store/store.ts';
import { fetchObject } from './object.ts';

/** What a shard came to: everything that the assembly needs of it. */
export interface ShardResult {
  readonly unit: UnitResult;
  readonly files: readonly FileRecord[];
  readonly dropped: readonly string[];
  readonly ticks: number;
}

export interface ShardParts {
  readonly store: ObjectStore;
  readonly archive: Archive;
  readonly cache: Cache;
  readonly sandbox: Sandbox;
  readonly limits: Limits;
}

export type ShardOutcome =
  | {
      readonly ok: true;
      readonly result: string;
      readonly sha256: string;
      readonly ticks: number;
      readonly stage_ms: number;
      readonly replay_ms: number;
    }
  | { readonly ok: false; readonly failure: Failure };

/**
 * Replays one unit of a run's work and stores what it came to as an object named by its content. A strategy's failure
 * is returned; a fault of ours is thrown, and nothing is stored.
 */
export async function replayShard(
  parts: ShardParts,
  prepared: Prepared,
  shard: { readonly run: string; readonly number: number; readonly fence: number },
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<ShardOutcome> {
  const { store, archive, cache, sandbox, limits } = parts;
  const item = workAt(prepared, shard.number);
  const inventory = new Inventory();
  const done = await runUnits([item], {
    prepared,
    stage: stager({ archive: present(archive), cache, signal }, prepared),
    inventory,
    meter: new ProgressMeter([item.marketDays.length], onProgress),
    sandbox,
    limits,
    lockstep: false,
    concurrency: 1,
    signal,
    name: `${shard.run}-${shard.number}-${shard.fence}`,
  });
  if (done.failure) return { ok: false, failure: done.failure };
  const { ticks, stage_ms, replay_ms, dropped } = done;
  const made: ShardResult = { unit: done.results[0]!, files: inventory.records, dropped, ticks };
  const bytes = gzipSync(JSON.stringify(made), { level: 1 });
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const result = `run/${shard.run}/shard/${shard.number}/${sha256}.json.gz`;
  signal.throwIfAborted();
  await store.put(result, bytes);
  return { ok: true, result, sha256, ticks, stage_ms, replay_ms };
}

/** A day may have left the archive since the plan was made; an archive without any is away, and that is a fault. */
const present = (archive: Archive): Archive => ({
  ...archive,
  async day(venue, date, signal) {
    const day = await archive.day(venue, date, signal);
    if (day !== null) return day;
    const days = await archive.days(venue, signal);
    if (days.length > 0 && !days.includes(date)) return null;
    throw new Error(`the archive ${archive.location} was away when ${venue} ${date} was read`);
  },
});

/** A shard's result as it was stored. Ours, and verified: it came out of no box. */
export async function loadShard(store: ObjectStore, key: string, sha256: string): Promise<ShardResult> {
  return JSON.parse(gunzipSync(await fetchObject(store, key, sha256)).toString()) as ShardResult;
}
