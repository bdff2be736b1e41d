import type { SnapshotRows } from '../archive/staged.ts';
import { Ask, Bid, Book, type BookSide } from '../exchange/book.ts';
import { DOLLAR } from '../exchange/units.ts';

/**
 * A recorded book over which snapshots can be laid. Both outcomes of a market are mirrors: a snapshot of either
 * describes both sides of the canonical book, and what it does not name is gone.
 */
export class Depth {
  readonly book = new Book(0);
  /** Number of the snapshot that named a level last. */
  private readonly named = new Uint32Array(2 * (DOLLAR + 1));
  private snapshots = 0;

  /**
   * Calls `change` for every level in which row `row` differs from the book, bids before asks, named levels in the
   * row's order, then the ones that are gone from the best on. `change` must set the level.
   */
  lay(rows: SnapshotRows, row: number, change: (side: BookSide, price: number, size: number) => void): void {
    const { book, named } = this;
    const flipped = rows.outcome[row] === 1;
    const number = ++this.snapshots;
    const asks = rows.asks[row]!;
    const to = rows.start[row + 1]!;
    for (let at = rows.start[row]!; at < to; at++) {
      const side: BookSide = at < asks !== flipped ? Bid : Ask;
      const price = flipped ? DOLLAR - rows.levelPrice[at]! : rows.levelPrice[at]!;
      const size = rows.levelSize[at]!;
      named[2 * price + side] = number;
      if (book.levels[side][price] !== size) change(side, price, size);
    }
    for (let price = book.bestBid; price > 0; price = book.worse(Bid, price))
      if (named[2 * price + Bid] !== number) change(Bid, price, 0);
    for (let price = book.bestAsk; price < DOLLAR; price = book.worse(Ask, price))
      if (named[2 * price + Ask] !== number) change(Ask, price, 0);
  }
}
