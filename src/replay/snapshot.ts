import type { SnapshotRows } from '../archive/staged.ts';
import { Ask, Bid, type Book, type BookSide } from '../exchange/book.ts';
import { DOLLAR } from '../exchange/units.ts';

/**
 * Lays snapshots over a book and tells which levels they changed. Both outcomes of a market are mirrors, so a snapshot
 * of either describes both sides of the canonical book: what it does not name is gone.
 */
export class SnapshotDiff {
  /** Prices with size, per side, so that what a snapshot leaves out is found without walking the whole grid. */
  private readonly live = [new Set<number>(), new Set<number>()] as const;
  private readonly seen = new Uint32Array(2 * (DOLLAR + 1));
  private stamp = 0;

  /** Every level that changes through `set` must pass here, deltas too. */
  note(side: BookSide, price: number, size: number): void {
    if (size > 0) this.live[side].add(price);
    else this.live[side].delete(price);
  }

  /**
   * Calls `change` for every level of row `row` that differs from the book, bids before asks, named levels in the
   * row's order, then the ones that are gone from the best on. `change` must set the level.
   */
  apply(
    rows: SnapshotRows,
    row: number,
    book: Book,
    change: (side: BookSide, price: number, size: number) => void,
  ): void {
    const flipped = rows.outcome[row] === 1;
    const stamp = ++this.stamp;
    const from = rows.start[row]!;
    const asks = rows.asks[row]!;
    const to = rows.start[row + 1]!;
    for (let at = from; at < to; at++) {
      const side: BookSide = at < asks !== flipped ? Bid : Ask;
      const price = flipped ? DOLLAR - rows.levelPrice[at]! : rows.levelPrice[at]!;
      const size = rows.levelSize[at]!;
      this.seen[2 * price + side] = stamp;
      if (book.levels[side][price] !== size) change(side, price, size);
    }
    for (const side of [Bid, Ask] as const) {
      const gone: number[] = [];
      for (const price of this.live[side]) if (this.seen[2 * price + side] !== stamp) gone.push(price);
      gone.sort((a, b) => (side === Bid ? b - a : a - b));
      for (const price of gone) change(side, price, 0);
    }
  }
}
