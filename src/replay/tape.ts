import type { DeltaRows, MarketRows, PrintRows, SnapshotRows, TickSizeRows } from '../archive/staged.ts';
import { Ask, Bid, type BookSide } from '../exchange/book.ts';
import { Row, type Tape } from '../exchange/tape.ts';
import { DOLLAR } from '../exchange/units.ts';
import { Depth } from './depth.ts';

/** Rows of one market in one file: the file's columns and the numbers of the market's rows, in file order. */
export interface Part<R extends MarketRows> {
  readonly rows: R;
  readonly at: Uint32Array;
}

/** Everything recorded of a market that the venue acted on; parts in the order of their days. */
export interface MarketParts {
  readonly tickSizes: readonly Part<TickSizeRows>[];
  readonly snapshots: readonly Part<SnapshotRows>[];
  readonly deltas: readonly Part<DeltaRows>[];
  readonly prints: readonly Part<PrintRows>[];
}

type Source =
  | { readonly kind: 'tick'; readonly rows: TickSizeRows; readonly order: Uint32Array }
  | { readonly kind: 'snapshot'; readonly rows: SnapshotRows; readonly order: Uint32Array }
  | { readonly kind: 'delta'; readonly rows: DeltaRows; readonly order: Uint32Array }
  | { readonly kind: 'print'; readonly rows: PrintRows; readonly order: Uint32Array };

/**
 * Puts a market's rows into the venue's order - event time; within a millisecond tick sizes, snapshots, deltas, prints,
 * then day and row - and maps them to the canonical up book. Snapshots become the levels they change. A print and its
 * mirror (same canonical price, side, size and event time) are one. A level off the grid without a recorded tick-size
 * change implies the finer grid.
 * @param end_ms rows after it are left out.
 * @param tick the market's grid at its start, a count of 1e-4 dollars.
 * @param count receives what was met: mirrored_prints, crossed_rows, gaps, implied_ticks,
 *   markets_without_book.
 */
export function makeTape(
  parts: MarketParts,
  end_ms: number,
  tick: number,
  gap_ms: number,
  count: (name: string, by: number) => void,
): Tape {
  const sources: Source[] = [
    ...parts.tickSizes.map(({ rows, at }) => ({ kind: 'tick' as const, rows, order: byEvent(rows, at) })),
    ...parts.snapshots.map(({ rows, at }) => ({ kind: 'snapshot' as const, rows, order: byEvent(rows, at) })),
    ...parts.deltas.map(({ rows, at }) => ({ kind: 'delta' as const, rows, order: byEvent(rows, at) })),
    ...parts.prints.map(({ rows, at }) => ({ kind: 'print' as const, rows, order: byEvent(rows, at) })),
  ];
  const writer = new TapeWriter(tick, gap_ms);
  const cursor = sources.map(() => 0);
  const head = sources.map(({ rows, order }) =>
    order.length > 0 ? rows.event[order[0]!]! : Number.POSITIVE_INFINITY,
  );
  for (;;) {
    let least = 0;
    for (let source = 1; source < sources.length; source++) if (head[source]! < head[least]!) least = source;
    const ts = head[least];
    if (ts === undefined || ts > end_ms) break;
    const { rows, order } = sources[least]!;
    writer.row(sources[least]!, order[cursor[least]!]!, ts);
    const next = ++cursor[least]!;
    head[least] = next < order.length ? rows.event[order[next]!]! : Number.POSITIVE_INFINITY;
  }
  return writer.finish(end_ms, count);
}

/** Row numbers by event time, stable. Rows come nearly sorted (receive order), so a merge of runs costs one pass. */
function byEvent(rows: MarketRows, at: Uint32Array): Uint32Array {
  const { event } = rows;
  for (let i = 1; i < at.length; i++)
    if (event[at[i]!]! < event[at[i - 1]!]!) return insertionSorted(event, at.slice(), i);
  return at;
}

function insertionSorted(event: Float64Array, order: Uint32Array, from: number): Uint32Array {
  let moves = 0;
  for (let i = from; i < order.length; i++) {
    const row = order[i]!;
    const ts = event[row]!;
    let j = i - 1;
    for (; j >= 0 && event[order[j]!]! > ts; j--) order[j + 1] = order[j]!;
    order[j + 1] = row;
    moves += i - 1 - j;
    // A recording in wild disorder would make this quadratic; a typed array's sort is not stable by time alone.
    if (moves > 64 * order.length)
      return Uint32Array.from([...order].sort((a, b) => event[a]! - event[b]! || a - b));
  }
  return order;
}

