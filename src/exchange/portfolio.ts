import type { Outcome } from '../../contract/index.ts';

/** Shares of one market: both outcomes, and what of them open sells lock. */
export interface Position {
  up: number;
  down: number;
  up_locked: number;
  down_locked: number;
  /** Money that came in less money that went out, fees included. */
  flow: number;
  fees: number;
  fills: number;
  orders: number;
}

/** Cash and positions. Cash is real: what an open order may cost is reserved when it arrives. */
export class Portfolio {
  cash: number;
  reserved = 0;
  readonly positions: Position[];
  /** Markets in which shares are held, by index. */
  readonly holding = new Set<number>();

  constructor(cash: number, markets: number) {
    this.cash = cash;
    this.positions = Array.from({ length: markets }, () => ({
      up: 0,
      down: 0,
      up_locked: 0,
      down_locked: 0,
      flow: 0,
      fees: 0,
      fills: 0,
      orders: 0,
    }));
  }

  get available(): number {
    return this.cash - this.reserved;
  }

  free(market: number, outcome: Outcome): number {
    const position = this.positions[market]!;
    return outcome === 'up' ? position.up - position.up_locked : position.down - position.down_locked;
  }

  lock(market: number, outcome: Outcome, shares: number): void {
    const position = this.positions[market]!;
    if (outcome === 'up') position.up_locked += shares;
    else position.down_locked += shares;
  }

  /** Shares and money that changed hands; money is negative when paid. */
  move(market: number, outcome: Outcome, shares: number, money: number): void {
    const position = this.positions[market]!;
    if (outcome === 'up') position.up += shares;
    else position.down += shares;
    if (position.up !== 0 || position.down !== 0) this.holding.add(market);
    else this.holding.delete(market);
    position.flow += money;
    this.cash += money;
  }
}
