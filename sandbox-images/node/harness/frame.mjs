import { ofMarket } from './codes.mjs';

const HEAD = 16;

/** Columns of the tick frame in hand, read in place. One object for the whole life of the box. */
export class Frame {
  constructor() {
    this.markets = [];
    this.feeds = [];
    this.reset();
  }

  /** No rows, and none known to be complete. */
  reset() {
    this.sequence = 0;
    this.n = 0;
    this.through = -Infinity;
    this.columns(new ArrayBuffer(HEAD), 0, 0);
  }

  /** @param {{sequence: number, payload: Buffer}} told */
  load({ sequence, payload }) {
    this.sequence = sequence;
    this.through = payload.readDoubleLE(0);
    this.n = payload.readUInt32LE(8);
    this.columns(payload.buffer, this.n, payload.readUInt32LE(12));
  }

  columns(buffer, n, q) {
    this.ts = new Float64Array(buffer, HEAD, n);
    this.price = new Float64Array(buffer, HEAD + 8 * n, n);
    this.size = new Float64Array(buffer, HEAD + 16 * n, n);
    this.lag = new Uint32Array(buffer, HEAD + 24 * n, n);
    this.market = new Uint16Array(buffer, HEAD + 28 * n, n);
    this.bid = new Uint16Array(buffer, HEAD + 30 * n, n);
    this.ask = new Uint16Array(buffer, HEAD + 32 * n, n);
    this.kind = new Uint8Array(buffer, HEAD + 34 * n, n);
    this.side = new Uint8Array(buffer, HEAD + 35 * n, n);
    const table = new Uint16Array(buffer, HEAD + 36 * n, 3 * q);
    /** Best bid and ask by market index, as bid * 65536 + ask, after the first `scanned` rows. */
    this.quotes = new Map();
    for (let i = 0; i < table.length; i += 3) this.quotes.set(table[i], table[i + 1] * 65536 + table[i + 2]);
    this.scanned = 0;
  }

  /** Best bid and ask of a market after the rows before `end`, as bid * 65536 + ask: counts of 1e-4 in terms of up, 0 for none. */
  quote(market, end) {
    for (; this.scanned < end; this.scanned++) {
      const i = this.scanned;
      if (ofMarket[this.kind[i]] === 1) this.quotes.set(this.market[i], this.bid[i] * 65536 + this.ask[i]);
    }
    return this.quotes.get(market) ?? 0;
  }

  /** The first row at or after `from` that comes later than `limit` ms. */
  after(limit, from) {
    let low = from;
    let high = this.n;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.ts[middle] <= limit) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Best bid in dollars of an outcome, from the counts in terms of up; null for none. */
export function buyPrice(bid, ask, down) {
  if (down) return ask ? (10000 - ask) / 10000 : null;
  return bid ? bid / 10000 : null;
}

/** Best ask in dollars of an outcome, from the counts in terms of up; null for none. */
export function sellPrice(bid, ask, down) {
  if (down) return bid ? (10000 - bid) / 10000 : null;
  return ask ? ask / 10000 : null;
}
