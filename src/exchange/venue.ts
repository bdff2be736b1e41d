import type { Execution, Limits, OrderRow } from '../../contract/index.ts';
import { Desk, NO_MARKET, type Tell } from './desk.ts';
import { Journal, type PrivateEvent } from './journal.ts';
import { type Latency, latency } from './latency.ts';
import { Market, type MarketSpec } from './market.ts';
import type { Request } from './order.ts';
import { Portfolio } from './portfolio.ts';
import { pessimistic } from './queue.ts';
import { DOLLAR, notional } from './units.ts';

export interface VenueOptions {
  readonly execution: Execution;
  readonly limits: Pick<Limits, 'open_orders_per_market' | 'bank_ms' | 'refill_ms'>;
  readonly seed: number;
  /** Micro-dollars. */
  readonly capital: number;
  /** In the order of (start_ms, id). */
  readonly markets: readonly MarketSpec[];
  /** Number of the portfolio in the marks. */
  readonly portfolio: number;
}

/** An answer to the box: events that are facts now, and a time before which no other will be seen. */
export interface Answer {
  readonly events: readonly PrivateEvent[];
  /** ms; Infinity once the stop has been told. */
  readonly promise: number;
}

interface Arriving {
  readonly request: Request;
  readonly submitted_ms: number;
  readonly at: number;
}

const NEVER = Number.POSITIVE_INFINITY;
const MINUTE_MS = 60_000;
/** Rows that a look-ahead may cover: it doubles while nothing comes of it and starts anew with every command. */
const SCAN = { least: 1024, most: 65_536 };

/**
 * The exchange for one portfolio. Time moves only in `advance`, and never past what a command could still change: one
 * sent at `now` arrives no sooner than now + the smaller of its entry and cancel latency, and never before an earlier
 * one. So whatever has been told is a fact, nothing is ever undone, and the same commands give the same events however
 * the time was cut. Within one millisecond: marks, rows, expiries, settlements, held orders, commands.
 */
export class Venue {
  readonly journal: Journal;
  readonly portfolio: Portfolio;
  readonly markets: readonly Market[];
  /** Markets in which own orders rest. */
  private readonly active = new Set<Market>();
  private readonly desk: Desk;
  private readonly effects: ReturnType<Desk['effects']>;
  private readonly entry: Latency;
  private readonly cancel: Latency;
  private readonly response: Latency;
  private readonly arriving: Arriving[] = [];
  /** Markets still to settle, soonest first. */
  private readonly settling: number[];
  /** The last thing can be seen to happen no later than this. */
  private readonly finalMs: number;
  private lastArrival = Number.NEGATIVE_INFINITY;
  private lastSeen = Number.NEGATIVE_INFINITY;
  private lastEvent = Number.NEGATIVE_INFINITY;
  private nextNumber = 1;
  private told = 0;
  private scan = SCAN.least;
  private stopped = false;

  constructor(options: VenueOptions) {
    const { execution, limits, seed, markets } = options;
    const queue = pessimistic(limits.bank_ms);
    this.markets = markets.map((spec) => new Market(spec, queue, limits.refill_ms, this.active));
    this.portfolio = new Portfolio(options.capital, markets.length);
    this.journal = new Journal(this.portfolio, this.markets, options.portfolio);
    const tell: Tell = (kind, market, ts, facts) => {
      this.lastSeen = Math.max(this.lastSeen, ts + this.response(++this.told));
      this.journal.tell(kind, market, ts, this.lastSeen, facts);
    };
    this.desk = new Desk(this.markets, this.portfolio, this.journal, limits, tell, (ts, passing) =>
      this.mark(ts, passing),
    );
    this.effects = this.desk.effects();
    this.entry = latency(execution.latency_ms.entry, seed, 1);
    this.cancel = latency(execution.latency_ms.cancel, seed, 2);
    this.response = latency(execution.latency_ms.response, seed, 3);
    this.settling = markets
      .map((_, market) => market)
      .filter((market) => markets[market]!.tradable && markets[market]!.outcome !== null)
      .sort((a, b) => markets[a]!.settle_ms - markets[b]!.settle_ms || a - b);
    this.finalMs = 1 + Math.max(...markets.filter((spec) => spec.tradable).map(lastOf));
  }

