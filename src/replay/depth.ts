import type { SnapshotRows } from '../archive/staged.ts';
import { Ask, Bid, Book, type BookSide } from '../exchange/book.ts';
import { DOLLAR } from '../exchange/units.ts';

/**
 * A recorded book that knows which levels stand, so that a snapshot can be laid over it. Both outcomes of a market are
 * mirrors: a snapshot of either describes both sides of the canonical book, and what it does not name is gone.
 */
export class Depth {
  readonly book = new Book(0);
  /** Prices that may have size, per side: what a snapshot leaves out is found without walking the whole grid. */
  private readonly listed: [number[], number[]] = [[], []];
  private readonly isListed = new Uint8Array(2 * (DOLLAR + 1));
  private readonly seen = new Uint32Array(2 * (DOLLAR + 1));
  private stamp = 0;

  /** Sets a level to its new total. */
  set(side: BookSide, price: number, size: number, ts: number): void {
    this.book.set(side, price, size, ts);
    if (this.isListed[2 * price + side] !== 0) return;
    this.isListed[2 * price + side] = 1;
    this.listed[side].push(price);
  }

  /**
   * Calls `change` for every level in which row `row` differs from the book, bids before asks, named levels in the
   * row's order, then the ones that are gone from the best on. `change` must set the level.
   */
  lay(rows: SnapshotRows, row: number, change: (side: BookSide, price: number, size: number) => void): void {
    const { levels } = this.book;
    const flipped = rows.outcome[row] === 1;
    const stamp = ++this.stamp;
    const asks = rows.asks[row]!;
    const to = rows.start[row + 1]!;
    for (let at = rows.start[row]!; at < to; at++) {
      const side: BookSide = at < asks !== flipped ? Bid : Ask;
      const price = flipped ? DOLLAR - rows.levelPrice[at]! : rows.levelPrice[at]!;
      const size = rows.levelSize[at]!;
      this.seen[2 * price + side] = stamp;
      if (levels[side][price] !== size) change(side, price, size);
    }
    for (const side of [Bid, Ask] as const) {
      const standing = this.standing(side);
      const gone = standing.filter((price) => this.seen[2 * price + side] !== stamp);
      gone.sort((a, b) => (side === Bid ? b - a : a - b));
      for (const price of gone) change(side, price, 0);
    }
  }

  /** Prices with size, in no order; the list sheds what has none. */
  private standing(side: BookSide): number[] {
    const levels = this.book.levels[side];
    const standing: number[] = [];
    for (const price of this.listed[side]) {
      if (levels[price]! > 0) standing.push(price);
      else this.isListed[2 * price + side] = 0;
    }
    this.listed[side] = standing;
    return standing;
  }
}
