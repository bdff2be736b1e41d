import { COMMA } from './csv.ts';

/*
 * Fields as nearly all of them are spelt. Each reader puts its value into the column and returns the position behind
 * the delimiter, or -1 for any other spelling: then the careful reader of the same field has to look.
 */

const ZERO = 48;
const POINT = 46;

/** `0.5`, `0.51` or `0.515`: dollars, as a count of 1e-4. */
export function cleanPrice(
  bytes: Uint8Array,
  at: number,
  delimiter: number,
  column: Uint16Array,
  n: number,
): number {
  if (bytes[at] !== ZERO || bytes[at + 1] !== POINT) return -1;
  const tenths = bytes[at + 2] - ZERO;
  if (tenths < 0 || tenths > 9) return -1;
  let price = tenths * 1000;
  let end = at + 3;
  for (let unit = 100; bytes[end] !== delimiter; end++) {
    const digit = bytes[end] - ZERO;
    if (digit < 0 || digit > 9 || end > at + 4) return -1;
    price += digit * unit;
    unit = 10;
  }
  column[n] = price;
  return price === 0 ? -1 : end + 1;
}

/** Up to nine digits, and up to two decimals: shares, as a count of 1e-4. The field ends with either delimiter. */
export function cleanSize(
  bytes: Uint8Array,
  at: number,
  delimiter: number,
  other: number,
  column: Float64Array,
  n: number,
): number {
  let end = at;
  let whole = 0;
  let digit = bytes[end] - ZERO;
  for (; digit >= 0 && digit <= 9; digit = bytes[++end] - ZERO) whole = (whole * 10 + digit) | 0;
  if (end === at || end > at + 9) return -1;
  let hundredths = 0;
  if (bytes[end] === POINT) {
    const tenths = bytes[++end] - ZERO;
    if (tenths < 0 || tenths > 9) return -1;
    hundredths = tenths * 10;
    digit = bytes[++end] - ZERO;
    if (digit >= 0 && digit <= 9) {
      hundredths += digit;
      end++;
    }
  }
  if (bytes[end] !== delimiter && bytes[end] !== other) return -1;
  column[n] = whole * 10_000 + hundredths * 100;
  return end + 1;
}

/** Thirteen digits and a comma. */
export const TIME_BYTES = 14;
const EACH_HIGH_BIT = 0x80808080 | 0;

/** A time of today's length, in ms. */
export function cleanTime(
  bytes: Uint8Array,
  view: DataView,
  at: number,
  column: Float64Array,
  n: number,
): number {
  const a = view.getInt32(at, true);
  const b = view.getInt32(at + 4, true);
  const c = view.getInt32(at + 8, true);
  const last = bytes[at + 12] - ZERO;
  const other = (notDigits(a) | notDigits(b) | notDigits(c)) & EACH_HIGH_BIT;
  if (other !== 0 || last < 0 || last > 9 || bytes[at + 13] !== COMMA) return -1;
  column[n] = fourDigits(a) * 1e9 + (fourDigits(b) * 100_000 + fourDigits(c) * 10 + last);
  return at + TIME_BYTES;
}

/** Four characters in one integer, the first one lowest: sets the high bit of those that are no digits. */
const notDigits = (word: number): number => word | ((word + 0x46464646) | 0) | ((word - 0x30303030) | 0);

/** The number that four digits in one integer spell: neighbours are joined to pairs, then the two pairs. */
function fourDigits(word: number): number {
  const digits = word & 0x0f0f0f0f;
  const pairs = (Math.imul(digits, 10) + (digits >>> 8)) & 0x00ff00ff;
  return (pairs & 0xff) * 100 + (pairs >>> 16);
}
