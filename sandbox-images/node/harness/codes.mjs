/** The codes on the wire. They repeat contract/wire.ts, as the box holds nothing but this folder. */

export const Bulk = { segment: 1, records: 3, ticks: 4 };
export const ToBox = { start: 1, answer: 2, finish: 3 };
export const FromBox = {
  ready: 16,
  commands: 17,
  ask: 18,
  progress: 19,
  log: 20,
  forecast: 21,
  segment_done: 22,
  failed: 23,
  beat: 24,
  end: 25,
};
export const HEADER_BYTES = 16;
export const NO_MARKET = 65535;
export const NO_HOOK = 255;

export const Kind = {
  depth: 1,
  depth_part: 2,
  depth_same: 3,
  trade: 4,
  prices: 5,
  twap30s: 6,
  twap60s: 7,
  quote: 8,
  tick_size: 9,
  kline: 10,
  series: 11,
  market_open: 12,
  strike: 13,
};
export const SILENT = 32;

export const hookNames = [
  'onStart',
  'onMarketOpen',
  'onStrike',
  'onPrice',
  'onBook',
  'onQuote',
  'onTrade',
  'onTickSize',
  'onKline',
  'onSeries',
  'onTimer',
  'onOrder',
  'onFill',
  'onMarketClose',
  'onSettle',
  'onStop',
];
/** Hook codes by name. */
export const Hook = Object.fromEntries(hookNames.map((name, code) => [name, code]));

/** Hook code by row kind; 255 for none. */
export const hookOfKind = new Uint8Array(256).fill(NO_HOOK);
/** 1 at the kinds whose market column names a market, not a feed. */
export const ofMarket = new Uint8Array(256);
for (const [hook, kinds] of [
  [Hook.onBook, [Kind.depth, Kind.depth_part, Kind.depth_same]],
  [Hook.onTrade, [Kind.trade]],
  [Hook.onPrice, [Kind.prices, Kind.twap30s, Kind.twap60s]],
  [Hook.onQuote, [Kind.quote]],
  [Hook.onTickSize, [Kind.tick_size]],
  [Hook.onKline, [Kind.kline]],
  [Hook.onSeries, [Kind.series]],
  [Hook.onMarketOpen, [Kind.market_open]],
  [Hook.onStrike, [Kind.strike]],
]) {
  for (const kind of kinds) {
    hookOfKind[kind] = hook;
    if (![Hook.onPrice, Hook.onKline, Hook.onSeries].includes(hook))
      ofMarket[kind] = ofMarket[kind | SILENT] = 1;
  }
}

export const CommandKind = { order: 1, cancel: 2, cancel_all: 3, merge: 4, split: 5 };
export const CommandFlag = { post_only: 1, reduce_only: 2, limit: 4, amount: 8 };
export const outcomeCodes = new Map([
  ['up', 1],
  ['down', 2],
]);
export const sideCodes = new Map([
  ['buy', 1],
  ['sell', 2],
]);
export const tifCodes = new Map([
  ['gtc', 1],
  ['gtd', 2],
  ['ioc', 3],
  ['fak', 3],
  ['fok', 4],
]);

export const EVENT_BYTES = 112;
export const EventKind = {
  accepted: 1,
  rejected: 2,
  cancelled: 3,
  expired: 4,
  cancel_rejected: 5,
  fill: 6,
  converted: 7,
  settle: 8,
  stop: 9,
};
export const statuses = [
  null,
  'accepted',
  'rejected',
  'cancelled',
  'expired',
  'cancel_rejected',
  'filled',
  'converted',
];
export const outcomeNames = [null, 'up', 'down', 'split'];
export const sideNames = [null, 'buy', 'sell'];
export const liquidityNames = ['none', 'maker', 'taker'];
export const reasons = [
  null,
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
];
