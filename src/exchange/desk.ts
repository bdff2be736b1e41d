import type { Limits, Reason } from '../../contract/index.ts';
import { affordable, arrive, marketable, reducible } from './arrival.ts';
import { Ask, Bid } from './book.ts';
import { Clearing } from './clearing.ts';
import type { EventFacts, EventKind, Journal } from './journal.ts';
import type { Market, RowEffects } from './market.ts';
import { isOpen, type Order, type Request } from './order.ts';
import type { Portfolio } from './portfolio.ts';
import { walk } from './taking.ts';
import { DOLLAR, notional, SIZE_STEP, sizeOf, toStep } from './units.ts';

const NEVER = Number.POSITIVE_INFINITY;

/** Says something to the strategy that happened at `ts`. */
export type Tell = (kind: EventKind, market: number, ts: number, facts: EventFacts) => void;

/** Marks the portfolio; `passing` is the market whose rows of this very moment are on their way, or NO_MARKET. */
export type Mark = (ts: number, passing: number) => void;
export const NO_MARKET = Number.POSITIVE_INFINITY;

/**
 * What becomes of orders at their time: judged on arrival, held where they would take, matched, rested, filled, ended.
 * Knows nothing of when; the venue does.
 */
export class Desk {
  /** Orders that are held or rest. */
  readonly open = new Set<Order>();
  /** Held orders in the order of their arrival. */
  held: Order[] = [];
  /** Every order that ever arrived, by number. */
  readonly orders = new Map<number, Order>();
  private readonly markets: readonly Market[];
  private readonly portfolio: Portfolio;
  private readonly journal: Journal;
  private readonly clearing: Clearing;
  private readonly tell: Tell;
  private readonly mark: Mark;
  private readonly limits: Pick<Limits, 'open_orders_per_market'>;
  private readonly ordersOf: number[];
  private endCache: number | null = NEVER;

  constructor(
    markets: readonly Market[],
    portfolio: Portfolio,
    journal: Journal,
    limits: Pick<Limits, 'open_orders_per_market'>,
    tell: Tell,
    mark: Mark,
  ) {
    this.markets = markets;
    this.portfolio = portfolio;
    this.journal = journal;
    this.clearing = new Clearing(portfolio, journal);
    this.limits = limits;
    this.tell = tell;
    this.mark = mark;
    this.ordersOf = markets.map(() => 0);
  }

  /** A request reaches the venue. The market's rows up to and including `ts` have passed. */
  request(request: Request, submitted_ms: number, ts: number): void {
    if (request.kind === 'cancel') this.cancelOne(request, ts);
    else if (request.kind === 'cancel_all') this.cancelAll(request, ts);
    else if (!this.markets[request.market]) this.refuseUnplaced(request, ts);
    else if (request.kind === 'order') this.place(request, submitted_ms, ts);
    else this.convert(request, ts);
  }

  /** When the next open order ends by itself: its expiry, its market's end, the start of a gap. */
  get nextEnd(): number {
    if (this.endCache === null) {
      this.endCache = NEVER;
      for (const order of this.open) this.endCache = Math.min(this.endCache, this.endOf(order).at);
    }
    return this.endCache;
  }

  /** Ends what ends by itself at or before `ts`. */
  expire(ts: number): void {
    if (this.nextEnd > ts) return;
    for (const order of [...this.open]) {
      const { at, reason } = this.endOf(order);
      if (at <= ts) this.end(order, reason === 'expired' ? 'expired' : 'cancelled', reason, ts);
    }
  }

  /** Matches a held order against the book of now. */
  release(order: Order, ts: number): void {
    this.held.splice(this.held.indexOf(order), 1);
    const market = this.markets[order.market]!;
    if (market.inGap(ts)) this.end(order, 'cancelled', 'no_data', ts);
    else if (order.limit !== null && order.limit % market.tick !== 0)
      this.end(order, 'cancelled', 'off_tick', ts);
    else this.match(order, market, ts);
  }

