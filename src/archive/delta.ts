import { grown, taken } from './columns.ts';
import { COMMA, type Cursor, NEWLINE, readOfferPrice, readSide, readSize, skipFields } from './csv.ts';
import { growHead, headRows, newHead, readHead } from './market.ts';
import type { DeltaRows } from './staged.ts';
import type { Table } from './table.ts';

/** price_change and last_trade_price; of the former, `unused` fields follow the size: the venue's own best prices. */
export function deltaTable(capacity: number, unused: number): Table<DeltaRows> {
  const head = newHead(capacity);
  let side = new Uint8Array(capacity);
  let price = new Uint16Array(capacity);
  let size = new Float64Array(capacity);
  const last = unused === 0 ? NEWLINE : COMMA;
  return {
    head,
    row(cursor: Cursor, n: number): void {
      readHead(cursor, head, n);
      side[n] = readSide(cursor, 5);
      price[n] = readOfferPrice(cursor, 6, COMMA);
      readSize(cursor, 7, last, last, size, n);
      if (unused > 0) skipFields(cursor, unused);
    },
    grow(room: number): void {
      growHead(head, room);
      side = grown(side, room);
      price = grown(price, room);
      size = grown(size, room);
    },
    rows: (length, order) => ({
      ...headRows(head, length, order),
      side: taken(side, length, order),
      price: taken(price, length, order),
      size: taken(size, length, order),
    }),
  };
}
