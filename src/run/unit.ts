import type { Failure, Language, Limits, UnitResult, WireStart } from '../../contract/index.ts';
import type { Box, Sandbox } from '../sandbox/sandbox.ts';
import { Conversation } from './conversation.ts';
import type { SegmentPlan } from './segment.ts';

/** One process' worth of work: its segments run one after another, each made when its turn comes. */
export interface UnitPlan {
  readonly name: string;
  readonly language: Language;
  readonly start: WireStart;
  readonly segments: readonly (() => SegmentPlan)[];
  readonly market_days: number;
  /** Whether a log line or forecast names its segment's market. */
  readonly perMarket: boolean;
}

export interface UnitOptions {
  readonly sandbox: Sandbox;
  readonly limits: Limits;
  readonly lockstep: boolean;
  readonly signal: AbortSignal;
  /** Wall-clock time after which the box is ended, whatever it says. */
  readonly deadline_ms: number;
  /** Called now and then: segments done, tick rows shown so far. */
  readonly onProgress: (segments: number, ticks: number) => void;
}

export type UnitOutcome =
  | { readonly ok: true; readonly result: UnitResult; readonly ticks: number }
  | { readonly ok: false; readonly failure: Failure };

const REAP_AFTER_MS = 120_000;
/** The longest time that a timer can wait for, ms. */
const TIMER_MS = 2 ** 31 - 1;

/** Runs a unit in a fresh box. A fault of ours is thrown; what became of the strategy is returned. */
export async function runUnit(plan: UnitPlan, options: UnitOptions): Promise<UnitOutcome> {
  options.signal.throwIfAborted();
  const { sandbox, limits, deadline_ms } = options;
  // Whoever else removes overdue boxes comes after the verdict.
  const reapable_ms = deadline_ms + REAP_AFTER_MS;
  const request = { name: plan.name, language: plan.language, limits, deadline_ms: reapable_ms };
  const box = await unlessAborted(sandbox.open(request), options.signal);
  const conversation = new Conversation(plan, box, options);
  const abort = (): void => conversation.stop();
  options.signal.addEventListener('abort', abort);
  // The backstop for a box that says harmless things for ever.
  const left_ms = Math.min(deadline_ms - Date.now(), TIMER_MS);
  const overdue = setTimeout(() => conversation.overdue(), left_ms).unref();
  try {
    await conversation.run();
  } finally {
    clearTimeout(overdue);
    options.signal.removeEventListener('abort', abort);
    conversation.close();
    conversation.exit = await box.close(conversation.ended ? 2_000 : 0);
  }
  options.signal.throwIfAborted();
  return conversation.outcome();
}

/** Whoever calls off a unit does not wait for its box to start: that one is closed as soon as it is there. */
function unlessAborted(opening: Promise<Box>, signal: AbortSignal): Promise<Box> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort);
    opening
      .then(async (box) => {
        if (signal.aborted) await box.close(0);
        else resolve(box);
      })
      .catch(reject)
      .finally(() => signal.removeEventListener('abort', abort));
  });
}
