/**
 * What the worker and a box say to each other: two Unix sockets, `bulk` (worker to box: market data) and `control`
 * (both ways). Little-endian throughout. Every frame is a 16-byte header and a payload:
 *
 *   u32 payload bytes · u8 type · u8 zero · u16 zero · u32 sequence (from 0, per socket and direction) · u32 zero
 *
 * A payload out of the box is at most `frame_bytes`; what the worker sends may be larger, since a millisecond is never
 * split and a source is sent whole.
 *
 * A tick row's best bid and ask are counts of 1e-4 dollars in terms of `up`; 0 means none. Prices and sizes in
 * tick rows are dollars and shares in the terms of the row's own outcome. Money and sizes in private events are integers.
 */

/** Bulk frames, worker to box. */
export const Bulk = {
  /** JSON: WireSegment; a segment (one market, or a session) begins; the clock restarts. */
  segment: 1,
  /** JSON: {kind: 'kline'|'series', feed, rows: number[][]}; consumed in order by rows of that kind and feed. */
  records: 3,
  /** Columns; see `tickLayout`. */
  ticks: 4,
} as const;

/** Control frames, worker to box. */
export const ToBox = {
  /** JSON: Start. */
  start: 1,
  /** f64 promise ms · u32 command number answered · u32 events · events, `EVENT_BYTES` each. */
  answer: 2,
  /** Nothing more to run: send END and exit. */
  finish: 3,
} as const;

/** Control frames, box to worker. */
export const FromBox = {
  /** u32 mask of the hooks found, by their position in `hooks`. */
  ready: 16,
  /** f64 now ms · u32 commands · commands, 40 bytes and a tag each. The box waits for the answer to the last one. */
  commands: 17,
  /** f64 now ms: rows and timers up to now are done. The box waits for an answer, which names command 0. */
  ask: 18,
  /** u32 sequence of the bulk frame whose rows are done · u32 zero · f64 now ms. Nobody answers. */
  progress: 19,
  /** f64 now ms · utf-8 text, one line, at most `log_line_bytes`. */
  log: 20,
  /** f64 now ms · f64 probability of up · u16 market · u16 zero · u32 zero. */
  forecast: 21,
  /** f64 now ms: `on_stop` of the segment is done; its last commands count for nothing. */
  segment_done: 22,
  /** f64 now ms · u16 market (65535: none) · u8 hook (255: outside of a hook) · u8 zero · u32 zero · utf-8 traceback. */
  failed: 23,
  /** f64 now ms · f64 CPU ms of this process · f64 wall ms inside the hook · u16 market · u8 hook · u8 zero · u32 zero. Each second. */
  beat: 24,
  /** f64 hooks called · f64 commands sent · f64 bytes logged. The last frame of a run that ended well. */
  end: 25,
} as const;

export const HEADER_BYTES = 16;
export const NO_MARKET = 65535;
export const NO_HOOK = 255;

/**
 * Kind of a tick row; it decides which hook runs. A row with `SILENT` added reaches no hook: what came before a market
 * opened. A snapshot travels as the levels it changed: `depth_part` for all but its last one.
 */
export const Kind = {
  depth: 1,
  depth_part: 2,
  /** An archive row that changed no level; price and size are 0 and the side is 0. */
  depth_same: 3,
  trade: 4,
  prices: 5,
  twap30s: 6,
  twap60s: 7,
  /** price = bid, size = ask, in terms of the row's own outcome; NaN where there is none. */
  quote: 8,
  /** price = new, size = old. */
  tick_size: 9,
  /** Takes the next record of feed `market`; price = the close. */
  kline: 10,
  /** Takes the next record of feed `market`. */
  series: 11,
  market_open: 12,
  /** price = the strike. */
  strike: 13,
} as const;
export const SILENT = 32;

/** Side of a tick row: bit 0 set for sell (an ask level, a taker's sell), bit 1 set for the outcome down, bit 2 set for part of a snapshot. */
export const Side = { buy: 0, sell: 1, down: 2, snapshot: 4 } as const;

