import { tickLayout } from '../../contract/index.ts';
import type { Frame } from '../../src/replay/frame.ts';

/** A tick row as it stands in a frame. */
export interface TickRow {
  readonly ts: number;
  readonly price: number;
  readonly size: number;
  readonly lag: number;
  readonly market: number;
  readonly bid: number;
  readonly ask: number;
  readonly kind: number;
  readonly side: number;
}

/** Reads a frame byte by byte, by the layout in the contract alone. */
export function decode({ payload }: Frame): {
  through: number;
  rows: TickRow[];
  quotes: Map<number, { bid: number; ask: number }>;
} {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  const n = view.getUint32(8, true);
  const q = view.getUint32(12, true);
  const at = tickLayout(n);
  if (payload.byteLength !== at.quotes + 6 * q)
    throw new Error(`${payload.byteLength} bytes for ${n} rows, ${q} quotes`);
  const rows = Array.from({ length: n }, (_, i) => ({
    ts: view.getFloat64(at.ts + 8 * i, true),
    price: view.getFloat64(at.price + 8 * i, true),
    size: view.getFloat64(at.size + 8 * i, true),
    lag: view.getUint32(at.lag + 4 * i, true),
    market: view.getUint16(at.market + 2 * i, true),
    bid: view.getUint16(at.bid + 2 * i, true),
    ask: view.getUint16(at.ask + 2 * i, true),
    kind: view.getUint8(at.kind + i),
    side: view.getUint8(at.side + i),
  }));
  const quotes = new Map<number, { bid: number; ask: number }>();
  for (let i = 0; i < q; i++) {
    const [market, bid, ask] = [0, 2, 4].map((byte) => view.getUint16(at.quotes + 6 * i + byte, true));
    quotes.set(market!, { bid: bid!, ask: ask! });
  }
  return { through: view.getFloat64(0, true), rows, quotes };
}
