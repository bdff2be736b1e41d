import { decimal, places } from './amount.ts';
import type { Column, Table } from './tables.ts';

const CHUNK_CHARS = 1 << 16;

/** A table as CSV: a header, `\n` after each line, fields quoted where they must be, decimals exact. */
export function* csv<Row>(table: Table<Row>): Generator<string> {
  let chunk = `${table.columns.map((column) => column.name).join(',')}\n`;
  for (const row of table.rows) {
    chunk += `${table.columns.map((column) => field(column, row)).join(',')}\n`;
    if (chunk.length < CHUNK_CHARS) continue;
    yield chunk;
    chunk = '';
  }
  yield chunk;
}

function field<Row>(column: Column<Row>, row: Row): string {
  if (column.type === 'text') return quoted(column.of(row) ?? '');
  const value = column.of(row);
  return value === null ? '' : decimal(value, places[column.type]);
}

const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
