import { grown, taken } from './columns.ts';
import { COMMA, type Cursor, NEWLINE, readNumber, readTime } from './csv.ts';
import type { KlineRows } from './staged.ts';
import type { Table } from './table.ts';

/** klines. The time of a row is when its candle opens. */
export function klineTable(capacity: number): Table<KlineRows> {
  const head = { recv: new Float64Array(capacity), event: null };
  const values = Array.from({ length: 5 }, () => new Float64Array(capacity));
  return {
    head,
    row(cursor: Cursor, n: number): void {
      readTime(cursor, 1, head.recv, n);
      for (let i = 0; i < 5; i++) readNumber(cursor, i + 2, i < 4 ? COMMA : NEWLINE, values[i], n);
    },
    grow(room: number): void {
      head.recv = grown(head.recv, room);
      for (let i = 0; i < 5; i++) values[i] = grown(values[i], room);
    },
    rows(length, order) {
      const open_ms = taken(head.recv, length, order);
      const [open, high, low, close, volume] = values.map((column) => taken(column, length, order));
      return { length, open_ms, open, high, low, close, volume };
    },
  };
}