  /** How rows touch own orders in `market`. */
  effects(): RowEffects {
    return {
      offer: (order, size, ts) => {
        const wanted = toStep(Math.min(order.remaining, size));
        if (wanted === 0) return 0;
        const part = order.reduce_only ? Math.min(wanted, toStep(reducible(order, this.portfolio))) : wanted;
        if (part > 0) this.fill(order, part, order.price, 'maker', ts);
        if (isOpen(order) && order.reduce_only && reducible(order, this.portfolio) < SIZE_STEP)
          this.end(order, 'cancelled', 'reduce_only', ts);
        return part;
      },
      tick: (ts) => {
        for (const order of [...this.open]) {
          const { tick } = this.markets[order.market]!;
          if (order.status === 'resting' && order.price % tick !== 0)
            this.end(order, 'cancelled', 'off_tick', ts);
        }
      },
    };
  }

  private place(request: Request, submitted_ms: number, ts: number): void {
    const market = this.markets[request.market]!;
    const id = `${market.spec.id}#${++this.ordersOf[request.market]!}`;
    const { order, refused } = arrive(request, market, id, submitted_ms, ts);
    this.orders.set(order.number, order);
    this.portfolio.positions[order.market]!.orders++;
    let reason: Reason = refused || this.crowded(order) || affordable(order, market, this.portfolio);
    const takes = reason === '' && marketable(order, market);
    if (takes && order.post_only) reason = 'post_only_crosses';
    if (reason !== '') {
      order.status = 'rejected';
      this.close(order, reason, ts);
      this.say('rejected', order, ts);
      return;
    }
    this.clearing.hold(order, market, !takes);
    this.open.add(order);
    this.endCache = null;
    const delay = market.spec.rules.taker_delay_ms;
    if (takes && delay > 0) {
      order.status = 'held';
      order.release_ms = ts + delay;
      this.held.push(order);
      this.say('accepted', order, ts, { reason: 'held' });
      return;
    }
    this.say('accepted', order, ts);
    this.match(order, market, ts);
  }

  private crowded(order: Order): Reason {
    let open = 0;
    for (const other of this.open) if (other.market === order.market) open++;
    return open >= this.limits.open_orders_per_market ? 'too_many_orders' : '';
  }

  /** Takes what the book offers now; what is left rests, or is dropped where it may not rest. */
  private match(order: Order, market: Market, ts: number): void {
    const most = order.reduce_only ? reducible(order, this.portfolio) : NEVER;
    const taking = walk(order, market, most);
    if (order.tif === 'fok' && !taking.complete) {
      this.end(order, 'cancelled', taking.stopped || 'not_filled', ts);
      return;
    }
    for (const [at, { price, size }] of taking.takes.entries()) {
      market.book.take(order.bookSide === Bid ? Ask : Bid, price, size);
      this.fill(order, size, price, 'taker', ts, taking.complete && at === taking.takes.length - 1);
    }
    if (!isOpen(order) && order.status !== 'sent') return;
    if (taking.stopped !== '') this.end(order, 'cancelled', taking.stopped, ts);
    else if (order.reduce_only && reducible(order, this.portfolio) < SIZE_STEP)
      this.end(order, 'cancelled', 'reduce_only', ts);
    else if (order.tif === 'ioc' || order.tif === 'fok') this.end(order, 'cancelled', 'not_filled', ts);
    else {
      order.status = 'resting';
      this.clearing.hold(order, market, true);
      market.rest(order, ts);
      this.endCache = null;
    }
  }

  /** `last`: an order by amount has spent what it could. */
  private fill(
    order: Order,
    size: number,
    price: number,
    liquidity: 'maker' | 'taker',
    ts: number,
    last = false,
  ): void {
    const market = this.markets[order.market]!;
    const trade = this.clearing.trade(order, market, size, price, liquidity, ts, last);
    if (order.remaining === 0) {
      if (order.status === 'resting') market.leave(order);
      order.status = 'filled';
      this.close(order, '', ts);
    }
    this.say('fill', order, ts, { size, liquidity, ...trade });
    this.mark(ts, liquidity === 'maker' ? order.market : NO_MARKET);
  }

