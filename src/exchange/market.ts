import { Ask, Bid, Book, type BookSide } from './book.ts';
import type { Order } from './order.ts';
import { type Line, line, type Offer, type QueueRule } from './queue.ts';
import type { Rules } from './rules.ts';
import { Row, type Tape } from './tape.ts';
import { DOLLAR } from './units.ts';

/** What an exchange must be told of a market. */
export interface MarketSpec {
  readonly id: string;
  readonly start_ms: number;
  readonly end_ms: number;
  /** Null: unresolved, or a market that came as context only. */
  readonly outcome: 'up' | 'down' | 'split' | null;
  /** The settlement feed's value that decided; null where it is not archived. */
  readonly final: number | null;
  /** When shares turn into money, never before end_ms. */
  readonly settle_ms: number;
  /** False: read-only context. */
  readonly tradable: boolean;
  readonly rules: Rules;
  /** Made when first needed: a market that nobody trades in costs nothing. */
  readonly tape: () => Tape;
}

/** What happens to own orders while rows pass. */
export interface RowEffects {
  /** Offers a resting order a fill at its own price. */
  offer: Offer;
  /** The grid changed; orders off it must go. */
  tick(ts: number): void;
}

const NOBODY = [new Uint16Array(0), new Uint16Array(0)] as const;

/**
 * One market as the venue runs it: a cursor over its tape, the recorded book up to there, and own resting orders.
 * Own orders meet rows in three ways: a print at their price (the queue rule), a print through their price (the queue
 * there is proven gone), and a recorded opposite level at or through their price (live, it would have matched).
 */
export class Market {
  readonly spec: MarketSpec;
  tick: number;
  /** Resting orders. */
  resting = 0;
  private readonly queue: QueueRule;
  private readonly refillMs: number;
  private readonly active: Set<Market>;
  private tapeMade: Tape | undefined;
  private bookMade: Book | undefined;
  private cursor = 0;
  private readonly lines = [new Map<number, Line>(), new Map<number, Line>()] as const;
  /** Own orders by price and side, so that a row that meets none costs one look. Made for the first order that rests. */
  private own: readonly [Uint16Array, Uint16Array] = NOBODY;
  private ownBid = 0;
  private ownAsk = DOLLAR;

  /** @param active the markets in which own orders rest; kept by them. */
  constructor(spec: MarketSpec, queue: QueueRule, refillMs: number, active: Set<Market>) {
    this.spec = spec;
    this.queue = queue;
    this.refillMs = refillMs;
    this.active = active;
    this.tick = spec.rules.tick;
  }

  /** A session has hundreds of markets; books are made for those that are traded. */
  get book(): Book {
    this.bookMade ??= new Book(this.refillMs);
    return this.bookMade;
  }

  private get tape(): Tape {
    this.tapeMade ??= this.spec.tape();
    return this.tapeMade;
  }

  /** Event time of the next row; Infinity when there is none. */
  get nextRow(): number {
    return this.cursor < this.tape.length ? this.tape.ts[this.cursor]! : Number.POSITIVE_INFINITY;
  }

  /** Lets every row up to and including `until` pass. A few ns a row where no own order stands near. */
  pass(until: number, effects: RowEffects): void {
    const { ts, kind, price, size, length } = this.tape;
    const { book } = this;
    let at = this.cursor;
    for (; at < length && ts[at]! <= until; at++) {
      const rowKind = kind[at]!;
      const rowPrice = price[at]!;
      const rowSize = size[at]!;
      if (rowKind <= Row.ask) {
        const side = rowKind as BookSide;
        const old = book.set(side, rowPrice, rowSize, ts[at]!);
        if (this.resting === 0) continue;
        if (this.own[side][rowPrice] !== 0)
          this.queue.level(this.lines[side].get(rowPrice)!, old, rowSize, ts[at]!);
        if (rowSize > 0 && this.meets(side, rowPrice)) this.cross(side, rowPrice, ts[at]!, effects);
      } else if (rowKind === Row.tick) {
        this.tick = rowPrice;
        effects.tick(ts[at]!);
      } else if (this.resting > 0) {
        const hit: BookSide = rowKind === Row.hitsBid ? Bid : Ask;
        if (hit === Bid ? rowPrice <= this.ownBid : rowPrice >= this.ownAsk)
          this.print(hit, rowPrice, rowSize, ts[at]!, effects);
      }
    }
    this.cursor = at;
  }

  /** The order joins the queue at its price. */
  rest(order: Order, ts: number): void {
    const lines = this.lines[order.bookSide];
    let at = lines.get(order.price);
    if (!at) {
      at = line(order.price);
      lines.set(order.price, at);
    }
    this.queue.join(at, order, this.book.levels[order.bookSide][order.price]!, ts);
    if (this.own === NOBODY) this.own = [new Uint16Array(DOLLAR + 1), new Uint16Array(DOLLAR + 1)];
    this.own[order.bookSide][order.price]!++;
    this.resting++;
    this.active.add(this);
    if (order.bookSide === Bid) this.ownBid = Math.max(this.ownBid, order.price);
    else this.ownAsk = Math.min(this.ownAsk, order.price);
  }

