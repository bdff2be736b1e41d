import { Kind, SILENT } from './codes.mjs';

/** Whole books. Kept only where the strategy's source names `levels`. */
export class Depth {
  constructor() {
    /** By market index: bids and asks in terms of up, each price as a count of 1e-4 -> shares. */
    this.books = new Map();
  }

  /** Applies the rows start..end of a frame. */
  read(frame, start, end) {
    for (let i = start; i < end; i++) {
      const kind = frame.kind[i] & ~SILENT;
      if (kind !== Kind.depth && kind !== Kind.depth_part) continue;
      let book = this.books.get(frame.market[i]);
      if (!book) {
        book = [new Map(), new Map()];
        this.books.set(frame.market[i], book);
      }
      const side = frame.side[i];
      const count = Math.floor(frame.price[i] * 10000 + 0.5);
      const down = (side & 2) !== 0;
      const price = down ? 10000 - count : count;
      const half = book[(side & 1) ^ (down ? 1 : 0)];
      if (frame.size[i] === 0) half.delete(price);
      else half.set(price, frame.size[i]);
    }
  }

  /** The best `n` levels (undefined: all) of one side of an outcome: [price, shares], best first. */
  levels(market, down, sell, n) {
    const book = this.books.get(market);
    if (!book) return [];
    const asks = sell !== down;
    const half = book[asks ? 1 : 0];
    const prices = [...half.keys()].sort(asks ? (a, b) => a - b : (a, b) => b - a).slice(0, n ?? undefined);
    return prices.map((price) => [(down ? 10000 - price : price) / 10000, half.get(price)]);
  }

  drop(market) {
    this.books.delete(market);
  }
}