  private cancelOne(request: Request, ts: number): void {
    const order = this.orders.get(request.target);
    if (!order) {
      this.tell('cancel_rejected', Math.max(request.market, 0), ts, {
        number: request.number,
        reason: 'unknown_order',
      });
      return;
    }
    const reason: Reason = !isOpen(order) ? 'already_done' : this.delayed(order) ? 'delayed' : '';
    if (reason === '') this.end(order, 'cancelled', 'user', ts);
    else this.say('cancel_rejected', order, ts, { reason });
  }

  private cancelAll(request: Request, ts: number): void {
    for (const order of [...this.open]) {
      if (request.market >= 0 && order.market !== request.market) continue;
      if (request.side !== null && order.side !== request.side) continue;
      if (this.delayed(order)) this.say('cancel_rejected', order, ts, { reason: 'delayed' });
      else this.end(order, 'cancelled', 'user', ts);
    }
  }

  private delayed(order: Order): boolean {
    return order.status === 'held' && !this.markets[order.market]!.spec.rules.delay_cancellable;
  }

  /** Equal shares of both outcomes become a dollar each, or the reverse. */
  private convert(request: Request, ts: number): void {
    const { spec } = this.markets[request.market]!;
    const size = sizeOf(request.size);
    const free = (outcome: 'up' | 'down'): number => this.portfolio.free(request.market, outcome);
    let reason: Reason = '';
    if (!spec.tradable) reason = 'not_tradable';
    else if (ts < spec.start_ms) reason = 'market_not_open';
    else if (ts >= spec.end_ms) reason = 'market_closed';
    else if (size === null) reason = 'bad_size';
    else if (request.kind === 'merge' && Math.min(free('up'), free('down')) < size)
      reason = 'insufficient_shares';
    else if (request.kind === 'split' && this.portfolio.available < notional(DOLLAR, size))
      reason = 'insufficient_cash';
    if (reason !== '' || size === null) {
      this.tell('rejected', request.market, ts, { number: request.number, reason });
      return;
    }
    const sign = request.kind === 'merge' ? -1 : 1;
    this.portfolio.move(request.market, 'up', sign * size, -sign * notional(DOLLAR, size));
    this.portfolio.move(request.market, 'down', sign * size, 0);
    this.journal.count(request.kind === 'merge' ? 'merges' : 'splits');
    this.tell('converted', request.market, ts, { number: request.number, size });
    this.mark(ts, NO_MARKET);
  }

  private refuseUnplaced(request: Request, ts: number): void {
    this.journal.count('orders_without_market');
    this.tell('rejected', 0, ts, { number: request.number, reason: 'unknown_market' });
  }

  private end(order: Order, status: 'cancelled' | 'expired', reason: Reason, ts: number): void {
    if (order.status === 'resting') this.markets[order.market]!.leave(order);
    else if (order.status === 'held') this.held = this.held.filter((other) => other !== order);
    order.status = status;
    this.close(order, reason, ts);
    this.say(status, order, ts);
  }

  private close(order: Order, reason: Reason, ts: number): void {
    order.reason = reason;
    order.done_ms = ts;
    this.clearing.free(order);
    this.open.delete(order);
    this.endCache = null;
  }

  private endOf(order: Order): { at: number; reason: Reason } {
    const market = this.markets[order.market]!;
    let at = market.spec.end_ms;
    let reason: Reason = 'market_closed';
    if (order.expire_ms < at) {
      at = order.expire_ms;
      reason = 'expired';
    }
    const gap =
      order.status === 'resting' ? market.nextGap(Math.max(order.arrived_ms, order.release_ms)) : NEVER;
    return gap < at ? { at: gap, reason: 'no_data' } : { at, reason };
  }

  private say(kind: EventKind, order: Order, ts: number, facts: EventFacts = {}): void {
    this.tell(kind, order.market, ts, {
      number: order.number,
      reason: order.reason,
      outcome: order.outcome,
      side: order.side,
      size: order.size,
      remaining: order.remaining,
      ...facts,
    });
  }
}
