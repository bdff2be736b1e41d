/**
 * Reads fields straight from the bytes of a line, whatever they hold: no string is made. A reader starts at the first byte of its field
 * and leaves the cursor behind the delimiter it was told to expect. It never steps over a line break that it was not
 * told to expect, so a malformed line can not spoil the next one. What may not be a small integer goes straight into
 * its column: as a return value it would be an object on the heap.
 */
export interface Cursor {
  bytes: Uint8Array;
  /** Of the same bytes. */
  view: DataView;
  at: number;
  /** Number of the first field of the line, from 1, that could not be read; 0 while all is well. */
  bad: number;
  /** Prices of the line that are off the 1e-4 grid or out of range. */
  off_grid: number;
}

export const COMMA = 44;
export const NEWLINE = 10;
const ZERO = 48;
const POINT = 46;
const MINUS = 45;

/** A count of 1e-4 dollars at which a price is 1. */
const DOLLAR = 10_000;
/** What a digit counts, by its place behind the point, in 1e-4. */
const UNITS = [1000, 100, 10, 1];
const LARGEST_SIZE = Number.MAX_SAFE_INTEGER / 10_000;

/** A cursor at the start of a block of whole lines. */
export function cursorOver(bytes: Uint8Array): Cursor {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { bytes, view, at: 0, bad: 0, off_grid: 0 };
}

/** Marks the line as unreadable, by its first bad field. */
export function fail(cursor: Cursor, field: number): void {
  if (cursor.bad === 0) cursor.bad = field;
}

/** A time in ms: up to fifteen digits. */
export function readTime(cursor: Cursor, field: number, column: Float64Array, n: number): void {
  const { bytes } = cursor;
  const start = cursor.at;
  let at = start;
  let value = 0;
  for (; at < bytes.length; at++) {
    const digit = bytes[at] - ZERO;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
  }
  if (at === start || at - start > 15 || bytes[at] !== COMMA) {
    fail(cursor, field);
    return;
  }
  cursor.at = at + 1;
  column[n] = value;
}

/**
 * A price in dollars as a count of 1e-4; an empty field is 0. What is off that grid or outside 0..1 counts in
 * `off_grid` and reads as 0.
 */
export function readPrice(cursor: Cursor, field: number, delimiter: number): number {
  const { bytes } = cursor;
  let at = cursor.at;
  const start = at;
  const negative = bytes[at] === MINUS;
  if (negative) at++;
  let digits = 0;
  let value = 0;
  for (; bytes[at] >= ZERO && bytes[at] < ZERO + 10; at++, digits++) {
    if (value <= DOLLAR) value = value * 10 + bytes[at] - ZERO;
  }
  let finer = 0;
  let unit = DOLLAR;
  value *= unit;
  if (bytes[at] === POINT) {
    for (at++; bytes[at] >= ZERO && bytes[at] < ZERO + 10; at++, digits++) {
      unit = unit / 10;
      if (unit >= 1) value += (bytes[at] - ZERO) * unit;
      else finer |= bytes[at] - ZERO;
    }
  }
  const empty = at === start;
  if ((digits === 0 && !empty) || bytes[at] !== delimiter) {
    fail(cursor, field);
    return 0;
  }
  cursor.at = at + 1;
  if (value <= DOLLAR && finer === 0 && !(negative && value > 0)) return value;
  cursor.off_grid++;
  return 0;
}

/** The price of an offer or a trade: it can be neither missing nor 0 nor 1. */
export function readOfferPrice(cursor: Cursor, field: number, delimiter: number): number {
  const { at, off_grid } = cursor;
  const price = readPrice(cursor, field, delimiter);
  if (price > 0 && price < DOLLAR) return price;
  if (cursor.at === at + 1) fail(cursor, field);
  else if (cursor.off_grid === off_grid) cursor.off_grid++;
  return 0;
}

