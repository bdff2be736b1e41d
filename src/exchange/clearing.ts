import { holdings } from './arrival.ts';
import { feeInShares, takerFee } from './fee.ts';
import type { Journal } from './journal.ts';
import type { Market } from './market.ts';
import type { Order } from './order.ts';
import type { Portfolio } from './portfolio.ts';
import { DOLLAR, notional, SIZE_STEP, sharesFor } from './units.ts';

/** What a trade was in the order's own terms: price a count of 1e-4 dollars, fee in micro-dollars. */
export interface Trade {
  readonly price: number;
  readonly fee: number;
}

/** The portfolio's side of orders: what they hold while they are open, and what changes hands when they trade. */
export class Clearing {
  private readonly portfolio: Portfolio;
  private readonly journal: Journal;

  constructor(portfolio: Portfolio, journal: Journal) {
    this.portfolio = portfolio;
    this.journal = journal;
  }

  /** Sets what the order holds to what it must hold now; a maker holds no fee. */
  hold(order: Order, market: Market, maker: boolean): void {
    const { reserved, locked } = holdings(order, market, maker);
    this.set(order, reserved, locked);
  }

  /** The order is over and holds nothing. */
  free(order: Order): void {
    this.set(order, 0, 0);
  }

  /**
   * Shares and money change hands at the canonical `price`, and the order holds what is left of it.
   * @param last an order by amount has spent what it could.
   */
  trade(
    order: Order,
    market: Market,
    size: number,
    price: number,
    liquidity: 'maker' | 'taker',
    ts: number,
    last: boolean,
  ): Trade {
    const { fee: rule } = market.spec.rules;
    const own = order.outcome === 'up' ? price : DOLLAR - price;
    const cost = notional(own, size);
    const fee = liquidity === 'taker' ? takerFee(rule, own, size) : 0;
    if (order.side === 'sell') this.portfolio.move(order.market, order.outcome, -size, cost - fee);
    else if (rule.taken_in === 'shares')
      this.portfolio.move(order.market, order.outcome, size - feeInShares(fee, own), -cost);
    else this.portfolio.move(order.market, order.outcome, size, -cost - fee);
    const position = this.portfolio.positions[order.market]!;
    position.fees += fee;
    position.fills++;

    order.filled += size;
    if (order.money === null) order.remaining -= size;
    else {
      order.money = last ? 0 : order.money - cost;
      const limit = order.outcome === 'up' ? order.price : DOLLAR - order.price;
      order.remaining = last ? 0 : Math.max(SIZE_STEP, sharesFor(order.money, limit));
      order.size = order.filled + order.remaining;
    }
    this.hold(order, market, liquidity === 'maker');
    const { outcome, side, id: order_id, tag } = order;
    this.journal.fills.push({
      ts_ms: ts,
      market: market.spec.id,
      outcome,
      side,
      price: own,
      size,
      fee,
      liquidity,
      order_id,
      tag,
    });
    return { price: own, fee };
  }

  private set(order: Order, reserved: number, locked: number): void {
    this.portfolio.reserved += reserved - order.reserved;
    this.portfolio.lock(order.market, order.outcome, locked - order.locked);
    order.reserved = reserved;
    order.locked = locked;
  }
}
