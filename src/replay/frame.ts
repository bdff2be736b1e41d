import { tickLayout } from '../../contract/index.ts';

/** A tick frame ready for the wire. */
export interface Frame {
  readonly rows: number;
  /** Time of its last row, ms; -Infinity when it has none. */
  readonly last_ms: number;
  readonly through_ms: number;
  readonly payload: Uint8Array;
}

/** Columns that rows are written to; packed into one buffer when a frame is closed. */
export class FrameColumns {
  length = 0;
  ts: Float64Array;
  price: Float64Array;
  size: Float64Array;
  lag: Uint32Array;
  market: Uint16Array;
  bid: Uint16Array;
  ask: Uint16Array;
  kind: Uint8Array;
  side: Uint8Array;

  constructor(capacity: number) {
    this.ts = new Float64Array(capacity);
    this.price = new Float64Array(capacity);
    this.size = new Float64Array(capacity);
    this.lag = new Uint32Array(capacity);
    this.market = new Uint16Array(capacity);
    this.bid = new Uint16Array(capacity);
    this.ask = new Uint16Array(capacity);
    this.kind = new Uint8Array(capacity);
    this.side = new Uint8Array(capacity);
  }

  /** Time of the last row; -Infinity when there is none. */
  get lastMs(): number {
    return this.length > 0 ? this.ts[this.length - 1]! : Number.NEGATIVE_INFINITY;
  }

  put(
    ts: number,
    price: number,
    size: number,
    lag: number,
    market: number,
    bid: number,
    ask: number,
    kind: number,
    side: number,
  ): void {
    if (this.length === this.ts.length) this.grow();
    const at = this.length++;
    this.ts[at] = ts;
    this.price[at] = price;
    this.size[at] = size;
    this.lag[at] = lag;
    this.market[at] = market;
    this.bid[at] = bid;
    this.ask[at] = ask;
    this.kind[at] = kind;
    this.side[at] = side;
  }

  /** Copies the rows into one payload and starts anew. `quotes`: market, bid, ask of every open market before the first row. */
  pack(through_ms: number, quotes: readonly number[]): Frame {
    const n = this.length;
    const at = tickLayout(n);
    const payload = new Uint8Array(at.quotes + 2 * quotes.length);
    const view = new DataView(payload.buffer);
    view.setFloat64(0, through_ms, true);
    view.setUint32(8, n, true);
    view.setUint32(12, quotes.length / 3, true);
    const put = (column: Float64Array | Uint32Array | Uint16Array | Uint8Array, offset: number): void =>
      payload.set(new Uint8Array(column.buffer, 0, n * column.BYTES_PER_ELEMENT), offset);
    put(this.ts, at.ts);
    put(this.price, at.price);
    put(this.size, at.size);
    put(this.lag, at.lag);
    put(this.market, at.market);
    put(this.bid, at.bid);
    put(this.ask, at.ask);
    put(this.kind, at.kind);
    put(this.side, at.side);
    payload.set(new Uint8Array(Uint16Array.from(quotes).buffer), at.quotes);
    const last_ms = this.lastMs;
    this.length = 0;
    return { rows: n, last_ms, through_ms, payload };
  }

  private grow(): void {
    const wider = new FrameColumns(2 * this.ts.length);
    for (const name of ['ts', 'price', 'size', 'lag', 'market', 'bid', 'ask', 'kind', 'side'] as const) {
      wider[name].set(this[name] as never);
      this[name] = wider[name] as never;
    }
  }
}