/** A size in shares as a count of 1e-4, cut there. The field ends with either delimiter. */
export function readSize(
  cursor: Cursor,
  field: number,
  delimiter: number,
  other: number,
  column: Float64Array,
  n: number,
): void {
  const { bytes } = cursor;
  let at = cursor.at;
  const start = at;
  let whole = 0;
  // Nine digits stay within int32, which is faster; nearly no size has more.
  for (; bytes[at] >= ZERO && bytes[at] < ZERO + 10 && at < start + 9; at++)
    whole = (whole * 10 + bytes[at] - ZERO) | 0;
  for (; bytes[at] >= ZERO && bytes[at] < ZERO + 10; at++) whole = whole * 10 + (bytes[at] - ZERO);
  let digits = at - start;
  let part = 0;
  if (bytes[at] === POINT) {
    at++;
    for (let place = 0; bytes[at] >= ZERO && bytes[at] < ZERO + 10; at++, place++, digits++) {
      if (place < 4) part += (bytes[at] - ZERO) * UNITS[place];
    }
  }
  if (digits === 0 || (bytes[at] !== delimiter && bytes[at] !== other) || whole > LARGEST_SIZE) {
    fail(cursor, field);
    return;
  }
  cursor.at = at + 1;
  column[n] = whole * 10_000 + part;
}

/** `up` is 0, `down` is 1. */
export function readOutcome(cursor: Cursor, field: number): number {
  const { bytes, at } = cursor;
  if (bytes[at] === 117 && bytes[at + 1] === 112 && bytes[at + 2] === COMMA) {
    cursor.at = at + 3;
    return 0;
  }
  if (
    bytes[at] === 100 &&
    bytes[at + 1] === 111 &&
    bytes[at + 2] === 119 &&
    bytes[at + 3] === 110 &&
    bytes[at + 4] === COMMA
  ) {
    cursor.at = at + 5;
    return 1;
  }
  fail(cursor, field);
  return 0;
}

/** `buy` is 0, `sell` is 1. */
export function readSide(cursor: Cursor, field: number): number {
  const { bytes, at } = cursor;
  if (bytes[at] === 98 && bytes[at + 1] === 117 && bytes[at + 2] === 121 && bytes[at + 3] === COMMA) {
    cursor.at = at + 4;
    return 0;
  }
  if (
    bytes[at] === 115 &&
    bytes[at + 1] === 101 &&
    bytes[at + 2] === 108 &&
    bytes[at + 3] === 108 &&
    bytes[at + 4] === COMMA
  ) {
    cursor.at = at + 5;
    return 1;
  }
  fail(cursor, field);
  return 0;
}

const NUMBER = /^-?\d+(\.\d+)?([eE][-+]?\d+)?$/;
const LONGEST_NUMBER = 64;

/** Any number, as the nearest double. For small files: it makes a string. */
export function readNumber(
  cursor: Cursor,
  field: number,
  delimiter: number,
  column: Float64Array,
  n: number,
): void {
  const { bytes, at } = cursor;
  let end = at;
  while (bytes[end] !== COMMA && bytes[end] !== NEWLINE) end++;
  const text = String.fromCharCode(...bytes.subarray(at, Math.min(end, at + LONGEST_NUMBER + 1)));
  if (text.length > LONGEST_NUMBER || !NUMBER.test(text) || bytes[end] !== delimiter) {
    fail(cursor, field);
    return;
  }
  cursor.at = end + 1;
  column[n] = Number(text);
}

/** Steps over the fields that nobody uses, to behind the line break. `fields` of them must be left, the last one ending the line. */
export function skipFields(cursor: Cursor, fields: number): void {
  const { bytes } = cursor;
  let at = cursor.at;
  let commas = 0;
  for (; bytes[at] !== NEWLINE; at++) if (bytes[at] === COMMA) commas++;
  if (commas !== fields - 1) fail(cursor, WRONG_WIDTH);
  else cursor.at = at + 1;
}

/** In place of a field's number: the line has too few or too many fields. */
export const WRONG_WIDTH = -1;
