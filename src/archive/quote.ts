import { grown, taken } from './columns.ts';
import { COMMA, type Cursor, NEWLINE, readPrice } from './csv.ts';
import { growHead, headRows, newHead, readHead } from './market.ts';
import type { QuoteRows } from './staged.ts';
import type { Table } from './table.ts';

/** best_bid_ask. */
export function quoteTable(capacity: number): Table<QuoteRows> {
  const head = newHead(capacity);
  let bid = new Uint16Array(capacity);
  let ask = new Uint16Array(capacity);
  return {
    head,
    row(cursor: Cursor, n: number): void {
      readHead(cursor, head, n);
      bid[n] = readPrice(cursor, 5, COMMA);
      ask[n] = readPrice(cursor, 6, NEWLINE);
    },
    grow(room: number): void {
      growHead(head, room);
      bid = grown(bid, room);
      ask = grown(ask, room);
    },
    rows: (length, order) => ({
      ...headRows(head, length, order),
      bid: taken(bid, length, order),
      ask: taken(ask, length, order),
    }),
  };
}
