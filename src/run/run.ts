import { randomUUID } from 'node:crypto';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import {
  cellParams,
  type Limits,
  type ParamValue,
  Rejection,
  type RunResult,
  type Scope,
  type UnitResult,
} from '../../contract/index.ts';
import type { Cache } from '../archive/cache.ts';
import { type Archive, findFile } from '../archive/catalogue.ts';
import { stageFile } from '../archive/stage.ts';
import { type WrittenReport, writeReport } from '../report/archive.ts';
import { prepareOut } from '../report/folder.ts';
import type { ReportInput } from '../report/report.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { type Prepared, prepare, type Source } from './prepare.ts';
import { type Progress, ProgressMeter } from './progress.ts';
import { Inventory, type Stage } from './staging.ts';
import { runUnits, type WorkItem, workOf } from './work.ts';

export type { Progress } from './progress.ts';

export const ENGINE_VERSION = '0.1.0';

export interface RunRequest {
  readonly source: Source;
  readonly archive: Archive;
  readonly cache: Cache;
  readonly scope: Scope;
  readonly sandbox: Sandbox;
  readonly limits: Limits;
  readonly lockstep: boolean;
  /** Takes the place of the manifest's seed. */
  readonly seed: number | null;
  /** How many boxes may run at once. */
  readonly concurrency: number;
  /** Folder for the report; a sweep's cells lie in `cells/<number>` below it. */
  readonly out: string;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
}

/** What a cell of a finished run came to. */
type Cell = { readonly units: readonly UnitResult[]; readonly params: Readonly<Record<string, ParamValue>> };

/**
 * Runs a strategy over a scope of the archive and writes its report. A rejection and a strategy's failure are results;
 * a fault of ours is thrown. A report appears whole or not at all.
 */
export async function run(request: RunRequest): Promise<RunResult> {
  const began = performance.now();
  const empty = { report: null, archive: null, ticks: 0, replay_ms: 0, stage_ms: 0 };
  const wall = (): number => Math.round(performance.now() - began);
  let prepared: Prepared;
  try {
    const { source, archive, scope, limits, seed } = request;
    prepared = await prepare(source, archive, scope, limits, seed);
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    const rejection = { code: error.code, detail: error.message };
    return { ...empty, outcome: 'rejected', wall_ms: wall(), rejection };
  }
  const cells = cellParams(prepared.manifest);
  for (const cell of cells.keys()) await prepareOut(outOf(request.out, cell, cells.length));
  // Asked before the work: a missing image or engine shows now, and not when there is a report to lose.
  const sandbox = await request.sandbox.describe(prepared.manifest.language);

  const inventory = new Inventory();
  const work = workOf(prepared, cells);
  const meter = new ProgressMeter(
    work.map((item) => item.marketDays.length),
    request.onProgress,
  );
  meter.begin();
  const done = await runUnits(work, {
    prepared,
    stage: stager(request, prepared),
    inventory,
    meter,
    sandbox: request.sandbox,
    limits: request.limits,
    lockstep: request.lockstep,
    concurrency: request.concurrency,
    signal: request.signal,
    name: randomUUID().slice(0, 8),
  });
  const { ticks, stage_ms, replay_ms } = done;
  if (done.failure)
    return {
      ...empty,
      ticks,
      stage_ms,
      replay_ms,
      outcome: 'failed',
      wall_ms: wall(),
      rejection: done.failure,
    };

  meter.report();
  const results = cells.map((params, cell): Cell => ({ params, units: resultsOf(work, done.results, cell) }));
  const times = { ticks, stage_ms, replay_ms };
  const written = await writeCells(request, prepared, inventory, done.dropped, results, {
    sandbox: { kind: request.sandbox.kind, ...sandbox },
    machine: { platform: platform(), arch: arch(), node: process.version },
    ...times,
    wall_ms: wall(),
  });
  return {
    outcome: 'completed',
    report: written.report,
    archive: written.archive,
    ...times,
    wall_ms: wall(),
    rejection: null,
  };
}

const resultsOf = (work: readonly WorkItem[], results: readonly UnitResult[], cell: number): UnitResult[] =>
  results.filter((_, at) => work[at]!.cell === cell);

/** Stages files through the cache; each day's index is read once. */
export function stager(
  { archive, cache, signal }: Pick<RunRequest, 'archive' | 'cache' | 'signal'>,
  { venue }: Prepared,
): Stage {
  const days = new Map<string, ReturnType<Archive['day']>>();
  return async (key) => {
    let day = days.get(key.date);
    if (!day) {
      day = archive.day(venue, key.date, signal);
      days.set(key.date, day);
    }
    const file = findFile(await day, key);
    return file ? stageFile(archive, file, cache, signal) : undefined;
  };
}

const outOf = (out: string, cell: number, cells: number): string =>
  cells === 1 ? out : join(out, 'cells', String(cell).padStart(3, '0'));

/** One cell lies in OUT itself; those of a sweep side by side below it. The first one is what the run answers. */
async function writeCells(
  request: RunRequest,
  prepared: Prepared,
  inventory: Inventory,
  dropped: readonly string[],
  cells: readonly Cell[],
  circumstances: Readonly<Record<string, unknown>>,
): Promise<WrittenReport> {
  const written: WrittenReport[] = [];
  for (const [cell, { units, params }] of cells.entries()) {
    const prefetch_ms = request.lockstep ? 0 : request.limits.prefetch_ms;
    const input = reportInput({ prepared, cell, params, units, inventory, dropped, prefetch_ms });
    const provenance = { run: randomUUID(), ...circumstances };
    const out = outOf(request.out, cell, cells.length);
    written.push(await writeReport(input, { manifest_text: prepared.manifestText, provenance }, out));
  }
  return written[0]!;
}

/** All that a cell's report is made from, wherever its units ran. */
export function reportInput(from: {
  readonly prepared: Prepared;
  readonly cell: number;
  readonly params: Readonly<Record<string, ParamValue>>;
  readonly units: readonly UnitResult[];
  readonly inventory: Inventory;
  readonly dropped: readonly string[];
  readonly prefetch_ms: number;
}): ReportInput {
  const { prepared, inventory, dropped, ...same } = from;
  return {
    ...same,
    manifest: prepared.manifest,
    quote: prepared.quote,
    engine_version: ENGINE_VERSION,
    source_sha256: prepared.checked.source_sha256,
    data_digest: inventory.digest,
    files: inventory.sorted,
    dirt: inventory.dirt,
    places: [...dropped, ...inventory.places],
    least_lag_ms: inventory.leastLagMs,
    prints_archived: inventory.printsArchived,
  };
}
