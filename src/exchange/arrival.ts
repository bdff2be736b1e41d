import type { Outcome, Reason, Tif } from '../../contract/index.ts';
import { Ask, Bid, type BookSide } from './book.ts';
import { greatestFee, greatestFeeOnMoney } from './fee.ts';
import type { Market } from './market.ts';
import type { Order, Request } from './order.ts';
import type { Portfolio } from './portfolio.ts';
import { DOLLAR, moneyOf, notional, priceOf, sharesFor, sizeOf } from './units.ts';

/** A request that has arrived, as an order: understood as far as it could be, with the reason when it is refused. */
export interface Arrival {
  readonly order: Order;
  readonly refused: Reason;
}

/** Turns a raw request into an order and checks everything that does not depend on the book, cash or shares. */
export function arrive(
  request: Request,
  market: Market,
  id: string,
  submitted_ms: number,
  arrived_ms: number,
): Arrival {
  const outcome: Outcome = request.outcome ?? 'up';
  const side = request.side ?? 'buy';
  const bookSide: BookSide = (side === 'buy') === (outcome === 'up') ? Bid : Ask;
  const limit = request.limit === null ? null : priceOf(request.limit);
  const worst = side === 'buy' ? DOLLAR - market.tick : market.tick;
  const own = limit ?? worst;
  const money = request.by_amount ? moneyOf(request.size) : null;
  const size = request.by_amount ? sharesFor(money ?? 0, own) : (sizeOf(request.size) ?? 0);
  // A market order never rests: without a limit, gtc means immediate-or-cancel.
  const tif: Tif = request.limit === null && request.tif !== 'fok' ? 'ioc' : (request.tif ?? 'gtc');
  const order: Order = {
    number: request.number,
    id,
    market: request.market,
    outcome,
    side,
    bookSide,
    price: outcome === 'up' ? own : DOLLAR - own,
    limit,
    tif,
    post_only: request.post_only,
    reduce_only: request.reduce_only,
    // Venues keep expiry in whole seconds.
    expire_ms: tif === 'gtd' ? Math.floor(request.expire_ms / 1000) * 1000 : Number.POSITIVE_INFINITY,
    tag: request.tag,
    submitted_ms,
    arrived_ms,
    size,
    remaining: size,
    filled: 0,
    money,
    status: 'sent',
    reason: '',
    done_ms: null,
    release_ms: 0,
    ahead: 0,
    reserved: 0,
    locked: 0,
  };
  return { order, refused: refusal(request, order, market) };
}

function refusal(request: Request, order: Order, market: Market): Reason {
  const { spec, tick } = market;
  if (!spec.tradable) return 'not_tradable';
  if (order.arrived_ms < spec.start_ms) return 'market_not_open';
  if (order.arrived_ms >= spec.end_ms) return 'market_closed';
  if (request.side === null || request.outcome === null || request.tif === null) return 'bad_order';
  if (order.post_only && (order.tif === 'ioc' || order.tif === 'fok')) return 'bad_order';
  if (request.by_amount && (order.side === 'sell' || order.tif === 'gtc' || order.tif === 'gtd'))
    return 'bad_order';
  if (request.limit !== null && order.limit === null) return 'bad_price';
  if (request.by_amount ? order.money === null : order.size === 0) return 'bad_size';
  if (order.limit !== null && order.limit % tick !== 0) return 'off_tick';
  if (order.tif === 'gtd' && !(order.expire_ms > order.arrived_ms)) return 'expired';
  if (market.inGap(order.arrived_ms)) return 'no_data';
  return tooSmall(order, market) ? 'below_minimum' : '';
}

function tooSmall(order: Order, market: Market): boolean {
  const { min_size, min_notional } = market.spec.rules;
  if (order.tif === 'gtc' || order.tif === 'gtd') return order.size < min_size;
  if (order.money !== null) return order.money < min_notional;
  return notional(order.limit ?? bestFor(order, market), order.size) < min_notional;
}

/** The price, in the order's own terms, of the recorded level that it would meet first. */
function bestFor(order: Order, market: Market): number {
  const price = order.bookSide === Bid ? market.book.bestAsk : market.book.bestBid;
  return order.outcome === 'up' ? price : DOLLAR - price;
}

/** What an order must hold while it is open: cash for a buy at its limit with the greatest fee, shares for a sell. */
export function holdings(order: Order, market: Market, maker: boolean): { reserved: number; locked: number } {
  if (order.side === 'sell') return { reserved: 0, locked: order.remaining };
  const { fee } = market.spec.rules;
  if (order.money !== null)
    return { reserved: order.money + greatestFeeOnMoney(fee, order.money), locked: 0 };
  const own = order.outcome === 'up' ? order.price : DOLLAR - order.price;
  const worstFee = maker ? 0 : greatestFee(fee, own, order.remaining);
  return { reserved: notional(own, order.remaining) + worstFee, locked: 0 };
}

/** Whether the portfolio can bear what the order must hold; an open sell locks shares, a buy reserves cash. */
export function affordable(order: Order, market: Market, portfolio: Portfolio): Reason {
  if (order.reduce_only && reducible(order, portfolio) <= 0) return 'reduce_only';
  const { reserved, locked } = holdings(order, market, false);
  if (locked > portfolio.free(order.market, order.outcome)) return 'insufficient_shares';
  if (reserved > portfolio.available) return 'insufficient_cash';
  return '';
}

/** Shares that a reduce-only order may still trade: up to flat, never through it. */
export function reducible(order: Order, portfolio: Portfolio): number {
  const { up, down } = portfolio.positions[order.market]!;
  const net = order.bookSide === Bid ? down - up : up - down;
  return Math.max(0, net);
}

/** Whether the order would match now: a recorded level with something left, or an own resting order, at or through it. */
export function marketable(order: Order, market: Market): boolean {
  if (order.bookSide === Bid) {
    if (market.bestOwn(Ask) <= order.price) return true;
    for (let price = market.book.bestAsk; price <= order.price && price < DOLLAR; price++)
      if (market.book.available(Ask, price) > 0) return true;
    return false;
  }
  if (market.bestOwn(Bid) >= order.price) return true;
  for (let price = market.book.bestBid; price >= order.price && price > 0; price--)
    if (market.book.available(Bid, price) > 0) return true;
  return false;
}
