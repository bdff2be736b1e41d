import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import parquet from 'parquetjs-lite';
import { afterAll, expect, test } from 'vitest';
import type { FillRow, UnitResult } from '../../contract/report.ts';
import { decimal } from '../../src/report/amount.ts';
import { csv } from '../../src/report/csv.ts';
import { equityCurve } from '../../src/report/equity.ts';
import { parquetFile } from '../../src/report/parquet.ts';
import { type Table, tables } from '../../src/report/tables.ts';
import { fill, market, order, twoMarkets, unit } from './run.ts';

const scratch = mkdtempSync(join(tmpdir(), 'report-tables-'));
afterAll(() => rmSync(scratch, { recursive: true }));

function table(units: readonly UnitResult[], name: string): Table<unknown> {
  const all = tables(units, equityCurve(100_000_000, units)) as readonly Table<unknown>[];
  return all.find((one) => one.name === name)!;
}
const text = (units: readonly UnitResult[], name: string): string => [...csv(table(units, name))].join('');

test('tables hold the documented columns, exact decimals and empty fields for null', () => {
  const units = twoMarkets();
  expect(text(units, 'fills').split('\n').slice(0, 3)).toEqual([
    'ts_ms,market,outcome,side,price,size,fee,liquidity,order_id,tag',
    '1000,m2,down,buy,0.4,20,0,maker,m2-1,',
    '1100,m1,up,buy,0.5,10,0.1,taker,m1-1,',
  ]);
  expect(text(units, 'orders')).toBe(
    [
      'order_id,submitted_ms,arrived_ms,done_ms,market,outcome,side,limit,size,filled,tif,status,reason,tag',
      'm2-1,900,1100,1100,m2,down,buy,0.4,40,20,gtc,cancelled,user,',
      'm1-1,1000,1100,1100,m1,up,buy,0.5,10,10,gtc,filled,,',
      'm2-2,1000,1100,,m2,up,buy,,10,0,gtc,rejected,below_minimum,',
      'm2-3,2900,1100,1100,m2,down,sell,0.3,5,5,gtc,filled,,',
      '',
    ].join('\n'),
  );
  expect(text(units, 'equity').split('\n').slice(0, 3)).toEqual([
    'ts_ms,cash,locked,position_value,equity',
    '900,100,16,0,100',
    '1000,92,8,7.8,99.8',
  ]);
  expect(text([unit({ markets: [market({ outcome: null, pnl: -1 })] })], 'markets')).toBe(
    'market,outcome,ticks,orders,fills,fees,pnl\nm1,,10,1,1,0,-0.000001\n',
  );
});

test('rows of the same time stand in the order of the plan', () => {
  const at = (order_id: string, ts_ms: number): FillRow => fill({ order_id, ts_ms });
  const units = [unit({ fills: [at('a', 5), at('b', 9)] }), unit({ fills: [at('c', 5), at('d', 1)] })];
  expect([...table(units, 'fills').rows].map((row) => (row as FillRow).order_id)).toEqual([
    'd',
    'a',
    'c',
    'b',
  ]);
});

test('an amount is printed to its last unit, short and without an exponent', () => {
  expect([0, 1, -1, 10_000, 12_340, -500].map((value) => decimal(value, 4))).toEqual([
    '0',
    '0.0001',
    '-0.0001',
    '1',
    '1.234',
    '-0.05',
  ]);
  expect(decimal(Number.MAX_SAFE_INTEGER, 6)).toBe('9007199254.740991');
  expect(() => decimal(0.5, 6)).toThrow('no whole number');
  fc.assert(
    fc.property(fc.maxSafeInteger(), fc.constantFrom(0, 4, 6), (value, digits) => {
      const [whole, rest = ''] = decimal(value, digits).split('.');
      expect(BigInt(whole + rest.padEnd(digits, '0'))).toBe(BigInt(value));
    }),
  );
});

test('a tag may hold commas, quotes and line breaks', () => {
  const tags = ['a,b', 'say "hi"', 'two\nlines', 'carriage\rreturn', 'plain'];
  const units = [unit({ fills: tags.map((tag) => fill({ tag })) })];
  const all = text(units, 'fills');
  expect(all).toContain(',"a,b"\n');
  expect(all).toContain(',"say ""hi"""\n');
  expect(all).toContain(',"two\nlines"\n');
  expect(all).toContain(',"carriage\rreturn"\n');
  expect(all).toContain(',plain\n');
  expect(parse(all).map((row) => row.tag)).toEqual(tags);
});

test('the Parquet copy of every table reads back as what stands in the CSV', async () => {
  for (const name of ['orders', 'fills', 'equity', 'markets']) {
    await expectSame(table(twoMarkets(), name));
    await expectSame(table([], name));
  }
});

test('Parquet holds any mix of nulls and texts, over several row groups', async () => {
  const draw = fc.sample(
    fc.record({
      tag: fc.oneof(fc.constant(''), fc.string({ unit: 'grapheme', maxLength: 8 })),
      limit: fc.oneof(fc.constant(null), fc.integer({ min: 1, max: 9999 })),
      size: fc.integer({ min: 0, max: 1e12 }),
    }),
    { numRuns: 16_400, seed: 1 },
  );
  await expectSame(table([unit({ orders: draw.map((some) => order(some)) })], 'orders'));
});

test('Parquet columns are typed: whole times, doubles, texts', async () => {
  const reader = await parquet.ParquetReader.openFile(await stored(table(twoMarkets(), 'fills')));
  const types = Object.entries(reader.schema.fields).map(([name, field]) => [
    name,
    field.originalType ?? field.primitiveType,
  ]);
  expect(Object.fromEntries(types)).toMatchObject({
    ts_ms: 'INT64',
    price: 'DOUBLE',
    size: 'DOUBLE',
    fee: 'DOUBLE',
    tag: 'UTF8',
  });
  await reader.close();
});

async function stored(one: Table<unknown>): Promise<string> {
  const path = join(scratch, `${one.name}.parquet`);
  await writeFile(path, parquetFile(one));
  return path;
}

async function expectSame(one: Table<unknown>): Promise<void> {
  const lines = parse([...csv(one)].join(''));
  const reader = await parquet.ParquetReader.openFile(await stored(one));
  const cursor = reader.getCursor();
  const read: unknown[] = [];
  for (let row = await cursor.next(); row !== null; row = await cursor.next()) {
    const cells = row;
    read.push(one.columns.map(({ name }) => String(cells[name] ?? '')));
  }
  expect(read).toEqual(lines.map((line) => one.columns.map(({ name, type }) => plain(line[name], type))));
  await reader.close();
}

/** A decimal of the CSV as JavaScript prints that number. */
const plain = (field: string, type: string): string =>
  type === 'text' || field === '' ? field : String(Number(field));

/** A CSV reader of its own: quotes doubled inside of quotes, anything else is itself. */
function parse(all: string): Record<string, string>[] {
  const records: string[][] = [[]];
  let field = '';
  let inside = false;
  for (let at = 0; at < all.length; at++) {
    const char = all[at];
    if (inside && char === '"' && all[at + 1] === '"') field += all[++at];
    else if (char === '"') inside = !inside;
    else if (inside || (char !== ',' && char !== '\n')) field += char;
    else {
      records.at(-1)!.push(field);
      field = '';
      if (char === '\n') records.push([]);
    }
  }
  const [head, ...lines] = records.slice(0, -1);
  return lines.map((line) => Object.fromEntries(head.map((name, at) => [name, line[at]])));
}