/**
 * Layout of a tick frame, offsets from the payload's start; every column is contiguous, n rows long:
 *
 *   f64 through ms (no row up to and including this time is still to come; Infinity: the segment has no more rows)
 *   u32 n · u32 q
 *   f64 ts[n]     ms, when the strategy sees the row
 *   f64 price[n]  dollars (a feed's value for price streams)
 *   f64 size[n]   shares
 *   u32 lag[n]    ts minus the venue's own time, ms
 *   u16 market[n] market index (65535: none; for price streams, klines and series the index in Start.feeds)
 *   u16 bid[n]    best bid of the market after the row; for a row without a market, of the segment's first market
 *   u16 ask[n]
 *   u8  kind[n]
 *   u8  side[n]
 *   u16 quotes[q * 3]  market, bid, ask as they stood before the first row of this frame, for every market that has
 *                      begun and does not end before `through` of the frame before (2-byte aligned: n * 36 is even)
 *
 * A frame never splits a millisecond; it holds about `frame_rows` rows.
 */
export function tickLayout(n: number): {
  ts: number;
  price: number;
  size: number;
  lag: number;
  market: number;
  bid: number;
  ask: number;
  kind: number;
  side: number;
  quotes: number;
} {
  const at = 16;
  return {
    ts: at,
    price: at + 8 * n,
    size: at + 16 * n,
    lag: at + 24 * n,
    market: at + 28 * n,
    bid: at + 30 * n,
    ask: at + 32 * n,
    kind: at + 34 * n,
    side: at + 35 * n,
    quotes: at + 36 * n,
  };
}

/** Command record: what a hook asks for. Offsets in bytes. */
export const COMMAND_BYTES = 40;
export const Command = {
  /** u32, from 1, one more for each command of the box's life. It also names the order. */
  number: 0,
  /** u32: the number of the order that a cancel names. */
  target: 4,
  /** u8 each: see `CommandKind`, side (1 buy, 2 sell, 0 both), outcome (1 up, 2 down), tif (1 gtc, 2 gtd, 3 ioc, 4 fok); 0 = not understood. */
  kind: 8,
  side: 9,
  outcome: 10,
  tif: 11,
  /** u8: see `CommandFlag`. */
  flags: 12,
  /** u8: bytes of the utf-8 tag that follows the record. */
  tag: 13,
  /** u16: market index; 65535 = unknown. */
  market: 14,
  /** f64: shares, or dollars with the flag `amount`; for merge and split, shares of each outcome. */
  size: 16,
  /** f64 dollars, with the flag `limit`. */
  limit: 24,
  /** f64 ms, for gtd. */
  expire: 32,
} as const;
export const CommandKind = { order: 1, cancel: 2, cancel_all: 3, merge: 4, split: 5 } as const;
export const CommandFlag = { post_only: 1, reduce_only: 2, limit: 4, amount: 8 } as const;
export const tifs = ['gtc', 'gtd', 'ioc', 'fok'] as const;
export type Tif = (typeof tifs)[number];

/**
 * Private event: what became of a command, a fill, a settlement. Deltas are to be added to what the strategy knows:
 * integers, so that their order does not matter. Offsets in bytes.
 */
