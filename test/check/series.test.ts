import { describe, expect, test } from 'vitest';
import { Rejection } from '../../contract/rejection.ts';
import { checkSeries } from '../../src/check/series.ts';
import { readSeriesFile } from '../../src/check/seriesfile.ts';

const limits = { series_bytes: 1000 };
const read = (text: string) => checkSeries('f.csv', new TextEncoder().encode(text), limits);
const said = (bytes: string | Uint8Array): string => {
  try {
    checkSeries('f.csv', typeof bytes === 'string' ? new TextEncoder().encode(bytes) : bytes, limits);
  } catch (error) {
    if (error instanceof Rejection) return `${error.code} ${error.message}`;
    throw error;
  }
  throw new Error('expected a rejection');
};

describe('a series', () => {
  test('is a timestamp and numbers; what is empty is not known', () => {
    const { columns, ts, values } = read(
      'ts_ms,rate,"open interest"\n1776297600000,0.01,5\n1776297600000,,nan\n1776297660000,-1e-3,+.5\n',
    );
    expect(columns).toEqual(['rate', 'open interest']);
    expect([...ts]).toEqual([1776297600000, 1776297600000, 1776297660000]);
    expect(values.map((column) => [...column])).toEqual([
      [0.01, Number.NaN, -0.001],
      [5, Number.NaN, 0.5],
    ]);
  });

  test('may have dates and UTC times, other line ends, a byte order mark and no last line end', () => {
    const { ts } = read(
      '\ufefftime,v\r\n2026-04-16,1\r\n2026-04-16T09:30Z,2\r\n\r\n2026-04-16 10:00:00.250+00:00,3',
    );
    expect([...ts]).toEqual([
      Date.UTC(2026, 3, 16),
      Date.UTC(2026, 3, 16, 9, 30),
      Date.UTC(2026, 3, 16, 10, 0, 0, 250),
    ]);
  });

  test.each([
    ['', '1:1: expected a header line, such as ts_ms,value.'],
    [
      '1776297600000,1\n',
      '1:1: expected a header line, found "1776297600000"; name the columns, such as ts_ms,value.',
    ],
    ['ts\n1776297600000\n', '1:1: expected columns after the timestamp, split by commas.'],
    ['ts;v\n1776297600000;1\n', '1:1: expected columns after the timestamp, split by commas.'],
    ['ts,v,v\n', '1:1: the column "v" stands twice.'],
    ['ts,,v\n', '1:1: column 2 has no name.'],
    ['ts,v\n', '2:1: there is no row below the header.'],
    ['ts,v\n1776297600000\n', '2:1: 1 fields, but the header names 2.'],
    ['ts,v,w\n1776297600000,1,x\n', '2:17: column w: "x" is not a number.'],
    ['ts,v\n1776297600000,inf\n', '2:15: column v: "inf" is not a number.'],
    ['ts,v\n1776297600000,0x10\n', '2:15: column v: "0x10" is not a number.'],
    ['ts,v\n1776297600000,1e999\n', '2:15: column v: "1e999" is not a number.'],
    [
      'ts,v\n1776297600000,1\n\n1776297599999,1\n',
      '4:1: 1776297599999 lies before the row above it; sort the rows by time.',
    ],
    ['ts,v\n1776297600,1\n', '2:1: 1776297600 is not in ms; if these are seconds, multiply them by 1000.'],
    [
      'ts,v\n1776297600000000,1\n',
      '2:1: 1776297600000000 is not in ms; if these are micro- or nanoseconds, divide them.',
    ],
    ['ts,v\n16.04.2026,1\n', '2:1: "16.04.2026" is no timestamp'],
    ['ts,v\n2026-02-30T00:00Z,1\n', '2:1: "2026-02-30T00:00Z" is no date.'],
    ['ts,v\n2026-04-16T09:30:00,1\n', '2:1: "2026-04-16T09:30:00" is no timestamp'],
    ['ts,v\n2026-04-16T09:30:00+02:00,1\n', '2:1: "2026-04-16T09:30:00+02:00" is no timestamp'],
  ])('%j is refused where it is wrong', (text, message) => {
    expect(said(text)).toContain(`E_SERIES f.csv:${message}`);
  });

  test('too large or not text is refused', () => {
    expect(said('x'.repeat(1001))).toBe('E_SERIES f.csv: 1001 bytes; a series has at most 1000.');
    expect(said(Uint8Array.of(0x50, 0x4b, 3, 4, 0xff))).toBe(
      'E_SERIES f.csv: not UTF-8 text; save it as CSV in UTF-8.',
    );
  });
});

test('a large series is read on another thread, with the same result, and refused with the same words', async () => {
  const rows = Array.from({ length: 40_000 }, (_, row) => `${1776297600000 + row * 100},${row / 8}`);
  const bytes = Buffer.from(`ts,v\n${rows.join('\n')}\n`);
  let turns = 0;
  const other = setInterval(() => turns++, 0);
  const series = await readSeriesFile('f.csv', bytes, { series_bytes: 1e7 });
  clearInterval(other);
  expect(series).toEqual(checkSeries('f.csv', bytes, { series_bytes: 1e7 }));
  expect(turns).toBeGreaterThan(0);
  const wrong = Buffer.concat([bytes, Buffer.from('1,1\n')]);
  await expect(readSeriesFile('f.csv', wrong, { series_bytes: 1e7 })).rejects.toThrow(
    '40002:1: 1 is not in ms',
  );
});
