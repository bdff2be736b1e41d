import { Kind, SILENT } from './codes.mjs';

const KLINE_COLUMNS = ['openMs', 'open', 'high', 'low', 'close', 'volume'];
/** History never reaches further back than this. */
export const DAY_MS = 86_400_000;

const priceRow = new Uint8Array(256);
for (const kind of [Kind.prices, Kind.twap30s, Kind.twap60s]) priceRow[kind] = priceRow[kind | SILENT] = 1;

/** One feed and its history: `times` when the strategy saw each row, `data` a list for each column. */
export class Feed {
  constructor(told) {
    this.kind = told.kind;
    this.asset = told.asset || null;
    this.interval = told.interval || null;
    this.name = told.name;
    this.dataset = told.kind === 'kline' ? 'klines' : told.kind === 'series' ? told.name : told.kind;
    this.columns =
      told.kind === 'kline'
        ? KLINE_COLUMNS
        : told.kind === 'series'
          ? ['timeMs', ...told.columns]
          : ['value'];
    this.reset();
  }

  reset() {
    this.times = [];
    this.data = this.columns.map(() => []);
    this.coming = [];
    this.taken = 0;
  }

  /** Records that later rows will take. */
  expect(records) {
    this.coming = this.coming.slice(this.taken).concat(records);
    this.taken = 0;
  }

  /** Moves the next record into the history; returns what its hook is called with. */
  take(tsMs, eventTsMs) {
    const record = this.coming[this.taken++];
    this.times.push(tsMs);
    for (const [i, column] of this.data.entries()) column.push(record[i]);
    const common = { market: null, asset: this.asset, tsMs, eventTsMs };
    if (this.kind === 'kline') return { ...common, interval: this.interval, ...zip(this.columns, record) };
    const values = zip(this.columns.slice(1), record.slice(1));
    return { ...common, name: this.name, timeMs: record[0], values };
  }

  /** The rows that were seen at `ms` or later. */
  since(ms) {
    const first = firstFrom(this.times, ms);
    const columns = zip(
      this.columns,
      this.data.map((column) => column.slice(first)),
    );
    const tsMs = this.times.slice(first);
    if (this.kind !== 'series') return { tsMs, ...columns };
    const { timeMs, ...values } = columns;
    return { tsMs, timeMs, values };
  }

  /** Drops old rows, seldom enough that it costs little a row. */
  forget(before) {
    if (this.times.length === 0 || this.times[0] >= before - DAY_MS) return;
    const old = firstFrom(this.times, before);
    this.times.splice(0, old);
    for (const column of this.data) column.splice(0, old);
  }
}

/** Adds the price rows start..end of a frame to their feeds. */
export function absorb(frame, start, end) {
  const { kind, feeds } = frame;
  for (let i = start; i < end; i++) {
    if (priceRow[kind[i]] === 0) continue;
    const feed = feeds[frame.market[i]];
    feed.times.push(frame.ts[i]);
    feed.data[0].push(frame.price[i]);
  }
}

function zip(names, values) {
  return Object.fromEntries(names.map((name, i) => [name, values[i]]));
}

/** Index of the first element of a sorted list that is not below `value`. */
function firstFrom(list, value) {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (list[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
