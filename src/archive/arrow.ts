import {
  type Data,
  type DataType,
  Field,
  Float64,
  List,
  makeData,
  RecordBatch,
  RecordBatchFileWriter,
  Schema,
  Struct,
  tableFromIPC,
  Uint8,
  Uint16,
  Uint32,
} from 'apache-arrow';
import { z } from 'zod';
import type { Dataset } from '../../contract/index.ts';
import type { Column } from './columns.ts';
import type { Decoded } from './decode.ts';
import type { MarketRow, RowsOf, SnapshotRows } from './staged.ts';

/*
 * A staged file as Arrow IPC, uncompressed: one record batch of the row columns, and the levels of a snapshot as a
 * list of {price, size} structs, whose offsets are `start`. Everything else is JSON in the schema's metadata.
 */

const head = ['recv', 'event', 'market', 'outcome'];
const delta = [...head, 'side', 'price', 'size'];
const feed = ['recv', 'event', 'value'];
const columnsOf: Readonly<Record<Dataset, readonly string[]>> = {
  prices: feed,
  twap30s: feed,
  twap60s: feed,
  book: [...head, 'asks'],
  orderbook: [...head, 'asks'],
  best_bid_ask: [...head, 'bid', 'ask'],
  price_change: delta,
  last_trade_price: delta,
  tick_size_change: [...head, 'before', 'after'],
  markets: [],
  klines: ['open_ms', 'open', 'high', 'low', 'close', 'volume'],
};
const LEVELS = 'levels';

const meta = z.object({
  length: z.number().int(),
  names: z.array(z.string()),
  /** The rows of a markets file, which has no columns. */
  markets: z.array(z.looseObject({ market: z.string() })).nullable(),
  dirt: z.object({
    unreadable: z.number(),
    places: z.array(z.string()),
    disordered: z.number(),
    clock_skew: z.number(),
    repeated: z.number(),
    off_grid: z.number(),
    unsorted_levels: z.number(),
  }),
});
const META = 'backtest';
const MAGIC = Buffer.from('ARROW1');

const hasLevels = (dataset: Dataset): boolean => dataset === 'book' || dataset === 'orderbook';

/** The chunks of an Arrow file that holds the rows. Columns are not copied. */
export function toArrow<D extends Dataset>(
  dataset: D,
  { rows, dirt }: Decoded<D>,
): AsyncIterable<Uint8Array> {
  const { length } = rows;
  const columns = rows as unknown as Record<string, Column>;
  const children: Data[] = columnsOf[dataset].map((name) => columnData(columns[name]));
  const fields = columnsOf[dataset].map((name, i) => new Field(name, children[i].type));
  if (hasLevels(dataset)) {
    children.push(levelData(rows as SnapshotRows));
    fields.push(new Field(LEVELS, children[children.length - 1].type));
  }
  const header: z.infer<typeof meta> = {
    length,
    names: 'markets' in rows ? [...rows.markets] : [],
    markets: dataset === 'markets' ? [...(rows as readonly MarketRow[])].map((row) => ({ ...row })) : null,
    dirt,
  };
  const schema = new Schema(fields, new Map([[META, JSON.stringify(header)]]));
  const type = new Struct(fields);
  return RecordBatchFileWriter.writeAll([
    new RecordBatch(schema, makeData({ type, length, nullCount: 0, children })),
  ]);
}

/** Rows from the bytes of an Arrow file, whose columns they share. Throws if these are not what toArrow wrote. */
export function fromArrow<D extends Dataset>(dataset: D, bytes: Buffer): Decoded<D> {
  if (!bytes.subarray(-MAGIC.length).equals(MAGIC)) throw new Error('its end is missing');
  const table = tableFromIPC(bytes);
  const { length, names, markets, dirt } = meta.parse(JSON.parse(table.schema.metadata.get(META) ?? 'null'));
  if (dataset === 'markets') return { rows: markets as unknown as RowsOf[D], dirt };
  const [batch] = table.batches;
  const data = new Map(table.schema.fields.map((field, i) => [field.name, batch?.data.children[i]]));
  const column = (name: string): Column => {
    const values = data.get(name)?.values as Column | undefined;
    if (!values || values.length < length) throw new Error(`its column ${name} is incomplete`);
    return values.subarray(0, length) as Column;
  };
  const rows: Record<string, unknown> = { length };
  if (columnsOf[dataset].includes('market')) rows.markets = names;
  for (const name of columnsOf[dataset]) rows[name] = column(name);
  if (hasLevels(dataset)) Object.assign(rows, levelRows(data.get(LEVELS), length));
  return { rows: rows as unknown as RowsOf[D], dirt };
}

function columnData(values: Column): Data {
  const { length } = values;
  if (values instanceof Float64Array)
    return makeData({ type: new Float64(), length, nullCount: 0, data: values });
  if (values instanceof Uint32Array)
    return makeData({ type: new Uint32(), length, nullCount: 0, data: values });
  if (values instanceof Uint16Array)
    return makeData({ type: new Uint16(), length, nullCount: 0, data: values });
  return makeData({ type: new Uint8(), length, nullCount: 0, data: values });
}

function levelData({ length, start, levelPrice, levelSize }: SnapshotRows): Data {
  const children = [columnData(levelPrice), columnData(levelSize)];
  const type = new Struct([new Field('price', new Uint16()), new Field<DataType>('size', new Float64())]);
  const child = makeData({ type, length: levelPrice.length, nullCount: 0, children });
  const valueOffsets = new Int32Array(start.buffer, start.byteOffset, start.length);
  return makeData({ type: new List(new Field('level', type)), length, nullCount: 0, valueOffsets, child });
}

function levelRows(
  list: Data | undefined,
  length: number,
): Pick<SnapshotRows, 'start' | 'levelPrice' | 'levelSize'> {
  const offsets = list?.valueOffsets as Int32Array | undefined;
  const [price, size] = list?.children[0]?.children ?? [];
  if (!offsets || offsets.length < length + 1 || !price || !size)
    throw new Error('its levels are incomplete');
  const start = new Uint32Array(offsets.buffer, offsets.byteOffset, length + 1);
  if (price.values.length < start[length] || size.values.length < start[length]) {
    throw new Error('its levels are incomplete');
  }
  return {
    start,
    levelPrice: price.values.subarray(0, start[length]),
    levelSize: size.values.subarray(0, start[length]),
  };
}
