import type { BookSide } from '../exchange/book.ts';
import { DOLLAR } from '../exchange/units.ts';
import { Depth } from './depth.ts';

/** One market as the strategy sees it, from the datasets that it declared. */
export class View {
  /** In up terms; 0: none. */
  bid = 0;
  ask = 0;
  /** Whether depth is declared: then quotes do not decide what is best. */
  hasDepth = false;
  /** Depth sources that are not through. */
  private sources = 0;
  private made: Depth | null = null;

  /** Made with the first row and dropped after the last: a session has thousands of markets, few at once. */
  get depth(): Depth {
    this.made ??= new Depth();
    return this.made;
  }

  join(): void {
    this.sources++;
  }

  leave(): void {
    if (--this.sources === 0) this.made = null;
  }

  level(side: BookSide, price: number, size: number): void {
    const { book } = this.depth;
    book.set(side, price, size, 0);
    this.bid = book.bestBid;
    this.ask = book.bestAsk === DOLLAR ? 0 : book.bestAsk;
  }
}
