import { cleanPrice, cleanSize } from './clean.ts';
import { grown, taken } from './columns.ts';
import { COMMA, type Cursor, NEWLINE, readOfferPrice, readSize } from './csv.ts';
import { growHead, headRows, newHead, readHead, readMarketHead } from './market.ts';
import type { Dirt, SnapshotRows } from './staged.ts';
import type { Table } from './table.ts';

const COLON = 58;
const SPACE = 32;
/** Levels a row, about: what the level columns have room for at first. */
const DEPTH = 16;

interface Levels {
  price: Uint16Array;
  size: Float64Array;
}

/** book and, where a row is about both outcomes at once, orderbook. */
export function snapshotTable(capacity: number, dirt: Dirt, bothOutcomes: boolean): Table<SnapshotRows> {
  const head = newHead(capacity);
  let start = new Uint32Array(capacity + 1);
  let asks = new Uint32Array(capacity);
  const room = capacity * DEPTH;
  const levels: Levels = { price: new Uint16Array(room), size: new Float64Array(room) };
  const bidField = bothOutcomes ? 4 : 5;
  return {
    head,
    row(cursor: Cursor, n: number): void {
      if (bothOutcomes) readMarketHead(cursor, head, n);
      else readHead(cursor, head, n);
      const middle = readLevels(cursor, levels, start[n], bidField, COMMA);
      const end = readLevels(cursor, levels, middle, bidField + 1, NEWLINE);
      asks[n] = middle;
      start[n + 1] = end;
      if (cursor.bad !== 0) return;
      // Only the level is dropped, not the row.
      dirt.off_grid += cursor.off_grid;
      cursor.off_grid = 0;
      const bidsMoved = sortLevels(levels, start[n], middle, -1);
      if (sortLevels(levels, middle, end, 1) || bidsMoved) dirt.unsorted_levels++;
    },
    grow(larger: number): void {
      growHead(head, larger);
      start = grown(start, larger + 1);
      asks = grown(asks, larger);
    },
    rows(length, order) {
      const unordered = {
        ...headRows(head, length, order),
        start: start.subarray(0, length + 1),
        asks: asks.subarray(0, length),
        levelPrice: levels.price.subarray(0, start[length]),
        levelSize: levels.size.subarray(0, start[length]),
      };
      return order === null ? unordered : { ...unordered, ...moveLevels(unordered, order) };
    },
  };
}

/** Reads `price:size price:size ...` to the delimiter and returns where the levels now end. */
function readLevels(cursor: Cursor, levels: Levels, from: number, field: number, delimiter: number): number {
  if (cursor.bad !== 0) return from;
  const { bytes } = cursor;
  if (bytes[cursor.at] === delimiter) {
    cursor.at++;
    return from;
  }
  let to = from;
  do {
    if (to === levels.price.length) growLevels(levels, to);
    const reached = readCleanLevels(cursor, levels, to, delimiter);
    if (reached > to) {
      to = reached;
    } else {
      const { off_grid } = cursor;
      levels.price[to] = readOfferPrice(cursor, field, COLON);
      readSize(cursor, field, delimiter, SPACE, levels.size, to);
      if (cursor.bad !== 0) return from;
      if (cursor.off_grid === off_grid) to++;
    }
  } while (bytes[cursor.at - 1] !== delimiter);
  return to;
}

/**
 * Reads levels up to the delimiter, the first odd one or the end of the columns, and returns where the levels now end.
 * The cursor then stands behind the last one. Here a book day spends its time: some 25 ns a level.
 */
function readCleanLevels(cursor: Cursor, levels: Levels, from: number, delimiter: number): number {
  const { bytes } = cursor;
  const { price, size } = levels;
  let { at } = cursor;
  let to = from;
  while (to < price.length) {
    const middle = cleanPrice(bytes, at, COLON, price, to);
    if (middle < 0) break;
    const end = cleanSize(bytes, middle, delimiter, SPACE, size, to);
    if (end < 0) break;
    at = end;
    to++;
    if (bytes[at - 1] === delimiter) break;
  }
  cursor.at = at;
  return to;
}

function growLevels(levels: Levels, used: number): void {
  levels.price = grown(levels.price, Math.max(64, used * 2));
  levels.size = grown(levels.size, Math.max(64, used * 2));
}

/** Puts levels into rising (1) or falling (-1) order of price; false if they were. Insertion: they are few, or nearly sorted. */
function sortLevels({ price, size }: Levels, from: number, to: number, direction: 1 | -1): boolean {
  let moved = false;
  for (let i = from + 1; i < to; i++) {
    const p = price[i];
    if ((p - price[i - 1]) * direction >= 0) continue;
    moved = true;
    const s = size[i];
    let at = i;
    for (; at > from && (price[at - 1] - p) * direction > 0; at--) {
      price[at] = price[at - 1];
      size[at] = size[at - 1];
    }
    price[at] = p;
    size[at] = s;
  }
  return moved;
}

/** The level columns for rows in another order. */
function moveLevels(
  rows: Omit<SnapshotRows, 'length'>,
  order: Uint32Array,
): Pick<SnapshotRows, 'start' | 'asks' | 'levelPrice' | 'levelSize'> {
  const start = new Uint32Array(order.length + 1);
  const asks = taken(rows.asks, order.length, order);
  const levelPrice = new Uint16Array(rows.levelPrice.length);
  const levelSize = new Float64Array(rows.levelSize.length);
  for (let r = 0; r < order.length; r++) {
    const from = rows.start[order[r]];
    const to = rows.start[order[r] + 1];
    levelPrice.set(rows.levelPrice.subarray(from, to), start[r]);
    levelSize.set(rows.levelSize.subarray(from, to), start[r]);
    asks[r] += start[r] - from;
    start[r + 1] = start[r] + to - from;
  }
  return { start, asks, levelPrice, levelSize };
}
