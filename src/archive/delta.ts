import { cleanPrice, cleanSize, cleanTime, TIME_BYTES } from './clean.ts';
import { grown, taken } from './columns.ts';
import { COMMA, type Cursor, NEWLINE, readOfferPrice, readSide, readSize, skipFields } from './csv.ts';
import { findMarket, growHead, type Head, headRows, LONGEST_NAME, newHead, readHead } from './market.ts';
import type { DeltaRows } from './staged.ts';
import type { Table } from './table.ts';

/** last_trade_price. */
export function printTable(capacity: number): Table<DeltaRows> {
  const rows = newRows(capacity);
  return {
    head: rows.head,
    row(cursor: Cursor, n: number): void {
      readHead(cursor, rows.head, n);
      rows.side[n] = readSide(cursor, 5);
      rows.price[n] = readOfferPrice(cursor, 6, COMMA);
      readSize(cursor, 7, NEWLINE, NEWLINE, rows.size, n);
    },
    grow: (room) => growRows(rows, room),
    rows: (length, order) => takenRows(rows, length, order),
  };
}

/** price_change. The venue's own best prices, which end the line, are not read. */
export function deltaTable(capacity: number): Table<DeltaRows> {
  const rows = newRows(capacity);
  return {
    head: rows.head,
    row(cursor: Cursor, n: number): void {
      readHead(cursor, rows.head, n);
      rows.side[n] = readSide(cursor, 5);
      rows.price[n] = readOfferPrice(cursor, 6, COMMA);
      readSize(cursor, 7, COMMA, COMMA, rows.size, n);
      skipFields(cursor, 2);
    },
    run: (cursor, n, room) => readCleanRows(cursor, rows, n, room),
    grow: (room) => growRows(rows, room),
    rows: (length, order) => takenRows(rows, length, order),
  };
}

interface Rows {
  readonly head: Head;
  side: Uint8Array;
  price: Uint16Array;
  size: Float64Array;
}

const newRows = (capacity: number): Rows => ({
  head: newHead(capacity),
  side: new Uint8Array(capacity),
  price: new Uint16Array(capacity),
  size: new Float64Array(capacity),
});

function growRows(rows: Rows, capacity: number): void {
  growHead(rows.head, capacity);
  rows.side = grown(rows.side, capacity);
  rows.price = grown(rows.price, capacity);
  rows.size = grown(rows.size, capacity);
}

const takenRows = (
  { head, side, price, size }: Rows,
  length: number,
  order: Uint32Array | null,
): DeltaRows => ({
  ...headRows(head, length, order),
  side: taken(side, length, order),
  price: taken(price, length, order),
  size: taken(size, length, order),
});

/** The fields of a clean line that are read before any delimiter is looked for, and then some. */
const LONGEST_START = 2 * TIME_BYTES + LONGEST_NAME + 64;

/** `down`, `up,`, `sell` and `buy,` as words of four bytes, the first one lowest. */
const DOWN = 0x6e776f64;
const UP = 0x2c7075;
const SELL = 0x6c6c6573;
const BUY = 0x2c797562;

/**
 * The loop that a day of price_change spends its time in: some 95 ns a row. It reads lines for as long as they are
 * spelt the usual way, name a market seen before, stand in order and can not repeat the one above; all others are for
 * the field by field reader, and nothing of them is kept.
 */
function readCleanRows(cursor: Cursor, rows: Rows, from: number, to: number): number {
  const { bytes, view } = cursor;
  const { side, price, size } = rows;
  const { recv, event, market, outcome, names } = rows.head;
  const end = bytes.length - LONGEST_START;
  let n = from;
  for (let at = cursor.at; n < to && at < end; n++) {
    if (cleanTime(bytes, view, at, recv, n) < 0 || cleanTime(bytes, view, at + TIME_BYTES, event, n) < 0)
      break;
    if (n === 0 || event[n] > recv[n] || recv[n] < recv[n - 1]) break;
    at += 2 * TIME_BYTES;
    const found = findMarket(view, at, names);
    if (found < 0) break;
    market[n] = found;
    at += names.spellings[found].bytes;
    const isDown = view.getInt32(at, true) === DOWN && bytes[at + 4] === COMMA;
    if (!isDown && (view.getInt32(at, true) & 0xffffff) !== UP) break;
    outcome[n] = isDown ? 1 : 0;
    at += isDown ? 5 : 3;
    const isSell = view.getInt32(at, true) === SELL && bytes[at + 4] === COMMA;
    if (!isSell && view.getInt32(at, true) !== BUY) break;
    side[n] = isSell ? 1 : 0;
    at = cleanPrice(bytes, at + (isSell ? 5 : 4), COMMA, price, n);
    if (at < 0) break;
    at = cleanSize(bytes, at, COMMA, COMMA, size, n);
    if (at < 0) break;
    if (size[n] === size[n - 1] && price[n] === price[n - 1] && recv[n] === recv[n - 1]) break;
    let commas = 0;
    for (; bytes[at] !== NEWLINE; at++) if (bytes[at] === COMMA) commas++;
    if (commas !== 1) break;
    at++;
    names.last = found;
    cursor.at = at;
  }
  return n;
}
