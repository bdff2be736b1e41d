import { DOLLAR } from './units.ts';

/** Which side of the canonical book; also the `Row` kind of its levels. */
export const Bid = 0;
export const Ask = 1;
export type BookSide = typeof Bid | typeof Ask;

const WORDS = (DOLLAR >>> 5) + 1;

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
  /** A bit for every level with size: from one level to the next is a look or two, not a walk over the grid. */
  private readonly standing = [new Uint32Array(WORDS), new Uint32Array(WORDS)] as const;
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
    if (old > 0 !== size > 0) this.standing[side][price >>> 5]! ^= 1 << (price & 31);
    if (size > 0) {
      if (side === Bid) {
        if (price > this.bestBid) this.bestBid = price;
      } else if (price < this.bestAsk) this.bestAsk = price;
    } else if (side === Bid) {
      if (price === this.bestBid) this.bestBid = this.worse(Bid, price);
    } else if (price === this.bestAsk) this.bestAsk = this.worse(Ask, price);
    if (this.taken.size > 0) this.remember(side, price, old, size, ts);
    return old;
  }

  /** The next standing level behind `price`, away from the spread: 0 or DOLLAR where there is none. */
  worse(side: BookSide, price: number): number {
    return side === Bid ? below(this.standing[Bid], price) : above(this.standing[Ask], price);
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

/** The highest set bit below `price`, or 0. */
function below(bits: Uint32Array, price: number): number {
  let word = price >>> 5;
  let found = bits[word]! & ((1 << (price & 31)) - 1);
  while (found === 0 && word > 0) found = bits[--word]!;
  return found === 0 ? 0 : 32 * word + 31 - Math.clz32(found);
}

/** The lowest set bit above `price`, or DOLLAR. */
function above(bits: Uint32Array, price: number): number {
  let word = price >>> 5;
  let found = bits[word]! & ~((2 << (price & 31)) - 1);
  while (found === 0 && word < WORDS - 1) found = bits[++word]!;
  return found === 0 ? DOLLAR : 32 * word + 31 - Math.clz32(found & -found);
}
