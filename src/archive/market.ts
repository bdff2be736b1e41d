import { NO_MARKET } from '../../contract/index.ts';
import { grown, taken } from './columns.ts';
import { COMMA, type Cursor, fail, NEWLINE, readOutcome, readTime } from './csv.ts';
import type { MarketRows } from './staged.ts';

/** The columns that every row of a market begins with, with room to spare. */
export interface Head {
  recv: Float64Array;
  event: Float64Array;
  market: Uint16Array;
  outcome: Uint8Array;
  readonly names: Names;
}

/** The bytes of a name and the comma behind it, four to a word; the last word may overlap the one before. */
interface Spelling {
  readonly bytes: number;
  readonly words: Int32Array;
}

/** The markets seen so far, in order of their coming. */
export interface Names {
  readonly texts: string[];
  readonly spellings: Spelling[];
  readonly index: Map<string, number>;
  /** The one that the last row was about. */
  last: number;
}

export const LONGEST_NAME = 256;
/** How many markets of one file trade at the same time, about. */
const LIVE = 6;

export function newHead(capacity: number): Head {
  return {
    recv: new Float64Array(capacity),
    event: new Float64Array(capacity),
    market: new Uint16Array(capacity),
    outcome: new Uint8Array(capacity),
    names: { texts: [], spellings: [], index: new Map(), last: 0 },
  };
}

export function growHead(head: Head, capacity: number): void {
  head.recv = grown(head.recv, capacity);
  head.event = grown(head.event, capacity);
  head.market = grown(head.market, capacity);
  head.outcome = grown(head.outcome, capacity);
}

export function headRows(head: Head, length: number, order: Uint32Array | null): MarketRows {
  return {
    length,
    markets: head.names.texts,
    recv: taken(head.recv, length, order),
    event: taken(head.event, length, order),
    market: taken(head.market, length, order),
    outcome: taken(head.outcome, length, order),
  };
}

/** recv_ms, event_ts_ms, market, outcome. */
export function readHead(cursor: Cursor, head: Head, n: number): void {
  readMarketHead(cursor, head, n);
  head.outcome[n] = readOutcome(cursor, 4);
}

/** recv_ms, event_ts_ms, market: where a row is about both outcomes. */
export function readMarketHead(cursor: Cursor, head: Head, n: number): void {
  readTime(cursor, 1, head.recv, n);
  readTime(cursor, 2, head.event, n);
  head.market[n] = readMarket(cursor, head.names, 3);
}

function readMarket(cursor: Cursor, names: Names, field: number): number {
  if (cursor.bad !== 0) return 0;
  const found = findMarket(cursor.view, cursor.at, names);
  if (found < 0) return lookUp(cursor, names, field);
  cursor.at += names.spellings[found].bytes;
  names.last = found;
  return found;
}

/** The market whose name stands at `at`: nearly always one of the last few, which takes no string to see. Else -1. */
export function findMarket(view: DataView, at: number, { spellings, last }: Names): number {
  const count = spellings.length;
  if (last < count && standsAt(view, at, spellings[last])) return last;
  for (let i = count - 1; i >= 0 && i >= count - LIVE; i--) if (standsAt(view, at, spellings[i])) return i;
  return -1;
}

/** Names differ at their ends, so it looks there first. */
function standsAt(view: DataView, at: number, { bytes, words }: Spelling): boolean {
  const last = words.length - 1;
  if (last < 0 || at + bytes > view.byteLength) return false;
  if (view.getInt32(at + bytes - 4, true) !== words[last]) return false;
  for (let i = 0; i < last; i++) if (view.getInt32(at + 4 * i, true) !== words[i]) return false;
  return true;
}

function spell(name: Uint8Array): Spelling {
  const view = new DataView(name.buffer, name.byteOffset, name.byteLength);
  // Names of fewer than four bytes are looked up each time.
  const words = new Int32Array(name.length < 4 ? 0 : Math.ceil(name.length / 4));
  for (let i = 0; i < words.length; i++) words[i] = view.getInt32(Math.min(4 * i, name.length - 4), true);
  return { bytes: name.length, words };
}

function lookUp(cursor: Cursor, names: Names, field: number): number {
  const { bytes, at } = cursor;
  let end = at;
  while (bytes[end] !== COMMA && bytes[end] !== NEWLINE) end++;
  if (bytes[end] !== COMMA || end === at || end - at > LONGEST_NAME) {
    fail(cursor, field);
    return 0;
  }
  const text = Buffer.from(bytes.subarray(at, end)).toString();
  let index = names.index.get(text);
  if (index === undefined) {
    index = names.texts.length;
    if (index === NO_MARKET) throw new Error(`more than ${NO_MARKET} markets in one file`);
    names.index.set(text, index);
    names.texts.push(text);
    names.spellings.push(spell(bytes.subarray(at, end + 1)));
  }
  names.last = index;
  cursor.at = end + 1;
  return index;
}
