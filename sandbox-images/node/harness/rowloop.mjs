import { Hook, Kind, NO_HOOK, NO_MARKET, SILENT } from './codes.mjs';
import { Shared } from './control.mjs';
import { Change, Quote, Tick, Trade } from './rows.mjs';

// What the loop does with a row: nothing, one of these in line, or `rareRow`.
const BOOK = 1;
const TRADE = 2;
const PRICE = 3;
const QUOTE = 4;
const RARE = 5;

/** The hot loop of a segment, with its reused row objects. */
export class RowLoop {
  constructor(segment) {
    const { frame, hooks } = segment;
    this.segment = segment;
    this.change = new Change(frame);
    this.trade = new Trade(frame);
    this.tick = new Tick(frame);
    this.quote = new Quote(frame);
    this.ops = new Uint8Array(256);
    const common = (op, hook, ...kinds) => {
      for (const kind of kinds) if (hooks[hook]) this.ops[kind] = op;
    };
    common(BOOK, Hook.onBook, Kind.depth, Kind.depth_same);
    common(TRADE, Hook.onTrade, Kind.trade);
    common(PRICE, Hook.onPrice, Kind.prices, Kind.twap30s, Kind.twap60s);
    common(QUOTE, Hook.onQuote, Kind.quote);
    for (const kind of [Kind.tick_size, Kind.kline, Kind.series, Kind.market_open, Kind.strike]) {
      this.ops[kind] = this.ops[kind | SILENT] = RARE;
    }
  }

  /** The frame is over: what a strategy kept of its rows must not be read from the next one. */
  endRows() {
    for (const row of [this.change, this.trade, this.tick, this.quote]) row._i = -1;
  }

  /**
   * Runs rows first..end of the frame in hand, until a hook wants attention; returns how far it came. About 10 ns a
   * row with an empty hook. The clock, the hook and the count of calls go to memory that the watchdog reads.
   */
  run(first, end) {
    const { segment, ops, change, trade, tick, quote } = this;
    const { ctx, strategy, hooks, world, run, frame } = segment;
    const { ts, price, size, market, kind, side, markets, feeds } = frame;
    const { clock, shared } = world;
    const onBook = hooks[Hook.onBook];
    const onTrade = hooks[Hook.onTrade];
    const onPrice = hooks[Hook.onPrice];
    const onQuote = hooks[Hook.onQuote];
    let calls = 0;
    let result;
    let i = first;
    world.running = true;
    while (i < end) {
      const op = ops[kind[i]];
      if (op === 0) {
        i++;
        continue;
      }
      world.i = i;
      if (op === RARE) {
        // A silent row may be older than the segment's start.
        if (ts[i] > clock[0]) clock[0] = ts[i];
        segment.rareRow(i++);
      } else {
        calls++;
        clock[0] = ts[i];
        shared[Shared.serial]++;
        if (op === BOOK) {
          shared[Shared.hook] = Hook.onBook;
          shared[Shared.market] = market[i];
          change._i = i;
          change.tsMs = ts[i];
          change.market = markets[market[i]];
          change.outcome = side[i] & 2 ? 'down' : 'up';
          change.side = side[i] & 1 ? 'sell' : 'buy';
          change.price = price[i];
          change.size = size[i];
          result = onBook.call(strategy, ctx, change);
        } else if (op === TRADE) {
          shared[Shared.hook] = Hook.onTrade;
          shared[Shared.market] = market[i];
          trade._i = i;
          trade.tsMs = ts[i];
          trade.market = markets[market[i]];
          trade.outcome = side[i] & 2 ? 'down' : 'up';
          trade.side = side[i] & 1 ? 'sell' : 'buy';
          trade.price = price[i];
          trade.size = size[i];
          result = onTrade.call(strategy, ctx, trade);
        } else if (op === PRICE) {
          shared[Shared.hook] = Hook.onPrice;
          shared[Shared.market] = NO_MARKET;
          tick._i = i;
          tick.tsMs = ts[i];
          tick.feed = feeds[market[i]].kind;
          tick.asset = feeds[market[i]].asset;
          tick.value = price[i];
          result = onPrice.call(strategy, ctx, tick);
        } else {
          shared[Shared.hook] = Hook.onQuote;
          shared[Shared.market] = market[i];
          quote._i = i;
          quote.tsMs = ts[i];
          quote.market = markets[market[i]];
          quote.outcome = side[i] & 2 ? 'down' : 'up';
          quote.bid = Number.isNaN(price[i]) ? null : price[i];
          quote.ask = Number.isNaN(size[i]) ? null : size[i];
          result = onQuote.call(strategy, ctx, quote);
        }
        i++;
        if (result !== undefined) segment.returned(result);
      }
      if (segment.signal) break;
    }
    world.i = i - 1;
    world.running = false;
    if (ts[i - 1] > clock[0]) clock[0] = ts[i - 1];
    shared[Shared.hook] = NO_HOOK;
    shared[Shared.market] = NO_MARKET;
    run.hooksCalled += calls;
    return i;
  }
}
