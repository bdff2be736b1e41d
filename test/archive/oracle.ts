import type { Dataset } from '../../contract/index.ts';
import type { Dirt } from '../../src/archive/staged.ts';

/** A file's rows as plain objects and lists, read the slow and obvious way. */
export interface Plain {
  rows: Record<string, unknown>[];
  dirt: Dirt;
}

interface Line {
  recv: number;
  row: Record<string, unknown>;
}

class Unreadable extends Error {}
class OffGrid extends Error {}

export function decodePlainly(dataset: Dataset, csv: string): Plain {
  const [header, ...lines] = csv.replace(/\n$/, '').split('\n');
  const columns = header.split(',');
  const dirt: Dirt = {
    unreadable: 0,
    places: [],
    disordered: 0,
    clock_skew: 0,
    repeated: 0,
    off_grid: 0,
    unsorted_levels: 0,
  };
  const kept: Line[] = [];
  lines.forEach((text, i) => {
    const fields = text.split(',');
    try {
      if (fields.length !== columns.length)
        throw new Unreadable(`${fields.length} fields instead of ${columns.length}`);
      const named = Object.fromEntries(columns.map((name, at) => [name, fields[at]]));
      const counts = { off_grid: 0, unsorted_levels: 0 };
      const line = readLine(dataset, named, counts);
      dirt.off_grid += counts.off_grid;
      dirt.unsorted_levels += counts.unsorted_levels;
      if (typeof line.row.event === 'number' && line.row.event > line.recv) {
        line.row.event = line.recv;
        dirt.clock_skew++;
      }
      if (i > 0 && lines[i - 1] === text) dirt.repeated++;
      if (kept.length > 0 && line.recv < kept[kept.length - 1].recv) dirt.disordered++;
      kept.push(line);
    } catch (error) {
      if (error instanceof OffGrid) dirt.off_grid += Number(error.message);
      else if (!(error instanceof Unreadable)) throw error;
      else {
        dirt.unreadable++;
        if (dirt.places.length < 5) dirt.places.push(`line ${i + 2}: ${error.message}`);
      }
    }
  });
  // Array.sort is stable.
  kept.sort((a, b) => a.recv - b.recv);
  return { rows: kept.map(({ row }) => row), dirt };
}

type Fields = Record<string, string>;

function readLine(
  dataset: Dataset,
  fields: Fields,
  counts: { off_grid: number; unsorted_levels: number },
): Line {
  if (dataset === 'klines') {
    const recv = time(fields, 'open_ms');
    const rest = ['open', 'high', 'low', 'close', 'volume'].map((name) => [name, anyNumber(fields, name)]);
    return { recv, row: { open_ms: recv, ...Object.fromEntries(rest) } };
  }
  const recv = time(fields, 'recv_ms');
  if (dataset === 'prices' || dataset === 'twap30s' || dataset === 'twap60s') {
    return { recv, row: { recv, event: time(fields, 'feed_ts_ms'), value: anyNumber(fields, 'value') } };
  }
  const event = time(fields, 'event_ts_ms');
  const { market } = fields;
  if (market === '') throw new Unreadable('market ""');
  const outcome = dataset === 'orderbook' ? 0 : oneOf(fields, 'outcome', ['up', 'down']);
  const row: Record<string, unknown> = { recv, event, market, outcome };
  const off = { prices: 0 };
  if (dataset === 'book' || dataset === 'orderbook') {
    const bids = levels(fields, 'bids', counts, -1);
    const asks = levels(fields, 'asks', counts, 1);
    if (bids.moved || asks.moved) counts.unsorted_levels++;
    return { recv, row: { ...row, bids: bids.list, asks: asks.list } };
  }
  if (dataset === 'best_bid_ask') {
    row.bid = price(fields, 'best_bid', fields.best_bid, off);
    row.ask = price(fields, 'best_ask', fields.best_ask, off);
  } else if (dataset === 'tick_size_change') {
    row.before = price(fields, 'old_tick_size', fields.old_tick_size, off);
    row.after = offer(fields, 'new_tick_size', fields.new_tick_size, off);
  } else {
    row.side = oneOf(fields, 'side', ['buy', 'sell']);
    row.price = offer(fields, 'price', fields.price, off);
    row.size = size(fields, 'size', fields.size);
  }
  if (off.prices > 0) throw new OffGrid(String(off.prices));
  return { recv, row };
}

const bad = (name: string, text: string): Unreadable => {
  const shown = text.length > 40 ? `${text.slice(0, 40)}...` : text;
  return new Unreadable(`${name} ${JSON.stringify(shown)}`);
};

function time(fields: Fields, name: string): number {
  if (!/^\d{1,15}$/.test(fields[name])) throw bad(name, fields[name]);
  return Number(fields[name]);
}

function anyNumber(fields: Fields, name: string): number {
  if (!/^-?\d+(\.\d+)?([eE][-+]?\d+)?$/.test(fields[name]) || fields[name].length > 64)
    throw bad(name, fields[name]);
  return Number(fields[name]);
}

function oneOf(fields: Fields, name: string, values: string[]): number {
  const at = values.indexOf(fields[name]);
  if (at < 0) throw bad(name, fields[name]);
  return at;
}

/** Digits and a point as a count of 10^-4, and whether anything stands behind the fourth decimal. */
function tenThousandths(text: string): { count: bigint; finer: boolean } | null {
  const match = /^(\d*)(?:\.(\d*))?$/.exec(text);
  const [, whole = '', part = ''] = match ?? [];
  if (!match || whole + part === '') return null;
  return { count: BigInt(whole + part.padEnd(4, '0').slice(0, 4)), finer: /[1-9]/.test(part.slice(4)) };
}

function price(fields: Fields, name: string, text: string, off: { prices: number }): number {
  if (text === '') return 0;
  const negative = text.startsWith('-');
  const read = tenThousandths(negative ? text.slice(1) : text);
  if (read === null) throw bad(name, fields[name]);
  if (read.count <= 10_000n && !read.finer && !(negative && read.count > 0n)) return Number(read.count);
  off.prices++;
  return 0;
}

function offer(fields: Fields, name: string, text: string, off: { prices: number }): number {
  if (text === '') throw bad(name, fields[name]);
  const before = off.prices;
  const value = price(fields, name, text, off);
  if (off.prices === before && (value === 0 || value === 10_000)) off.prices++;
  return value;
}

function size(fields: Fields, name: string, text: string): number {
  const read = tenThousandths(text);
  if (read === null || Number(text) > Number.MAX_SAFE_INTEGER / 10_000) throw bad(name, fields[name]);
  return Number(read.count);
}

function levels(
  fields: Fields,
  name: string,
  counts: { off_grid: number },
  direction: 1 | -1,
): { list: [number, number][]; moved: boolean } {
  if (fields[name] === '') return { list: [], moved: false };
  const list: [number, number][] = [];
  for (const text of fields[name].split(' ')) {
    const [first, second, ...more] = text.split(':');
    if (second === undefined || more.length > 0) throw bad(name, fields[name]);
    const off = { prices: 0 };
    const level: [number, number] = [offer(fields, name, first, off), size(fields, name, second)];
    if (off.prices > 0) counts.off_grid++;
    else list.push(level);
  }
  const sorted = list.toSorted((a, b) => (a[0] - b[0]) * direction);
  return { list: sorted, moved: JSON.stringify(sorted) !== JSON.stringify(list) };
}
