import type { Order } from './order.ts';

/** Amounts that wait for their other half, oldest first, forgotten after a while. */
class Bank {
  total = 0;
  private readonly at: number[] = [];
  private readonly amount: number[] = [];
  private head = 0;

  put(ts: number, amount: number): void {
    if (amount <= 0) return;
    this.at.push(ts);
    this.amount.push(amount);
    this.total += amount;
  }

  /** Pays up to `wanted`, oldest first, and answers how much. */
  pay(wanted: number): number {
    let left = Math.min(wanted, this.total);
    const paid = left;
    this.total -= paid;
    while (left > 0) {
      const part = Math.min(left, this.amount[this.head]!);
      this.amount[this.head]! -= part;
      left -= part;
      if (this.amount[this.head] === 0) this.head++;
    }
    return paid;
  }

  expire(before: number): void {
    while (this.head < this.at.length && this.at[this.head]! < before) {
      this.total -= this.amount[this.head]!;
      this.head++;
    }
    if (this.head === this.at.length) {
      this.at.length = 0;
      this.amount.length = 0;
      this.head = 0;
    }
  }
}

/** Own orders at one price on one side, in the order in which they came, and the others' queue around them. */
export interface Line {
  readonly price: number;
  readonly orders: Order[];
  /** Shrinkage of the level that no print has explained yet. */
  readonly unexplained: Bank;
  /** Prints whose shrinkage has not shown yet. */
  readonly unshown: Bank;
}

export const line = (price: number): Line => ({
  price,
  orders: [],
  unexplained: new Bank(),
  unshown: new Bank(),
});

/** What a queue rule does; the shape of the three assumptions about an unrecorded fact. */
export interface QueueRule {
  /** An order joins: everything displayed at its price is ahead of it. */
  join(line: Line, order: Order, displayed: number, ts: number): void;
  /** The level went from `old` to `size`. Fills nothing. */
  level(line: Line, old: number, size: number, ts: number): void;
  /**
   * A print of `budget` at the line's own price, `displayed` being the level now. Walks the one line of queue and own
   * orders, offers own orders their part and answers what is left of the budget.
   */
  print(line: Line, budget: number, displayed: number, ts: number, offer: Offer): number;
}

/** Offers a resting order a fill of at most `size`; answers what it took. */
export type Offer = (order: Order, size: number, ts: number) => number;

/**
 * Pessimistic: whatever leaves the level without a print is taken to have stood behind us. Only prints shorten the
 * queue, and the queue can never be longer than what is displayed plus shrinkage that a print may yet explain (a book
 * change comes before its print 94 % of the time, within `bankMs`). Shrinkage alone never fills.
 */
export function pessimistic(bankMs: number): QueueRule {
  const cap = (line: Line, displayed: number, ts: number): void => {
    line.unexplained.expire(ts - bankMs);
    line.unshown.expire(ts - bankMs);
    const most = displayed + line.unexplained.total;
    for (const order of line.orders) if (order.ahead > most) order.ahead = most;
  };
  return {
    join(line, order, displayed, ts) {
      cap(line, displayed, ts);
      order.ahead = displayed;
      line.orders.push(order);
    },
    level(line, old, size, ts) {
      cap(line, old, ts);
      if (size < old) {
        const shrunk = old - size;
        line.unexplained.put(ts, shrunk - line.unshown.pay(shrunk));
      }
    },
    print(line, budget, displayed, ts, offer) {
      cap(line, displayed, ts);
      line.unshown.put(ts, budget - line.unexplained.pay(budget));
      return walk(line, budget, ts, offer);
    },
  };
}

/** One budget along one line: others first where they stand ahead, then the own order, then the others behind it. */
function walk(line: Line, budget: number, ts: number, offer: Offer): number {
  let left = budget;
  let others = 0;
  // An order that is filled leaves the line.
  for (const order of [...line.orders]) {
    const ahead = Math.min(Math.max(order.ahead - others, 0), left);
    others += ahead;
    left -= ahead;
    left -= offer(order, left, ts);
  }
  for (const order of line.orders) order.ahead = Math.max(order.ahead - others, 0);
  return left;
}
