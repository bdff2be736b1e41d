import {
  cellParams,
  type Failure,
  type Limits,
  type MarketDay,
  type ParamValue,
  type UnitResult,
} from '../../contract/index.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { feedsOf, groupsOf, listMarkets, type PlanInput, planSegment } from './plan.ts';
import type { Prepared } from './prepare.ts';
import type { ProgressMeter } from './progress.ts';
import { type Inventory, type Stage, type StagedDays, stageDays } from './staging.ts';
import { runUnit, type UnitOutcome, type UnitPlan } from './unit.ts';

/** A unit of work before its data is staged: one asset, interval and day in market mode, everything in a session. */
export interface WorkItem {
  readonly cell: number;
  readonly params: Readonly<Record<string, ParamValue>>;
  readonly marketDays: readonly MarketDay[];
}

export interface WorkOptions {
  readonly prepared: Prepared;
  readonly stage: Stage;
  readonly inventory: Inventory;
  readonly meter: ProgressMeter;
  readonly sandbox: Sandbox;
  readonly limits: Limits;
  readonly lockstep: boolean;
  readonly concurrency: number;
  readonly signal: AbortSignal;
  /** Begins the name of every box. */
  readonly name: string;
}

export interface WorkDone {
  readonly results: readonly UnitResult[];
  /** Markets that could not be replayed, with the reason. */
  readonly dropped: readonly string[];
  /** Of the first unit, in the order of the plan, that made no result. */
  readonly failure: Failure | null;
  readonly ticks: number;
  /** Time spent in staging and in boxes, added over units. */
  readonly stage_ms: number;
  readonly replay_ms: number;
}

/** The units of a run: days outside, cells inside, so that the cells of a day share its staging. */
export function workOf(
  prepared: Prepared,
  cells: readonly Readonly<Record<string, ParamValue>>[],
): WorkItem[] {
  const { manifest, marketDays } = prepared;
  const scopes = manifest.mode === 'session' ? [marketDays] : marketDays.map((day) => [day]);
  return scopes.flatMap((days) => cells.map((params, cell) => ({ cell, params, marketDays: days })));
}

/** How many units `workOf` makes of a run; those may be more than fit into memory. */
export const workSize = ({ manifest, marketDays, quote }: Prepared): number =>
  (manifest.mode === 'session' ? 1 : marketDays.length) * quote.sweepCells;

/** The unit that stands at `at` in `workOf`, without making the others. */
export function workAt({ manifest, marketDays }: Prepared, at: number): WorkItem {
  const cells = cellParams(manifest);
  const cell = at % cells.length;
  const days = manifest.mode === 'session' ? marketDays : [marketDays[Math.floor(at / cells.length)]!];
  return { cell, params: cells[cell]!, marketDays: days };
}

/**
 * Runs units side by side. What comes out does not depend on how many run at once: results stand in the order of the
 * plan, and where units fail it is the first of them that counts.
 */
export async function runUnits(work: readonly WorkItem[], options: WorkOptions): Promise<WorkDone> {
  const fault = new AbortController();
  const aborts = work.map(() => new AbortController());
  const outcomes: (UnitOutcome | undefined)[] = work.map(() => undefined);
  const dropped = new Set<string>();
  const shared = new SharedStaging(work, options);
  let next = 0;
  let failedAt = work.length;
  let stage_ms = 0;
  let replay_ms = 0;

  const one = async (at: number): Promise<void> => {
    const signal = AbortSignal.any([options.signal, fault.signal, aborts[at]!.signal]);
    const began = performance.now();
    const staged = await shared.take(at);
    const ready = performance.now();
    stage_ms += ready - began;
    try {
      outcomes[at] = await runItem(work[at]!, at, staged, options, signal, (reason) => dropped.add(reason));
    } catch (error) {
      // A unit behind a failed one was called off: whatever it died of does not matter.
      if (!aborts[at]!.signal.aborted) throw error;
    } finally {
      shared.release(at);
      replay_ms += performance.now() - ready;
    }
    if (outcomes[at]?.ok === false && at < failedAt) {
      failedAt = at;
      for (const abort of aborts.slice(at + 1)) abort.abort();
    }
  };
  const lane = async (): Promise<void> => {
    while (next < failedAt && !fault.signal.aborted) await one(next++);
  };
  await Promise.allSettled(
    Array.from({ length: Math.min(options.concurrency, work.length) }, () =>
      lane().catch((error) => {
        fault.abort(error);
        throw error;
      }),
    ),
  );
  options.signal.throwIfAborted();
  // Lanes that were called off died of the abort; the first fault is its reason.
  fault.signal.throwIfAborted();

  const results = outcomes.flatMap((outcome) => (outcome?.ok ? [outcome.result] : []));
  const ticks = outcomes.reduce((sum, outcome) => sum + (outcome?.ok ? outcome.ticks : 0), 0);
  const failed = outcomes[failedAt];
  const failure = failed && !failed.ok ? failed.failure : null;
  return {
    results,
    dropped: [...dropped].sort(),
    failure,
    ticks,
    stage_ms: Math.round(stage_ms),
    replay_ms: Math.round(replay_ms),
  };
}

