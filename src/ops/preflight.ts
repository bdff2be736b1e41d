import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { clean } from './log.ts';

/** Between rounds of checks: while something is wrong, and once all is well. */
const AGAIN_MS = 1_000;
const RELAXED_MS = 15_000;
/** The longest one starts containers. */
const CHECK_MS = 60_000;

export interface Check {
  readonly name: string;
  /** One that is not needed is shown when it fails, and that is all. */
  readonly needed: boolean;
  /** Throws with what to mend. */
  readonly run: () => Promise<void>;
}

export interface Readiness {
  /** `problems`: what is wrong, by the name of its check. */
  state(): { readonly ready: boolean; readonly problems: Readonly<Record<string, string>> };
}

export interface Watch extends Readiness {
  /** Resolves when nothing needed is wrong for the first time; never rejects. */
  readonly passed: Promise<void>;
  stop(): void;
}

/** Runs checks again and again, so that what is mended is noticed without a restart. */
export function watch(checks: readonly Check[], log: Logger): Watch {
  const problems = new Map(checks.map(({ name }) => [name, 'not checked yet']));
  const stopping = new AbortController();
  let pass!: () => void;
  const passed = new Promise<void>((resolve) => {
    pass = resolve;
  });
  const fine = () => checks.every(({ name, needed }) => !needed || !problems.has(name));

  const check = async ({ name, needed, run }: Check): Promise<void> => {
    const before = problems.get(name);
    try {
      await inTime(run);
      problems.delete(name);
      if (before !== undefined) log.info({ event: 'check_passed', check: name });
      if (fine()) pass();
    } catch (error) {
      const problem = clean((error as Error).message);
      problems.set(name, problem);
      if (before !== problem) log.warn({ event: 'check_failed', check: name, needed, problem });
    }
  };
  const rounds = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await Promise.all(checks.map(check));
      const wait = problems.size === 0 ? RELAXED_MS : AGAIN_MS;
      await sleep(wait, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  void rounds();
  return {
    passed,
    state: () => ({ ready: fine(), problems: Object.fromEntries(problems) }),
    stop: () => stopping.abort(),
  };
}

/** One that hangs must not keep the others from being asked again. */
async function inTime(run: () => Promise<void>): Promise<void> {
  const done = new AbortController();
  const late = sleep(CHECK_MS, undefined, { signal: done.signal }).then(() => {
    throw new Error(`no answer within ${CHECK_MS / 1000} s`);
  });
  late.catch(() => {});
  await Promise.race([run(), late]).finally(() => done.abort());
}
