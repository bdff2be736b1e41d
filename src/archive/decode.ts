import type { Dataset } from '../../contract/index.ts';
import { headers, orderByTime } from './columns.ts';
import { type Cursor, cursorOver, NEWLINE } from './csv.ts';
import { deltaTable, printTable } from './delta.ts';
import { countUnreadable, noDirt } from './dirt.ts';
import { feedTable } from './feed.ts';
import { inflate, lineBlocks } from './inflate.ts';
import { klineTable } from './kline.ts';
import { marketsTable } from './markets.ts';
import { quoteTable } from './quote.ts';
import { snapshotTable } from './snapshot.ts';
import type { Dirt, RowsOf } from './staged.ts';
import type { Table } from './table.ts';
import { tickSizeTable } from './ticksize.ts';

/** Part of the key of every cached file: raise it whenever the same bytes decode to something else. */
export const DECODER_VERSION = 1;

export interface Decoded<D extends Dataset = Dataset> {
  readonly rows: RowsOf[D];
  readonly dirt: Dirt;
}

/**
 * Decodes the bytes of a csv.gz file. `expectedRows` is how many its index claims. Dirty rows are survived and
 * counted; throws where the file as a whole is not what it should be: a damaged gzip, another header.
 */
export async function decode<D extends Dataset>(
  dataset: D,
  gz: Buffer,
  expectedRows: number,
  signal?: AbortSignal,
): Promise<Decoded<D>> {
  const dirt = noDirt();
  // An index that claims too much must not cost memory; columns that are too short grow.
  const capacity = Math.max(1, Math.min(expectedRows, gz.length));
  const table = newTable(dataset, capacity, dirt);
  const reader = newReader(table, headers[dataset], dirt, capacity);
  let header: string | null = null;
  for await (const block of lineBlocks(inflate(gz, signal))) {
    if (header === null) {
      header = block.toString('utf8', 0, block.length - 1);
      if (header !== headers[dataset]) break;
    } else {
      readBlock(block, reader);
    }
  }
  if (header !== headers[dataset]) {
    throw new Error(
      `has columns ${JSON.stringify(header ?? '')}, expected ${JSON.stringify(headers[dataset])}`,
    );
  }
  const rows = table.rows(reader.length, orderByTime(table.head.recv, reader.length));
  return { rows: rows as RowsOf[D], dirt };
}

function newTable(dataset: Dataset, capacity: number, dirt: Dirt): Table<RowsOf[Dataset]> {
  switch (dataset) {
    case 'prices':
    case 'twap30s':
    case 'twap60s':
      return feedTable(capacity);
    case 'book':
      return snapshotTable(capacity, dirt, false);
    case 'orderbook':
      return snapshotTable(capacity, dirt, true);
    case 'best_bid_ask':
      return quoteTable(capacity);
    case 'price_change':
      return deltaTable(capacity);
    case 'last_trade_price':
      return printTable(capacity);
    case 'tick_size_change':
      return tickSizeTable(capacity);
    case 'markets':
      return marketsTable();
    case 'klines':
      return klineTable(capacity);
  }
}

interface Reader {
  readonly table: Table<unknown>;
  readonly columns: string[];
  readonly dirt: Dirt;
  capacity: number;
  /** Rows kept. */
  length: number;
  /** Lines read, with the header. */
  lines: number;
  /** Where the line above stands. */
  aboveBytes: Uint8Array;
  aboveStart: number;
  aboveEnd: number;
}

function newReader(table: Table<unknown>, header: string, dirt: Dirt, capacity: number): Reader {
  return {
    table,
    columns: header.split(','),
    dirt,
    capacity,
    length: 0,
    lines: 1,
    aboveBytes: new Uint8Array(0),
    aboveStart: 0,
    aboveEnd: 0,
  };
}

/** Reads a block of whole lines into the table. */
function readBlock(block: Buffer, reader: Reader): void {
  const { table, dirt } = reader;
  const cursor = cursorOver(block);
  while (cursor.at < block.length) {
    if (reader.length === reader.capacity) {
      reader.capacity = Math.max(1024, reader.length * 2);
      table.grow(reader.capacity);
    }
    if (table.run && readRun(block, cursor, reader)) continue;
    const start = cursor.at;
    const n = reader.length;
    cursor.bad = 0;
    cursor.off_grid = 0;
    table.row(cursor, n);
    reader.lines++;
    if (cursor.bad !== 0) {
      cursor.at = block.indexOf(NEWLINE, start) + 1;
      countUnreadable(
        dirt,
        reader.columns,
        reader.lines,
        block.toString('utf8', start, cursor.at - 1),
        cursor.bad,
      );
    } else if (cursor.off_grid > 0) {
      dirt.off_grid += cursor.off_grid;
    } else {
      const { recv, event } = table.head;
      if (event !== null && event[n] > recv[n]) {
        event[n] = recv[n];
        dirt.clock_skew++;
      }
      const above = n === 0 ? Number.NEGATIVE_INFINITY : recv[n - 1];
      if (recv[n] < above) dirt.disordered++;
      if (recv[n] === above && repeatsAbove(block, start, cursor.at, reader)) dirt.repeated++;
      reader.length = n + 1;
    }
    reader.aboveBytes = block;
    reader.aboveStart = start;
    reader.aboveEnd = cursor.at;
  }
}

/** Reads as many lines as `run` will; false if that is none. */
function readRun(block: Buffer, cursor: Cursor, reader: Reader): boolean {
  const length = reader.table.run!(cursor, reader.length, reader.capacity);
  if (length === reader.length) return false;
  reader.lines += length - reader.length;
  reader.length = length;
  reader.aboveBytes = block;
  reader.aboveStart = block.lastIndexOf(NEWLINE, cursor.at - 2) + 1;
  reader.aboveEnd = cursor.at;
  return true;
}

/** Whether a line has the same bytes as the line above; where one differs, it is near the end. */
function repeatsAbove(bytes: Uint8Array, start: number, end: number, reader: Reader): boolean {
  const { aboveBytes, aboveStart } = reader;
  if (end - start !== reader.aboveEnd - aboveStart) return false;
  for (let i = end - start - 1; i >= 0; i--)
    if (bytes[start + i] !== aboveBytes[aboveStart + i]) return false;
  return true;
}