class TapeWriter {
  private length = 0;
  private ts = new Float64Array(1024);
  private kind = new Uint8Array(1024);
  private price = new Uint16Array(1024);
  private size = new Float64Array(1024);
  private readonly depth = new Depth();
  private readonly gaps: number[] = [];
  private readonly gapMs: number;
  private tick: number;
  private lastDepth = Number.NEGATIVE_INFINITY;
  /** Prints of the current millisecond, by price, side and size. */
  private readonly prints = new Set<string>();
  private printMs = Number.NaN;
  private mirrored = 0;
  private crossed = 0;
  private implied = 0;

  constructor(tick: number, gapMs: number) {
    this.tick = tick;
    this.gapMs = gapMs;
  }

  row(source: Source, row: number, ts: number): void {
    if (source.kind === 'print') this.print(source.rows, row, ts);
    else if (source.kind === 'tick') this.grid(source.rows.after[row]!, ts);
    else this.depthRow(source, row, ts);
  }

  finish(end_ms: number, count: (name: string, by: number) => void): Tape {
    if (end_ms - this.lastDepth > this.gapMs)
      this.gaps.push(this.lastDepth + this.gapMs, Number.POSITIVE_INFINITY);
    // Before its first row a book is not known either, but nothing is missing there.
    const early = this.gaps[0] === Number.NEGATIVE_INFINITY ? 1 : 0;
    count('gaps', this.gaps.length / 2 - early);
    if (this.lastDepth === Number.NEGATIVE_INFINITY) count('markets_without_book', 1);
    count('mirrored_prints', this.mirrored);
    count('crossed_rows', this.crossed);
    count('implied_ticks', this.implied);
    const { length } = this;
    return {
      length,
      ts: this.ts.subarray(0, length),
      kind: this.kind.subarray(0, length),
      price: this.price.subarray(0, length),
      size: this.size.subarray(0, length),
      gaps: Float64Array.from(this.gaps),
    };
  }

  /**
   * A depth row: whatever it says, the book was known at `ts`. Nothing is known before the first one, nor once there has
   * been none for too long: a gap begins when that could be noticed, not with hindsight at the last row before it.
   */
  private depthRow(source: Source & { kind: 'snapshot' | 'delta' }, row: number, ts: number): void {
    if (ts - this.lastDepth > this.gapMs) this.gaps.push(this.lastDepth + this.gapMs, ts);
    this.lastDepth = ts;
    if (source.kind === 'delta') {
      const { rows } = source;
      const down = rows.outcome[row]!;
      const side = (rows.side[row]! ^ down) as BookSide;
      this.level(side, down ? DOLLAR - rows.price[row]! : rows.price[row]!, rows.size[row]!, ts);
    } else this.depth.lay(source.rows, row, (side, price, size) => this.level(side, price, size, ts));
    // By archive row: what a snapshot's levels cross while they change one by one is nobody's.
    if (this.depth.book.bestBid >= this.depth.book.bestAsk) this.crossed++;
  }

  private level(side: BookSide, price: number, size: number, ts: number): void {
    if (size > 0 && price % this.tick !== 0) {
      this.implied++;
      this.grid(price % 10 === 0 ? 10 : 1, ts);
    }
    this.depth.book.set(side, price, size, ts);
    this.push(side === Bid ? Row.bid : Row.ask, price, size, ts);
  }

  private print(rows: PrintRows, row: number, ts: number): void {
    const down = rows.outcome[row]!;
    const price = down ? DOLLAR - rows.price[row]! : rows.price[row]!;
    const hits: BookSide = (rows.side[row]! ^ down) === 1 ? Bid : Ask;
    const size = rows.size[row]!;
    if (ts !== this.printMs) this.prints.clear();
    this.printMs = ts;
    const key = `${price} ${hits} ${size}`;
    if (this.prints.has(key)) {
      this.mirrored++;
      return;
    }
    this.prints.add(key);
    this.push(hits === Bid ? Row.hitsBid : Row.hitsAsk, price, size, ts);
  }

  private grid(tick: number, ts: number): void {
    if (tick === 0 || tick === this.tick) return;
    this.tick = tick;
    this.push(Row.tick, tick, 0, ts);
  }

  private push(kind: number, price: number, size: number, ts: number): void {
    if (this.length === this.ts.length) this.grow();
    const at = this.length++;
    this.ts[at] = ts;
    this.kind[at] = kind;
    this.price[at] = price;
    this.size[at] = size;
  }

  private grow(): void {
    const wider = <T extends Float64Array | Uint16Array | Uint8Array>(old: T, made: T): T => {
      made.set(old as never);
      return made;
    };
    const capacity = 2 * this.ts.length;
    this.ts = wider(this.ts, new Float64Array(capacity));
    this.kind = wider(this.kind, new Uint8Array(capacity));
    this.price = wider(this.price, new Uint16Array(capacity));
    this.size = wider(this.size, new Float64Array(capacity));
  }
}
