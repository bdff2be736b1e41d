import { grown, taken } from './columns.ts';
import { COMMA, type Cursor, readNumber, readTime, skipFields } from './csv.ts';
import type { FeedRows } from './staged.ts';
import type { Table } from './table.ts';

/** prices, twap30s, twap60s: one row a second. `full_accuracy_value` says the same again and is not read. */
export function feedTable(capacity: number): Table<FeedRows> {
  const head = { recv: new Float64Array(capacity), event: new Float64Array(capacity) };
  let value = new Float64Array(capacity);
  return {
    head,
    row(cursor: Cursor, n: number): void {
      readTime(cursor, 1, head.recv, n);
      readTime(cursor, 2, head.event, n);
      readNumber(cursor, 3, COMMA, value, n);
      skipFields(cursor, 1);
    },
    grow(room: number): void {
      head.recv = grown(head.recv, room);
      head.event = grown(head.event, room);
      value = grown(value, room);
    },
    rows: (length, order) => ({
      length,
      recv: taken(head.recv, length, order),
      event: taken(head.event, length, order),
      value: taken(value, length, order),
    }),
  };
}
