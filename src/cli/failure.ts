import { constants } from 'node:os';
import { inspect } from 'node:util';

/** A command line that cannot be followed, found before anything ran. */
export class Mistake extends Error {}

/** The user stopped it. */
export class Interrupted extends Error {
  readonly signal: 'SIGINT' | 'SIGTERM';

  constructor(signal: 'SIGINT' | 'SIGTERM') {
    super('Stopped before the end; no report was written.');
    this.signal = signal;
  }
}

/** 1: the user's to mend; 128 + n: stopped by signal n; 3: ours. */
export function exitCode(error: unknown): number {
  if (error instanceof Interrupted) return 128 + constants.signals[error.signal];
  return error instanceof Mistake || rejectionCode(error) !== null ? 1 : 3;
}

/** What the user reads of an error. Its stack only where that helps: for a bug of ours, or when asked for. */
export function explain(error: unknown, debug: boolean): string {
  if (debug) return `${inspect(error)}\n`;
  if (isBug(error)) return `This is a bug in backtest-fleet, please report it:\n${inspect(error)}\n`;
  return `${[rejectionCode(error), messageOf(error)].filter(Boolean).join(': ')}\n`;
}

/** The same for a program to read. */
export const refusal = (error: unknown): { code: string; detail: string } => ({
  code: rejectionCode(error) ?? 'E_FAULT',
  detail: messageOf(error),
});

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** By name, because importing the class takes longer than printing a help text. */
function rejectionCode(error: unknown): string | null {
  return error instanceof Error && error.name === 'Rejection'
    ? (error as Error & { code: string }).code
    : null;
}

/** No part of this program throws these on purpose. */
function isBug(error: unknown): boolean {
  return (
    !(error instanceof Error) ||
    ['TypeError', 'ReferenceError', 'SyntaxError', 'RangeError', 'AssertionError', 'ZodError'].includes(
      error.name,
    )
  );
}
