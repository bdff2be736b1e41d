import { grown, taken } from './columns.ts';
import { COMMA, type Cursor, NEWLINE, readOfferPrice, readPrice } from './csv.ts';
import { growHead, headRows, newHead, readHead } from './market.ts';
import type { TickSizeRows } from './staged.ts';
import type { Table } from './table.ts';

/** tick_size_change. The old size may be missing, the new one not. */
export function tickSizeTable(capacity: number): Table<TickSizeRows> {
  const head = newHead(capacity);
  let before = new Uint16Array(capacity);
  let after = new Uint16Array(capacity);
  return {
    head,
    row(cursor: Cursor, n: number): void {
      readHead(cursor, head, n);
      before[n] = readPrice(cursor, 5, COMMA);
      after[n] = readOfferPrice(cursor, 6, NEWLINE);
    },
    grow(room: number): void {
      growHead(head, room);
      before = grown(before, room);
      after = grown(after, room);
    },
    rows: (length, order) => ({
      ...headRows(head, length, order),
      before: taken(before, length, order),
      after: taken(after, length, order),
    }),
  };
}
