/**
 * What a strategy can see and do. For editors only: it is not part of the strategy's source.
 *
 * Times are UTC milliseconds of the replay. Prices are dollars from 0 to 1, sizes are shares, money is dollars. Rows
 * (`Change`, `Trade`, `Tick`, `Quote`) are one object each, used again for every row: keep `copy()`, not the row.
 */

export type Outcome = 'up' | 'down';
export type Side = 'buy' | 'sell';
export type Tif = 'gtc' | 'gtd' | 'ioc' | 'fak' | 'fok';
export type PriceFeed = 'prices' | 'twap30s' | 'twap60s';

/** The class that the entry file exports. It implements at least one of these; none may be async. */
export interface Strategy {
  onStart?(ctx: Context): void;
  onMarketOpen?(ctx: Context, market: Market): void;
  /** The market's strike is known from here on. */
  onStrike?(ctx: Context, market: Market): void;
  /** Needs the dataset prices, twap30s or twap60s. */
  onPrice?(ctx: Context, tick: Tick): void;
  /** Needs the dataset book, orderbook or price_change. */
  onBook?(ctx: Context, change: Change): void;
  /** Needs the dataset best_bid_ask. */
  onQuote?(ctx: Context, quote: Quote): void;
  /** Needs the dataset last_trade_price. */
  onTrade?(ctx: Context, trade: Trade): void;
  /** Needs the dataset tick_size_change. */
  onTickSize?(ctx: Context, change: TickSizeChange): void;
  /** Needs the dataset klines. Called when the candle closes. */
  onKline?(ctx: Context, kline: Kline): void;
  /** Needs a series. Called at the row's time plus its lag. */
  onSeries?(ctx: Context, row: SeriesRow): void;
  onTimer?(ctx: Context, timer: Timer): void;
  /** An order, a cancel, a merge or a split was accepted, rejected, cancelled, ... */
  onOrder?(ctx: Context, update: Update): void;
  onFill?(ctx: Context, fill: Fill): void;
  /** Trading has stopped, the outcome is not known yet. */
  onMarketClose?(ctx: Context, market: Market): void;
  onSettle?(ctx: Context, settlement: Settlement): void;
  onStop?(ctx: Context): void;
}

export interface Context {
  readonly nowMs: number;
  /** The manifest's params, or those of the sweep's cell. */
  readonly params: Readonly<Record<string, any>>;
  /** The markets that are open now. */
  readonly markets: Market[];
  market(id: string): Market | null;
  remainingMs(market: Market | string): number;

  /** A live view: its prices are those of the moment they are read. */
  book(market: Market | string, outcome: Outcome): Book;
  /** The last value, null before the first. */
  price(asset: string, feed?: PriceFeed): number | null;
  /** What was seen in the last `ms`, at most a day; the manifest's warmup_ms says how much of it lies before the start. */
  history(asset: string, dataset: PriceFeed, ms: number): { tsMs: number[]; value: number[] };
  history(asset: string, dataset: 'klines', ms: number, interval?: string): KlineHistory;
  /** By the name of a series. */
  history(asset: string | null, dataset: string, ms: number): SeriesHistory;
  /** The nearest price on the market's grid. */
  roundPrice(market: Market | string, price: number): number;
  /** What taking `size` shares at `price` costs in fees. */
  fee(market: Market | string, price: number, size: number): number;

  readonly cash: number;
  /** Cash that no open order reserves. */
  readonly availableCash: number;
  /** Cash, and positions at what the best bid would pay. */
  readonly equity: number;
  position(market: Market | string, outcome: Outcome): { readonly shares: number; readonly locked: number };
  /** Orders that are not known to be done. */
  readonly orders: Order[];

  /** Returns the order's id. A bad order is a rejected one (`onOrder` tells why); only an unknown key is an exception. */
  buy(order: BuyOrder): string;
  sell(order: SellOrder): string;
  cancel(id: string): void;
  /** All orders, or those of a market, of a side, or of both. */
  cancelAll(market?: Market | string | null, side?: Side): void;
  /** Turns shares of both outcomes into a dollar apiece; returns an id. */
  merge(market: Market | string, size: number): string;
  /** The reverse. */
  split(market: Market | string, size: number): string;

  /** Calls onTimer after `delayMs`, at least 1; the tag can be anything. Returns the timer's id. */
  timer(delayMs: number, tag?: any): number;
  cancelTimer(id: number | null): boolean;
  /** In [0, 1), from the manifest's seed. */
  random(): number;
  /** Records a probability of up; the report counts them. */
  forecast(market: Market | string, pUp: number): void;
  log(...values: unknown[]): void;
}