  /** Orders that have arrived so far. */
  get orders(): number {
    return this.desk.orders.size;
  }

  /** Takes commands sent at `now`; their numbers go up by one. Call `advance` for the answer. */
  submit(now: number, requests: readonly Request[]): void {
    this.scan = SCAN.least;
    for (const request of requests) {
      const leg = request.kind === 'cancel' || request.kind === 'cancel_all' ? this.cancel : this.entry;
      // Requests never overtake one another.
      this.lastArrival = Math.max(this.lastArrival, now + leg(request.number));
      this.nextNumber = request.number + 1;
      this.arriving.push({ request, submitted_ms: now, at: this.lastArrival });
    }
  }

  /**
   * Lets time pass as far as no command can change it any more, the strategy being at `now`.
   * @param asked true: rows and timers at `now` are done, so that what happens at `now` may be told.
   * @param most promise no more than this (lock-step).
   */
  advance(now: number, asked: boolean, most = NEVER): Answer {
    const soonest = now + Math.min(this.entry(this.nextNumber), this.cancel(this.nextNumber));
    this.run(Math.max(soonest, this.lastArrival));
    const next = this.nextPossible();
    const settlement = this.unseenSettlement(now, asked);
    if (asked) this.scan = Math.min(this.scan * 2, SCAN.most);

    let promise = Math.min(next, settlement);
    if (promise === NEVER && !this.stopped) {
      promise = Math.max(this.finalMs, this.lastSeen + 1);
      if (asked && promise <= now) {
        this.stopped = true;
        this.journal.tell('stop', 0, now, now, {});
        promise = NEVER;
      }
    }
    promise = Math.max(Math.min(promise, most), now);
    return { events: this.release(promise), promise };
  }

  /** Closes the books: open positions of unresolved markets at their last two-sided middle. */
  finish(ts: number): { orders: OrderRow[]; pnl: (market: number) => number } {
    const left = this.markets.map((_, market) => this.leftover(market));
    this.journal.mark(
      Math.max(ts, this.lastEvent),
      left.reduce((sum, worth) => sum + worth, 0),
    );
    for (const order of [...this.desk.orders.values()].sort((a, b) => a.number - b.number))
      this.journal.order(order);
    return {
      orders: this.journal.orders,
      pnl: (market) => this.portfolio.positions[market]!.flow + left[market]!,
    };
  }

  private leftover(market: number): number {
    const { up, down } = this.portfolio.positions[market]!;
    if (up === 0 && down === 0) return 0;
    const { book, spec } = this.markets[market]!;
    this.markets[market]!.pass(spec.end_ms, this.effects);
    const { middle } = book;
    return Math.floor(notional(middle, up) / 2) + Math.floor(notional(2 * DOLLAR - middle, down) / 2);
  }

  /** A settlement that has happened but may only be told once the strategy is there. */
  private unseenSettlement(now: number, asked: boolean): number {
    for (const event of this.journal.outbox)
      if (event.kind === 'settle' && (asked ? event.ts > now : event.ts >= now)) return event.ts;
    return NEVER;
  }

  /** Moves what may be told now out of the outbox. */
  private release(promise: number): PrivateEvent[] {
    const { outbox } = this.journal;
    const events = outbox.filter((event) => event.ts < promise);
    if (events.length === 0) return events;
    outbox.splice(0, outbox.length, ...outbox.filter((event) => event.ts >= promise));
    // A settlement is told when it happens and may overtake answers that are still on their way.
    return events.sort((a, b) => a.ts - b.ts || Number(a.kind === 'settle') - Number(b.kind === 'settle'));
  }

  /** A bound on when the strategy could see something that has not happened yet; Infinity: nothing is on its way. */
  private nextPossible(): number {
    let at = Math.min(this.nextCause(), this.desk.nextEnd);
    for (const market of this.active) at = Math.min(at, market.untouchedUntil(this.scan));
    if (at !== NEVER) at = Math.max(this.lastSeen, at + this.response(this.told + 1));
    return Math.min(at, this.nextSettlement());
  }

  /** The next arrival or release. */
  private nextCause(): number {
    let at = this.arriving[0]?.at ?? NEVER;
    for (const order of this.desk.held) at = Math.min(at, order.release_ms);
    return at;
  }

