import type { FillRow, MarketResult, OrderRow, UnitResult } from '../../contract/report.ts';
import type { places } from './amount.ts';
import type { Curve } from './equity.ts';

/** Times and counts are `integer`; null and the empty text are one: an empty field in CSV, null in Parquet. */
export type Column<Row> =
  | { readonly name: string; readonly type: 'text'; readonly of: (row: Row) => string | null }
  | { readonly name: string; readonly type: keyof typeof places; readonly of: (row: Row) => number | null };

export interface Table<Row> {
  readonly name: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: Iterable<Row>;
}

/** The four tables of a report. Fills and orders of all units stand in the order of time, ties in that of the plan. */
export function tables(
  units: readonly UnitResult[],
  curve: Curve,
): [Table<OrderRow>, Table<FillRow>, Table<number>, Table<MarketResult>] {
  return [
    {
      name: 'orders',
      columns: orderColumns,
      rows: units.flatMap((unit) => unit.orders).sort((a, b) => a.submitted_ms - b.submitted_ms),
    },
    {
      name: 'fills',
      columns: fillColumns,
      rows: units.flatMap((unit) => unit.fills).sort((a, b) => a.ts_ms - b.ts_ms),
    },
    { name: 'equity', columns: equityColumns(curve), rows: new Uint32Array(curve.rows).map((_, row) => row) },
    { name: 'markets', columns: marketColumns, rows: units.flatMap((unit) => unit.markets) },
  ];
}

const fillColumns: readonly Column<FillRow>[] = [
  { name: 'ts_ms', type: 'integer', of: (row) => row.ts_ms },
  { name: 'market', type: 'text', of: (row) => row.market },
  { name: 'outcome', type: 'text', of: (row) => row.outcome },
  { name: 'side', type: 'text', of: (row) => row.side },
  { name: 'price', type: 'price', of: (row) => row.price },
  { name: 'size', type: 'size', of: (row) => row.size },
  { name: 'fee', type: 'money', of: (row) => row.fee },
  { name: 'liquidity', type: 'text', of: (row) => row.liquidity },
  { name: 'order_id', type: 'text', of: (row) => row.order_id },
  { name: 'tag', type: 'text', of: (row) => row.tag },
];

const orderColumns: readonly Column<OrderRow>[] = [
  { name: 'order_id', type: 'text', of: (row) => row.order_id },
  { name: 'submitted_ms', type: 'integer', of: (row) => row.submitted_ms },
  { name: 'arrived_ms', type: 'integer', of: (row) => row.arrived_ms },
  { name: 'done_ms', type: 'integer', of: (row) => row.done_ms },
  { name: 'market', type: 'text', of: (row) => row.market },
  { name: 'outcome', type: 'text', of: (row) => row.outcome },
  { name: 'side', type: 'text', of: (row) => row.side },
  { name: 'limit', type: 'price', of: (row) => row.limit },
  { name: 'size', type: 'size', of: (row) => row.size },
  { name: 'filled', type: 'size', of: (row) => row.filled },
  { name: 'tif', type: 'text', of: (row) => row.tif },
  { name: 'status', type: 'text', of: (row) => row.status },
  { name: 'reason', type: 'text', of: (row) => row.reason },
  { name: 'tag', type: 'text', of: (row) => row.tag },
];

const marketColumns: readonly Column<MarketResult>[] = [
  { name: 'market', type: 'text', of: (row) => row.market },
  { name: 'outcome', type: 'text', of: (row) => row.outcome },
  { name: 'ticks', type: 'integer', of: (row) => row.ticks },
  { name: 'orders', type: 'integer', of: (row) => row.orders },
  { name: 'fills', type: 'integer', of: (row) => row.fills },
  { name: 'fees', type: 'money', of: (row) => row.fees },
  { name: 'pnl', type: 'money', of: (row) => row.pnl },
];

/** A row of the curve is its number, never an object. */
const equityColumns = (curve: Curve): readonly Column<number>[] => [
  { name: 'ts_ms', type: 'integer', of: (row) => curve.ts[row] },
  { name: 'cash', type: 'money', of: (row) => curve.cash[row] },
  { name: 'locked', type: 'money', of: (row) => curve.locked[row] },
  { name: 'position_value', type: 'money', of: (row) => curve.value[row] },
  { name: 'equity', type: 'money', of: (row) => curve.cash[row] + curve.value[row] },
];