interface OrderWish {
  market: Market | string;
  outcome: Outcome;
  /** Dollars; without one it is a market order. */
  limit?: number | null;
  tif?: Tif;
  postOnly?: boolean;
  reduceOnly?: boolean;
  /** For gtd. */
  expireAtMs?: number;
  /** At most 64 bytes; comes back in updates, fills and the report. */
  tag?: string;
}
export type SellOrder = OrderWish & { size: number };
/** Shares by `size`, or dollars by `amount` (ioc and fok only). */
export type BuyOrder = OrderWish & ({ size: number; amount?: null } | { size?: null; amount: number });

export interface Order {
  readonly id: string;
  readonly market: Market | null;
  readonly outcome: Outcome | null;
  readonly side: Side;
  readonly limit: number | null;
  readonly size: number | null;
  readonly remaining: number | null;
  readonly status: 'sent' | 'accepted';
  readonly tag: string | null;
}

export interface Market {
  readonly id: string;
  readonly asset: string;
  readonly interval: string;
  readonly startMs: number;
  readonly endMs: number;
  /** Null until it is known. */
  readonly strike: number | null;
  readonly settlementFeed: PriceFeed | 'klines';
  readonly tie: 'up' | 'split';
  readonly tickSize: number;
  readonly minSize: number;
  readonly fee: {
    readonly curve: 'quadratic' | 'linear' | 'notional';
    readonly rate: number;
    readonly takenIn: 'cash' | 'shares';
  };
  readonly takerDelayMs: number;
  /** False for a market that came in as context. */
  readonly tradable: boolean;
}

export interface Book {
  readonly market: Market;
  readonly outcome: Outcome;
  readonly bestBid: number | null;
  readonly bestAsk: number | null;
  readonly mid: number | null;
  /** [price, shares] of the bids ('buy') or asks ('sell'), best first; all of them without n. */
  levels(side: Side, n?: number): [price: number, shares: number][];
}

interface Happened {
  /** When the strategy sees it. */
  readonly tsMs: number;
  /** When the venue said it. */
  readonly eventTsMs: number;
}
interface Row extends Happened {
  /** The values in an object of their own. */
  copy(): this;
}
export interface Tick extends Row {
  readonly market: null;
  readonly feed: PriceFeed;
  readonly asset: string;
  readonly value: number;
}
/** The level (outcome, side, price) now holds `size` shares. */
export interface Change extends Row {
  readonly market: Market;
  readonly outcome: Outcome;
  readonly side: Side;
  readonly price: number;
  readonly size: number;
  readonly snapshot: boolean;
  readonly bestBid: number | null;
  readonly bestAsk: number | null;
  /** Every level that this row changed. */
  readonly levels: [side: Side, price: number, size: number][];
}
export interface Trade extends Row {
  readonly market: Market;
  readonly outcome: Outcome;
  /** The taker's. */
  readonly side: Side;
  readonly price: number;
  readonly size: number;
}
export interface Quote extends Row {
  readonly market: Market;
  readonly outcome: Outcome;
  readonly bid: number | null;
  readonly ask: number | null;
}
export interface TickSizeChange extends Happened {
  readonly market: Market;
  readonly outcome: Outcome;
  readonly oldTickSize: number;
  readonly newTickSize: number;
}
export interface Kline extends Happened {
  readonly market: null;
  readonly asset: string;
  readonly interval: string;
  readonly openMs: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volume: number;
}
export interface KlineHistory {
  tsMs: number[];
  openMs: number[];
  open: number[];
  high: number[];
  low: number[];
  close: number[];
  volume: number[];
}
export interface SeriesRow extends Happened {
  readonly market: null;
  readonly name: string;
  /** The row's own timestamp. */
  readonly timeMs: number;
  /** By column; null for an empty field. */
  readonly values: Readonly<Record<string, number | null>>;
}
export interface SeriesHistory {
  tsMs: number[];
  timeMs: number[];
  values: Record<string, (number | null)[]>;
}
export interface Timer extends Happened {
  readonly market: null;
  readonly id: number;
  readonly tag: any;
}
export interface Update extends Happened {
  readonly market: Market | null;
  readonly id: string | null;
  readonly outcome: Outcome | null;
  readonly side: Side | null;
  readonly status: 'accepted' | 'rejected' | 'cancelled' | 'expired' | 'cancel_rejected' | 'converted';
  readonly reason: string | null;
  readonly size: number;
  readonly remaining: number;
  readonly tag: string | null;
}
export interface Fill extends Happened {
  readonly market: Market;
  readonly orderId: string;
  readonly outcome: Outcome;
  readonly side: Side;
  readonly price: number;
  readonly size: number;
  readonly fee: number;
  readonly liquidity: 'maker' | 'taker';
  readonly remaining: number;
  readonly tag: string | null;
}
export interface Settlement extends Happened {
  readonly market: Market;
  readonly outcome: 'up' | 'down' | 'split';
  /** The value that decided; null where unknown. */
  readonly final: number | null;
}
