import { z } from 'zod';
import { settlementFeeds } from '../../contract/index.ts';
import { headers } from './columns.ts';
import { type Cursor, fail, NEWLINE, WRONG_WIDTH } from './csv.ts';
import type { MarketRow } from './staged.ts';
import type { Table } from './table.ts';

const columns = headers.markets.split(',');

const number = z
  .string()
  .regex(/^-?\d+(\.\d+)?([eE][-+]?\d+)?$/)
  .transform(Number);
const amount = number.pipe(z.number().min(0));
const time = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number);
const orNull = <T extends z.ZodType>(schema: T) => z.union([z.literal('').transform(() => null), schema]);

const marketRow = z.object({
  market: z.string().min(1).max(256),
  start_ms: time,
  end_ms: time,
  settlement_feed: z.enum(settlementFeeds),
  tie: z.enum(['up', 'split']),
  strike: orNull(number),
  final: orNull(number),
  outcome: orNull(z.enum(['up', 'down', 'split'])),
  resolved_ms: orNull(time),
  tick_size: orNull(amount),
  min_size: orNull(amount),
  fee_rate: orNull(amount),
  taker_delay_ms: orNull(amount),
});

/** markets: some hundred rows a day, so each is an object. They keep the order of the file. */
export function marketsTable(): Table<readonly MarketRow[]> {
  const rows: MarketRow[] = [];
  return {
    head: { recv: new Float64Array(0), event: null },
    row(cursor: Cursor, n: number): void {
      const bytes = cursor.bytes as Buffer;
      const end = bytes.indexOf(NEWLINE, cursor.at);
      const fields = bytes.toString('utf8', cursor.at, end).split(',');
      const row = marketRow.safeParse(Object.fromEntries(columns.map((name, i) => [name, fields[i]])));
      if (fields.length !== columns.length) {
        fail(cursor, WRONG_WIDTH);
      } else if (!row.success) {
        fail(cursor, columns.indexOf(String(row.error.issues[0].path[0])) + 1);
      } else {
        rows[n] = row.data;
        cursor.at = end + 1;
      }
    },
    grow(): void {},
    rows: (length) => rows.slice(0, length),
  };
}
