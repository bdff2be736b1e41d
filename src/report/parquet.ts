import type { ColumnData, ParquetWriter } from 'parquetjs-lite';
import parquet from 'parquetjs-lite';
import { places } from './amount.ts';
import type { Column, Table } from './tables.ts';

const types = { integer: 'INT64', text: 'UTF8', price: 'DOUBLE', size: 'DOUBLE', money: 'DOUBLE' } as const;

/**
 * Rows of a row group, which is a single page. No page index: the writer puts nonsense into it. Snappy, since its bytes
 * hang on the writer alone: those of gzip differ between releases of zlib.
 */
const GROUP_ROWS = 1 << 14;
const options = { pageIndex: false, useDataPageV2: false, rowGroupSize: 1 };
const field = { optional: true, compression: 'SNAPPY', statistics: false } as const;

/** A table as Parquet, with the columns of its CSV: int64, double and utf8, an empty field null. */
export async function* parquetFile<Row>(table: Table<Row>): AsyncGenerator<Buffer> {
  const { columns } = table;
  const bytes: Buffer[] = [];
  const schema = new parquet.ParquetSchema(
    Object.fromEntries(columns.map(({ name, type }) => [name, { ...field, type: types[type] }])),
  );
  const write = (part: Buffer): unknown => bytes.push(part);
  const envelope = new parquet.ParquetEnvelopeWriter(schema, write, () => {}, 0, options);
  const writer = new parquet.ParquetWriter(schema, envelope, options);
  let group: Row[] = [];
  for (const row of table.rows) {
    group.push(row);
    if (group.length < GROUP_ROWS) continue;
    await writeGroup(writer, columns, group);
    yield* bytes.splice(0);
    group = [];
  }
  if (group.length > 0) await writeGroup(writer, columns, group);
  await writer.close();
  yield* bytes;
}

/**
 * Hands the writer all rows but the last by columns, in the shape its own row buffer has, and the last one as it asks
 * for them, which makes it write the group. All of them that way would take eight times as long (37 us a row).
 */
async function writeGroup<Row>(
  writer: ParquetWriter,
  columns: readonly Column<Row>[],
  rows: Row[],
): Promise<void> {
  const last = rows[rows.length - 1];
  const before = rows.slice(0, -1);
  writer.rowBuffer = {
    rowCount: before.length,
    pageRowCount: before.length,
    columnData: Object.fromEntries(columns.map((column) => [column.name, shredded(column, before)])),
    pages: Object.fromEntries(columns.map((column) => [column.name, []])),
  };
  await writer.appendRow(Object.fromEntries(columns.map((column) => [column.name, cell(column, last)])));
}

function shredded<Row>(column: Column<Row>, rows: readonly Row[]): ColumnData {
  const values: (Buffer | number)[] = [];
  const dlevels: number[] = [];
  for (const row of rows) {
    const value = cell(column, row);
    dlevels.push(value === null ? 0 : 1);
    if (value !== null) values.push(typeof value === 'string' ? Buffer.from(value) : value);
  }
  return { values, dlevels, rlevels: rows.map(() => 0), distinct_values: new Set(), count: rows.length };
}

function cell<Row>(column: Column<Row>, row: Row): string | number | null {
  if (column.type === 'text') return column.of(row) || null;
  const value = column.of(row);
  return value === null ? null : value / 10 ** places[column.type];
}