async function runItem(
  item: WorkItem,
  at: number,
  staged: StagedDays,
  options: WorkOptions,
  signal: AbortSignal,
  onDropped: (reason: string) => void,
): Promise<UnitOutcome> {
  const { prepared, limits, meter, sandbox, lockstep } = options;
  const { manifest } = prepared;
  const input: PlanInput = {
    manifest,
    venue: prepared.venue,
    limits,
    find: staged.find,
    series: prepared.series,
  };
  const feeds = feedsOf(input, [...new Set(item.marketDays.map((day) => day.asset))]);
  const { markets, dropped } = listMarkets(input, item.marketDays);
  for (const reason of dropped) onDropped(reason);
  const groups = groupsOf(manifest.mode, markets);
  const plan: UnitPlan = {
    name: `${options.name}-${at}`,
    language: manifest.language,
    start: {
      language: manifest.language,
      entry: manifest.entry,
      files: prepared.files,
      imports: prepared.checked.imports,
      params: item.params,
      seed: manifest.seed,
      feeds: feeds.map((feed) => feed.wire),
      depth: prepared.checked.depth,
      warmup_ms: manifest.warmup_ms,
      feed_ms: manifest.execution.latency_ms.feed,
      limits: {
        frame_bytes: limits.frame_bytes,
        log_line_bytes: limits.log_line_bytes,
        error_bytes: limits.error_bytes,
        tag_bytes: limits.tag_bytes,
      },
    },
    segments: groups.map((group, portfolio) => () => planSegment(input, feeds, group, portfolio)),
    market_days: item.marketDays.length,
    perMarket: manifest.mode === 'market',
  };
  return runUnit(plan, {
    sandbox,
    limits,
    lockstep,
    signal,
    deadline_ms: Date.now() + deadline(limits, item.marketDays.length),
    onProgress: (segments, ticks) =>
      meter.unit(at, segments / Math.max(1, groups.length), item.marketDays.length, ticks),
  });
}

/** Long after the last limit would have ended it. */
const deadline = (limits: Limits, marketDays: number): number =>
  10 * (limits.start_ms + limits.hook_wall_ms + marketDays * limits.market_day_cpu_ms);

/** Staged days, kept as long as a unit still needs them. */
class SharedStaging {
  private readonly work: readonly WorkItem[];
  private readonly options: WorkOptions;
  private readonly staged = new Map<string, { days: Promise<StagedDays>; users: number }>();

  constructor(work: readonly WorkItem[], options: WorkOptions) {
    this.work = work;
    this.options = options;
  }

  async take(at: number): Promise<StagedDays> {
    const { marketDays } = this.work[at]!;
    const { prepared, stage, inventory } = this.options;
    let entry = this.staged.get(keyOf(marketDays));
    if (!entry) {
      const users = this.work.filter((item) => keyOf(item.marketDays) === keyOf(marketDays)).length;
      const days = stageDays(prepared.manifest, marketDays, stage).then((made) => {
        inventory.add(made.files);
        return made;
      });
      entry = { days, users };
      this.staged.set(keyOf(marketDays), entry);
    }
    return entry.days;
  }

  release(at: number): void {
    const key = keyOf(this.work[at]!.marketDays);
    const entry = this.staged.get(key)!;
    if (--entry.users === 0) this.staged.delete(key);
  }
}

const keyOf = (marketDays: readonly MarketDay[]): string =>
  marketDays.map(({ asset, interval, date }) => `${asset} ${interval} ${date}`).join(',');