export const EVENT_BYTES = 112;
export const Event = {
  /** f64 ms: when the strategy learns of it. */
  ts: 0,
  /** f64 ms: when it happened. */
  event_ts: 8,
  /** f64: fills, count of 1e-4 dollars in the terms of the order's outcome; settlements, the final value (NaN: unknown). */
  price: 16,
  /** f64: count of 1e-4 shares: of this fill, of a merge or split; else the order's size. */
  size: 24,
  /** f64: count of 1e-4 shares that the order has left. */
  remaining: 32,
  /** f64: millionths of a dollar. */
  fee: 40,
  /** f64, millionths of a dollar: change of cash, and of cash that is not reserved. */
  cash: 48,
  available: 56,
  /** f64, 1e-4 shares: change of the position, and of what of it open sells lock. */
  up: 64,
  up_locked: 72,
  down: 80,
  down_locked: 88,
  /** u32: the command it answers; 0 for settlements and stops. */
  number: 96,
  market: 100,
  /** u8: see `EventKind`. */
  kind: 102,
  /** u8: position in `reasons`. */
  reason: 103,
  /** u8: 1 up, 2 down, 3 split (settlements). */
  outcome: 104,
  /** u8: 1 buy, 2 sell. */
  side: 105,
  /** u8: 1 maker, 2 taker, 0 neither. */
  liquidity: 106,
} as const;
export const EventKind = {
  accepted: 1,
  rejected: 2,
  cancelled: 3,
  expired: 4,
  /** A cancel that came to nothing; the order it named lives on or was done before. */
  cancel_rejected: 5,
  fill: 6,
  /** A merge or split was done. */
  converted: 7,
  settle: 8,
  /** Nothing comes after this: run on_stop. Last in its millisecond. */
  stop: 9,
} as const;

/** Why an order was rejected, cancelled or held. The position is the code on the wire. */
export const reasons = [
  '',
  'held',
  'user',
  'unknown_market',
  'not_tradable',
  'market_closed',
  'market_not_open',
  'no_data',
  'bad_order',
  'bad_price',
  'bad_size',
  'below_minimum',
  'off_tick',
  'insufficient_cash',
  'insufficient_shares',
  'post_only_crosses',
  'reduce_only',
  'self_trade',
  'not_filled',
  'too_many_orders',
  'expired',
  'delayed',
  'unknown_order',
  'already_done',
] as const;
export type Reason = (typeof reasons)[number];

/** A market as the strategy may know it from its open on. Neither strike nor outcome stands here. */
export interface WireMarket {
  readonly index: number;
  readonly id: string;
  readonly asset: string;
  readonly interval: string;
  readonly start_ms: number;
  readonly end_ms: number;
  readonly settlement_feed: string;
  readonly tie: string;
  readonly tick_size: number;
  readonly min_size: number;
  /** Taker fee: shares x rate x (p (1 - p))^1, or shares x rate x min(p, 1 - p), or a share of the notional. */
  readonly fee: {
    readonly curve: 'quadratic' | 'linear' | 'notional';
    readonly rate: number;
    readonly taken_in: 'cash' | 'shares';
  };
  readonly taker_delay_ms: number;
  /** False for a market that came in as context: orders for it are rejected. */
  readonly tradable: boolean;
}

export interface WireFeed {
  readonly kind: 'prices' | 'twap30s' | 'twap60s' | 'kline' | 'series';
  readonly asset: string;
  readonly interval: string;
  /** A series' name and the names of its columns after the timestamp. */
  readonly name: string;
  readonly columns: readonly string[];
}

export interface WireSegment {
  /** The market's id in market mode, else `session`. Seeds `ctx.random`. */
  readonly name: string;
  /** Clock at `on_start`. */
  readonly start_ms: number;
  /** Dollars. */
  readonly capital: number;
  readonly markets: readonly WireMarket[];
}

export interface WireStart {
  readonly language: string;
  readonly entry: string;
  readonly files: readonly { readonly name: string; readonly content: string }[];
  readonly imports: readonly string[];
  readonly params: Readonly<Record<string, number | string | boolean>>;
  readonly seed: number;
  readonly feeds: readonly WireFeed[];
  /** Whether `book.levels` is named anywhere in the source: only then does the box keep whole books. */
  readonly depth: boolean;
  /** How far back `ctx.history` may look. */
  readonly warmup_ms: number;
  readonly feed_ms: number;
  readonly limits: {
    readonly frame_bytes: number;
    readonly log_line_bytes: number;
    readonly error_bytes: number;
    readonly tag_bytes: number;
  };
}
