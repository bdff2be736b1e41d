import { DOLLAR } from './units.ts';

/** Which side of the canonical book; also the `Row` kind of its levels. */
export const Bid = 0;
export const Ask = 1;
export type BookSide = typeof Bid | typeof Ask;

interface Taken {
  size: number;
  emptied_ms: number;
}

/**
 * The recorded depth of one market, in up terms, and what own orders have taken from it. Replayed levels do not know
 * of own fills, so what was taken stays taken: available = recorded - taken. Taken never exceeds what is recorded, and
 * is forgotten only when the level has stood empty for `refill_ms`, since levels flicker.
 */
export class Book {
  readonly levels: readonly [Float64Array, Float64Array] = [
    new Float64Array(DOLLAR + 1),
    new Float64Array(DOLLAR + 1),
  ];
  /** 0: no bid. */
  bestBid = 0;
  /** DOLLAR: no ask. */
  bestAsk = DOLLAR;
  private bothSum = DOLLAR;
  private lastSet = Number.NEGATIVE_INFINITY;
  private readonly taken = new Map<number, Taken>();
  private readonly refillMs: number;

  constructor(refillMs: number) {
    this.refillMs = refillMs;
  }

  /** Best bid + best ask, in halves of a price count, at the end of the last millisecond that left both there. */
  get middle(): number {
    return this.bestBid > 0 && this.bestAsk < DOLLAR ? this.bestBid + this.bestAsk : this.bothSum;
  }

  /** Sets a level to its new total and answers the old one. */
  set(side: BookSide, price: number, size: number, ts: number): number {
    if (ts !== this.lastSet) {
      // Within a millisecond levels change one by one: the bests in between are nobody's.
      this.bothSum = this.middle;
      this.lastSet = ts;
    }
    const levels = this.levels[side];
    const old = levels[price]!;
    levels[price] = size;
    if (size > 0) {
      if (side === Bid) {
        if (price > this.bestBid) this.bestBid = price;
      } else if (price < this.bestAsk) this.bestAsk = price;
    } else if (side === Bid) {
      if (price === this.bestBid) this.bestBid = below(levels, price);
    } else if (price === this.bestAsk) this.bestAsk = above(levels, price);
    if (this.taken.size > 0) this.remember(side, price, old, size, ts);
    return old;
  }

  /** What an own order could still get from a level. */
  available(side: BookSide, price: number): number {
    const recorded = this.levels[side][price]!;
    if (this.taken.size === 0) return recorded;
    // A level that is empty for a moment still remembers what was taken: that must not count as a debt.
    return Math.max(0, recorded - (this.taken.get(key(side, price))?.size ?? 0));
  }

  take(side: BookSide, price: number, size: number): void {
    const at = key(side, price);
    const taken = this.taken.get(at);
    if (taken) taken.size += size;
    else this.taken.set(at, { size, emptied_ms: 0 });
  }

  private remember(side: BookSide, price: number, old: number, size: number, ts: number): void {
    const at = key(side, price);
    const taken = this.taken.get(at);
    if (!taken) return;
    if (size === 0) {
      if (old > 0) taken.emptied_ms = ts;
    } else if (old === 0 && ts - taken.emptied_ms >= this.refillMs) this.taken.delete(at);
    else if (taken.size > size) taken.size = size;
  }
}

const key = (side: BookSide, price: number): number => price * 2 + side;

function below(levels: Float64Array, price: number): number {
  let at = price - 1;
  while (at > 0 && levels[at] === 0) at--;
  return Math.max(at, 0);
}

function above(levels: Float64Array, price: number): number {
  let at = price + 1;
  while (at < DOLLAR && levels[at] === 0) at++;
  return Math.min(at, DOLLAR);
}
