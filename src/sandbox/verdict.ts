import { type Failure, type FailureKind, failures, type Limits, type Place } from '../../contract/index.ts';
import type { Evidence, LimitHit } from './sandbox.ts';

/**
 * What became of a strategy, with the sentence that its author reads; null for one that came to its end. The rows are
 * in order: a valid END wins over everything, and what was seen for certain over what the engine tells. The caller adds `last_logs`.
 */
export function verdict(evidence: Evidence, limits: Limits): Failure | null {
  const { ended, violation, raised, limit, oom } = evidence;
  if (ended) return null;
  if (violation !== null)
    return failure(
      'protocol_violation',
      evidence.place,
      `The strategy's process broke the protocol: ${violation}`,
    );
  if (raised !== null)
    return failure(
      'strategy_error',
      raised.place,
      `${subject(raised.place)} raised ${lastError(raised.traceback)}`,
      raised.traceback,
    );
  if (limit !== null) return ofLimit(limit, evidence.place);
  if (oom)
    return failure(
      'out_of_memory',
      evidence.place,
      // A box that dies between two beats has not told its hook; that says nothing of where it was.
      `${evidence.place.hook ?? 'The strategy'} needed more than ${size(limits.memory_bytes)} of memory (memory_bytes)`,
    );
  return failure(
    'early_exit',
    evidence.place,
    `The strategy's process ${ending(evidence)} before the replay was over`,
  );
}

function ofLimit({ limit, value }: LimitHit, place: Place): Failure {
  const who = subject(place);
  switch (limit) {
    case 'start':
      return failure(
        'timed_out',
        place,
        `The strategy did not get ready within ${seconds(value)} (start_ms)`,
      );
    case 'hook_wall':
      return failure('timed_out', place, `${who} ran for more than ${seconds(value)} (hook_wall_ms)`);
    case 'hook_cpu':
      return failure('timed_out', place, `${who} used more than ${seconds(value)} of CPU time (hook_cpu_ms)`);
    case 'market_day_cpu':
      return failure(
        'timed_out',
        place,
        `The strategy used more than ${seconds(value)} of CPU time, its share for these market-days (market_day_cpu_ms)`,
      );
    case 'stalled':
      return failure(
        'timed_out',
        place,
        `Nothing was heard of the strategy for ${seconds(value)} (hook_wall_ms)`,
      );
    case 'logs':
      return failure(
        'output_limit',
        place,
        `The strategy wrote more than ${size(value)} of logs (log_bytes)`,
      );
    case 'forecasts':
      return failure(
        'output_limit',
        place,
        `The strategy made more than ${count(value)} forecasts (forecasts)`,
      );
    case 'orders':
      return failure('order_limit', place, `The strategy sent more than ${count(value)} orders (orders)`);
  }
}

function failure(kind: FailureKind, place: Place, what: string, traceback = ''): Failure {
  const detail = printable(`${what}${where(place)}.`);
  return { kind, code: failures[kind], detail, place, traceback: printable(traceback), last_logs: [] };
}

function ending({ exit_code, signal }: Evidence): string {
  if (signal === 'SIGKILL') return 'was killed, though not for its memory,';
  if (signal !== null) return `crashed with ${signal}`;
  if (exit_code !== null) return `exited with code ${exit_code}`;
  return 'closed its connection';
}

function subject({ hook }: Place): string {
  return hook === null ? 'The strategy, outside of its hooks,' : hook;
}

function where({ market, ts_ms }: Place): string {
  const at = market === null ? '' : `, in market ${market}`;
  // Beyond this, no Date can be made of it.
  const known = ts_ms !== null && Math.abs(ts_ms) <= 8.64e15;
  return known ? `${at}, at ${new Date(ts_ms).toISOString()} of the replay` : at;
}

/** Python names the error in the last line of a traceback, JavaScript before the first frame. */
function lastError(traceback: string): string {
  const lines = traceback.trimEnd().split('\n');
  const python = /^(Traceback|\s+File ")/.test(traceback);
  const line = python
    ? lines.at(-1)
    : (lines.find((text) => /^(Uncaught |\w*Error\b)/.test(text)) ?? lines[0]);
  return (line || 'an error').slice(0, 300).replace(/\.$/, '');
}

/** Text out of a box, without what a terminal would obey. */
function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, '\ufffd');
}

function seconds(ms: number): string {
  return `${Number((ms / 1000).toPrecision(3))} s`;
}

function size(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB'];
  let unit = 0;
  let value = bytes;
  for (; value >= 1024 && unit < 3; unit++) value /= 1024;
  return `${Number(value.toFixed(1))} ${units[unit]}`;
}

function count(value: number): string {
  return value.toLocaleString('en-US');
}
