/**
 * Everything that the venue showed of one market, in the venue's order, mapped to the canonical up book: a bid for
 * down at q stands as an ask for up at 1 - q. Rows after the market's end are not on it.
 */
export interface Tape {
  readonly length: number;
  /** Event time, ms, never falling. */
  readonly ts: Float64Array;
  readonly kind: Uint8Array;
  /** Canonical price; for a tick row, the new tick. */
  readonly price: Uint16Array;
  /** A level's new total; a print's size. */
  readonly size: Float64Array;
  /**
   * Pairs [from, to) of event times in which nobody knows the book: no depth row for longer than the limit, the limit
   * itself not included. The first
   * pair may begin at -Infinity, the last end at Infinity.
   */
  readonly gaps: Float64Array;
}

/** Kinds of tape rows. A print's kind says whom it hits: a taker's sell hits the bids. */
export const Row = { bid: 0, ask: 1, hitsBid: 2, hitsAsk: 3, tick: 4 } as const;
