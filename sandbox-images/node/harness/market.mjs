import { inspect } from 'node:util';
import { StrategyError } from './errors.mjs';
import { buyPrice, sellPrice } from './frame.mjs';

const hidden = (target, values) => {
  for (const [name, value] of Object.entries(values))
    Object.defineProperty(target, name, { value, writable: true });
};

/** An up/down market. `strike` is null until it is known; `tickSize` follows the venue's changes. */
export class Market {
  constructor(told, world) {
    this.id = told.id;
    this.asset = told.asset;
    this.interval = told.interval;
    this.startMs = told.start_ms;
    this.endMs = told.end_ms;
    this.strike = null;
    this.settlementFeed = told.settlement_feed;
    this.tie = told.tie;
    this.tickSize = told.tick_size;
    this.minSize = told.min_size;
    this.fee = { curve: told.fee.curve, rate: told.fee.rate, takenIn: told.fee.taken_in };
    this.takerDelayMs = told.taker_delay_ms;
    this.tradable = told.tradable;
    hidden(this, {
      _index: told.index,
      _last: null,
      _books: { up: new Book(world, this, 'up'), down: new Book(world, this, 'down') },
    });
  }
}

/** The book of one outcome, as it stands whenever it is asked. */
export class Book {
  constructor(world, market, outcome) {
    this.market = market;
    this.outcome = outcome;
    hidden(this, { _world: world, _down: outcome === 'down' });
  }

  _quote() {
    this._world.guard();
    return this._world.quote(this.market);
  }

  /** Dollars, or null when nobody bids. */
  get bestBid() {
    const both = this._quote();
    return buyPrice(both >>> 16, both & 0xffff, this._down);
  }

  /** Dollars, or null when nobody asks. */
  get bestAsk() {
    const both = this._quote();
    return sellPrice(both >>> 16, both & 0xffff, this._down);
  }

  /** Dollars, or null unless both sides are there. */
  get mid() {
    const both = this._quote();
    const bid = both >>> 16;
    const ask = both & 0xffff;
    if (!bid || !ask) return null;
    return (this._down ? 20000 - bid - ask : bid + ask) / 20000;
  }

  /** The best `n` levels (all without n) of side 'buy' or 'sell': a list of [price, shares], best first. */
  levels(side, n) {
    if (side !== 'buy' && side !== 'sell') {
      throw new StrategyError(`book.levels: side must be 'buy' or 'sell', not ${inspect(side)}`);
    }
    return this._world.levels(this.market, this._down, side === 'sell', n);
  }
}
