import { constants } from 'node:os';
import { inspect } from 'node:util';
import { CommanderError } from 'commander';
import type { RunResult } from '../../contract/run.ts';

/** A command line that cannot be followed, found before anything ran. */
export class Mistake extends Error {}

/** The user stopped it. */
export class Interrupted extends Error {
  readonly signal: NodeJS.Signals;

  constructor(signal: NodeJS.Signals) {
    super('Stopped before the end; no report was written.');
    this.signal = signal;
  }
}

/** 1: the user's to mend; 128 + n: stopped by signal n; 3: ours. */
export function exitCode(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode;
  if (error instanceof Interrupted) return 128 + constants.signals[error.signal];
  return error instanceof Mistake || rejectionCode(error) !== null ? 1 : 3;
}

/** What the user reads of an error. Its stack only where that helps: for a bug of ours, or when asked for. */
export function explain(error: unknown, debug: boolean): string {
  // It has printed its own.
  if (error instanceof CommanderError) return '';
  if (debug) return `${inspect(error)}\n`;
  if (isBug(error)) return `This is a bug in backtest-fleet, please report it:\n${inspect(error)}\n`;
  return `${[rejectionCode(error), messageOf(error)].filter(Boolean).join(': ')}\n`;
}

/** The same for a program to read: what `--json` puts on stdout, in the shape of the command's other answers. */
export function answer(error: unknown, command: string | undefined): object {
  const mistaken = error instanceof CommanderError || error instanceof Mistake;
  const code = rejectionCode(error) ?? (mistaken ? 'E_USAGE' : 'E_FAULT');
  const rejection = { code, detail: messageOf(error).replace(/^error: /, '') };
  return command === 'run' ? brokenOff(error, rejection) : { ok: false, ...rejection };
}

/** The result of a run that an error ended. */
const brokenOff = (error: unknown, rejection: RunResult['rejection']): RunResult => ({
  outcome: exitCode(error) === 1 ? 'rejected' : 'fault',
  report: null,
  archive: null,
  ticks: 0,
  wall_ms: 0,
  replay_ms: 0,
  stage_ms: 0,
  rejection,
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