  private nextSettlement(): number {
    return this.settling.length === 0 ? NEVER : this.markets[this.settling[0]!]!.spec.settle_ms;
  }

  /** The next full minute at which a portfolio that holds anything is marked. */
  private nextMark(): number {
    if (this.portfolio.reserved === 0 && this.portfolio.holding.size === 0) return NEVER;
    return (Math.floor(this.lastEvent / MINUTE_MS) + 1) * MINUTE_MS;
  }

  /** Lets everything up to and including `until` happen, in order. */
  private run(until: number): void {
    for (;;) {
      const mark = this.nextMark();
      const other = Math.min(this.nextCause(), this.desk.nextEnd, this.nextSettlement());
      const next = Math.min(mark, other);
      if (this.passRows(Math.min(until, other, mark - 1))) continue;
      if (next > until) return;
      this.lastEvent = next;
      if (next === mark) {
        this.catchUp(next - 1, NO_MARKET);
        this.journal.mark(next);
      } else this.happen(next);
    }
  }

  /** Rows of markets in which own orders rest. Alone, a market's rows pass in one go; several take turns by time. */
  private passRows(limit: number): boolean {
    let next = NEVER;
    for (const market of this.active) next = Math.min(next, market.nextRow);
    if (next > limit) return false;
    const until = this.active.size > 1 ? next : limit;
    for (const market of this.inOrder()) market.pass(until, this.effects);
    return true;
  }

  /** Active markets in the order of the list, which is that of (start_ms, id). */
  private inOrder(): Market[] {
    return [...this.active].sort(
      (a, b) => a.spec.start_ms - b.spec.start_ms || (a.spec.id < b.spec.id ? -1 : 1),
    );
  }

  /** A mark values every position by the book of that moment, wherever the markets' cursors stand. */
  private mark(ts: number, passing: number): void {
    this.catchUp(ts, passing);
    this.journal.mark(ts);
  }

  /** Brings the books of all markets with a position up to `ts`; the ones after `passing` have their rows of `ts` still to come. */
  private catchUp(ts: number, passing: number): void {
    for (const market of [...this.portfolio.holding])
      if (market !== passing) this.markets[market]!.pass(market < passing ? ts : ts - 1, this.effects);
  }

  /** Everything at `ts` but marks and rows. */
  private happen(ts: number): void {
    this.desk.expire(ts);
    while (this.nextSettlement() <= ts) this.settle(this.settling.shift()!, ts);
    for (const order of this.desk.held.filter((one) => one.release_ms <= ts)) {
      this.markets[order.market]!.pass(ts, this.effects);
      this.desk.release(order, ts);
    }
    while (this.arriving.length > 0 && this.arriving[0]!.at <= ts) {
      const { request, submitted_ms } = this.arriving.shift()!;
      this.markets[request.market]?.pass(ts, this.effects);
      this.desk.request(request, submitted_ms, ts);
    }
  }

  /** Shares become money: a dollar for the winner, half a dollar each on a split. Told without latency, when it is known. */
  private settle(market: number, ts: number): void {
    const { spec } = this.markets[market]!;
    const outcome = spec.outcome!;
    const { up, down } = this.portfolio.positions[market]!;
    const worth = (side: 'up' | 'down'): number =>
      outcome === 'split' ? DOLLAR / 2 : outcome === side ? DOLLAR : 0;
    for (const [side, size] of [
      ['up', up],
      ['down', down],
    ] as const) {
      if (size === 0) continue;
      this.portfolio.move(market, side, -size, notional(worth(side), size));
      this.journal.fills.push({
        ts_ms: ts,
        market: spec.id,
        outcome: side,
        side: 'settle',
        price: worth(side),
        size,
        fee: 0,
        liquidity: 'none',
        order_id: '',
        tag: '',
      });
    }
    this.journal.tell('settle', market, ts, ts, { outcome, price: spec.final ?? Number.NaN });
    if (up !== 0 || down !== 0) this.mark(ts, NO_MARKET);
  }
}

/** When a market can be over for the strategy. */
const lastOf = (spec: MarketSpec): number =>
  spec.outcome === null ? spec.end_ms : Math.max(spec.end_ms, spec.settle_ms);
