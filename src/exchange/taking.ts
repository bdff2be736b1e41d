import type { Reason } from '../../contract/index.ts';
import { Ask, Bid, type BookSide } from './book.ts';
import type { Market } from './market.ts';
import type { Order } from './order.ts';
import { DOLLAR, SIZE_STEP, sharesFor, toStep } from './units.ts';

/** One level's worth of taking, at the canonical price. */
export interface Take {
  readonly price: number;
  readonly size: number;
}

/** What an order would take from the book as it stands, and why it would take no more. */
export interface Taking {
  readonly takes: readonly Take[];
  /** Empty: satisfied, or nothing left at its limit. */
  readonly stopped: Reason;
  readonly complete: boolean;
}

/**
 * Walks the opposite side level by level from the best, never past the limit, and stops at an own resting order: own
 * orders do not trade with each other, the newest one gives way. Looks only; the caller takes.
 * @param most shares that it may take at all (reduce-only).
 */
export function walk(order: Order, market: Market, most: number): Taking {
  const side: BookSide = order.bookSide === Bid ? Ask : Bid;
  const step = side === Ask ? 1 : -1;
  const ownBest = market.bestOwn(side);
  const takes: Take[] = [];
  let shares = order.money === null ? Math.min(order.remaining, most) : most;
  let money = order.money ?? 0;
  let stopped: Reason = '';
  let complete = false;

  const best = side === Ask ? Math.min(market.book.bestAsk, ownBest) : Math.max(market.book.bestBid, ownBest);
  for (let price = best; within(price, order.price, step) && price > 0 && price < DOLLAR; price += step) {
    if (price === ownBest) {
      stopped = 'self_trade';
      break;
    }
    const offered = toStep(market.book.available(side, price));
    if (offered === 0) continue;
    const own = order.outcome === 'up' ? price : DOLLAR - price;
    const affordable = order.money === null ? Number.POSITIVE_INFINITY : sharesFor(money, own);
    const size = toStep(Math.min(shares, affordable, offered));
    if (size > 0) takes.push({ price, size });
    shares -= size;
    money -= (own * size) / 100;
    if (shares < SIZE_STEP || size === affordable) {
      complete = true;
      break;
    }
  }
  return { takes, stopped, complete };
}

const within = (price: number, limit: number, step: number): boolean =>
  step > 0 ? price <= limit : price >= limit;