  /** The order leaves its queue: filled, cancelled or expired. */
  leave(order: Order): void {
    const lines = this.lines[order.bookSide];
    const at = lines.get(order.price)!;
    at.orders.splice(at.orders.indexOf(order), 1);
    if (at.orders.length === 0) lines.delete(order.price);
    this.own[order.bookSide][order.price]!--;
    this.resting--;
    if (this.resting === 0) this.active.delete(this);
    if (order.bookSide === Bid) this.ownBid = Math.max(0, ...this.lines[Bid].keys());
    else this.ownAsk = Math.min(DOLLAR, ...this.lines[Ask].keys());
  }

  /** Best own price on a side: 0 or DOLLAR where there is none. */
  bestOwn(side: BookSide): number {
    return side === Bid ? this.ownBid : this.ownAsk;
  }

  /** The gap [from, to) that `ts` lies in, or null. */
  inGap(ts: number): boolean {
    const { gaps } = this.tape;
    for (let i = 0; i < gaps.length; i += 2) if (ts >= gaps[i]! && ts < gaps[i + 1]!) return true;
    return false;
  }

  /** Start of the first gap that begins at or after `ts`. */
  nextGap(ts: number): number {
    const { gaps } = this.tape;
    for (let i = 0; i < gaps.length; i += 2) if (gaps[i]! >= ts) return gaps[i]!;
    return Number.POSITIVE_INFINITY;
  }

  /**
   * A time before which no row can touch an own order: the first row of the next `window` that might, else the first
   * beyond them. Looks, changes nothing: a queue is taken to be as short as the level ever shows it, less every print.
   */
  untouchedUntil(window: number): number {
    if (this.resting === 0) return Number.POSITIVE_INFINITY;
    const { ts, kind, price, size, length } = this.tape;
    const shortest = [new Map<number, number>(), new Map<number, number>()] as const;
    for (const side of [Bid, Ask] as const)
      for (const [at, { orders }] of this.lines[side])
        shortest[side].set(at, Math.min(orders[0]!.ahead, this.book.levels[side][at]!));

    const end = Math.min(length, this.cursor + window);
    for (let at = this.cursor; at < end; at++) {
      const rowKind = kind[at]!;
      const rowPrice = price[at]!;
      if (rowKind <= Row.ask) {
        const side = rowKind as BookSide;
        if (this.own[side][rowPrice] !== 0) {
          const ahead = shortest[side];
          ahead.set(rowPrice, Math.min(ahead.get(rowPrice)!, size[at]!));
        }
        if (size[at]! > 0 && this.meets(side, rowPrice)) return ts[at]!;
      } else if (rowKind === Row.tick) return ts[at]!;
      else {
        const hit: BookSide = rowKind === Row.hitsBid ? Bid : Ask;
        const best = this.bestOwn(hit);
        if (hit === Bid ? rowPrice > best : rowPrice < best) continue;
        if (rowPrice !== best) return ts[at]!;
        const left = shortest[hit].get(rowPrice)! - size[at]!;
        if (left < 0) return ts[at]!;
        shortest[hit].set(rowPrice, left);
      }
    }
    return end < length ? ts[end]! : Number.POSITIVE_INFINITY;
  }

  /** Whether a recorded level on `side` stands at or through an own order of the other side. */
  private meets(side: BookSide, price: number): boolean {
    return side === Ask ? price <= this.ownBid : price >= this.ownAsk;
  }

  /** Own orders on `side` at or through `price`, best price first. */
  private reached(side: BookSide, price: number): Order[] {
    const prices = [...this.lines[side].keys()].filter((own) => (side === Bid ? own >= price : own <= price));
    prices.sort((a, b) => (side === Bid ? b - a : a - b));
    return prices.flatMap((own) => this.lines[side].get(own)!.orders);
  }

  /** The recorded opposite side showed size at or through own limits: it fills them, best first, and is taken. */
  private cross(side: BookSide, price: number, ts: number, effects: RowEffects): void {
    for (const order of this.reached(side === Ask ? Bid : Ask, price)) {
      const size = effects.offer(order, this.book.available(side, price), ts);
      if (size > 0) this.book.take(side, price, size);
    }
  }

  /** A print is one budget: best own price first. Strictly through a price it proves the queue there gone. */
  private print(side: BookSide, price: number, size: number, ts: number, effects: RowEffects): void {
    let budget = size;
    for (const order of this.reached(side, price)) {
      if (order.price === price) break;
      order.ahead = 0;
      budget -= effects.offer(order, budget, ts);
    }
    const at = this.lines[side].get(price);
    if (at) this.queue.print(at, budget, this.book.levels[side][price]!, ts, effects.offer);
  }
}
