import type { Limits } from '../../contract/limits.ts';
import { Rejection } from '../../contract/rejection.ts';
import { shown } from './text.ts';

/** A strategy's own time series: one row per time, one array per column. */
export interface Series {
  /** Names of the columns after the timestamp. */
  readonly columns: readonly string[];
  /** Time of each row in UTC ms, never falling. */
  readonly ts: Float64Array;
  /** One array per column; NaN where a field is empty. */
  readonly values: readonly Float64Array[];
}

const MOST_COLUMNS = 256;
const DATE = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]00:?00))?$/;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
/** Timestamps in seconds lie below this until the year 5138, those in ms since March 1973 above it. */
const LEAST_MS = 1e11;
/** The last time a date can hold; timestamps in microseconds lie above it. */
const MOST_MS = 8.64e15;

/**
 * Reads a series: CSV with a header line, a timestamp first (integer UTC ms, or an ISO 8601 date or UTC time) and
 * numbers in every other column, rows in order of time. Throws `Rejection` (E_SERIES) with file, line and column.
 */
export function checkSeries(name: string, bytes: Uint8Array, limits: Pick<Limits, 'series_bytes'>): Series {
  if (bytes.length > limits.series_bytes) {
    throw new Rejection(
      'E_SERIES',
      `${name}: ${bytes.length} bytes; a series has at most ${limits.series_bytes}.`,
    );
  }
  const text = decode(name, bytes);
  const header = lineAt(text, 0);
  const fail = (line: number, column: number, message: string): never => {
    throw new Rejection('E_SERIES', `${name}:${line}:${column}: ${message}`);
  };
  const columns = readHeader(fields(header.text), fail);
  const ts: number[] = [];
  const values: number[][] = columns.map(() => []);
  for (let at = header.next, line = 2; at < text.length; line++) {
    const { text: row, next } = lineAt(text, at);
    at = next;
    if (row.trim() === '') continue;
    const cells = row.split(',');
    if (cells.length !== columns.length + 1) {
      fail(line, 1, `${cells.length} fields, but the header names ${columns.length + 1}.`);
    }
    let column = 1;
    for (const [i, cell] of cells.entries()) {
      const field = unquoted(cell);
      if (i > 0)
        values[i - 1]!.push(
          numberOf(field) ?? fail(line, column, `column ${columns[i - 1]}: ${shown(field)} is not a number.`),
        );
      else {
        const time = timeOf(field, (message) => fail(line, column, message));
        if (time < (ts.at(-1) ?? time))
          fail(line, column, `${field} lies before the row above it; sort the rows by time.`);
        ts.push(time);
      }
      column += cell.length + 1;
    }
  }
  if (ts.length === 0) fail(2, 1, 'there is no row below the header.');
  return { columns, ts: Float64Array.from(ts), values: values.map((column) => Float64Array.from(column)) };
}

function decode(name: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Rejection('E_SERIES', `${name}: not UTF-8 text; save it as CSV in UTF-8.`);
  }
}

function lineAt(text: string, start: number): { text: string; next: number } {
  const end = text.indexOf('\n', start);
  const stop = end < 0 ? text.length : end;
  return {
    text: text.slice(start, text[stop - 1] === '\r' && stop > start ? stop - 1 : stop),
    next: stop + 1,
  };
}

const unquoted = (cell: string): string => cell.trim().replace(/^"(.*)"$/, '$1');
const fields = (line: string): string[] => line.split(',').map(unquoted);

function readHeader(
  names: readonly string[],
  fail: (line: number, column: number, message: string) => never,
): string[] {
  if (names.length === 1 && names[0] === '') fail(1, 1, 'expected a header line, such as ts_ms,value.');
  const [first, ...columns] = names;
  if (NUMBER.test(first!) || DATE.test(first!))
    fail(1, 1, `expected a header line, found ${shown(first!)}; name the columns, such as ts_ms,value.`);
  if (columns.length === 0) fail(1, 1, 'expected columns after the timestamp, split by commas.');
  if (columns.length > MOST_COLUMNS)
    fail(1, 1, `${columns.length} columns; at most ${MOST_COLUMNS} are allowed.`);
  columns.forEach((column, i) => {
    if (column === '') fail(1, 1, `column ${i + 2} has no name.`);
    if (column.length > 64) fail(1, 1, `the name of column ${i + 2} is longer than 64 characters.`);
    if (columns.indexOf(column) < i) fail(1, 1, `the column ${shown(column)} stands twice.`);
  });
  return columns;
}

function timeOf(field: string, fail: (message: string) => never): number {
  if (DATE.test(field)) {
    const ms = Date.parse(field.replace(' ', 'T'));
    // A day that a month does not have would be read as one of the next month.
    const exists = Number.isFinite(ms) && new Date(ms).toISOString().startsWith(field.slice(0, 10));
    return exists ? ms : fail(`${shown(field)} is no date.`);
  }
  if (!/^-?\d+$/.test(field))
    return fail(`${shown(field)} is no timestamp; expected UTC ms, or a time such as 2026-04-16T09:30:00Z.`);
  const ms = Number(field);
  if (Math.abs(ms) < LEAST_MS)
    return fail(`${field} is not in ms; if these are seconds, multiply them by 1000.`);
  if (Math.abs(ms) > MOST_MS / 10)
    return fail(`${field} is not in ms; if these are micro- or nanoseconds, divide them.`);
  return ms;
}

/** NaN for an empty field, null for what is no finite number. */
function numberOf(field: string): number | null {
  if (field === '' || field === 'nan' || field === 'NaN') return Number.NaN;
  const value = NUMBER.test(field) ? Number(field) : Number.NaN;
  return Number.isFinite(value) ? value : null;
}
