import { Kind } from './codes.mjs';
import { KEPT, StrategyError } from './errors.mjs';
import { buyPrice, sellPrice } from './frame.mjs';

const shown = Symbol.for('nodejs.util.inspect.custom');

/**
 * A row as a hook sees it. One object of each class is reused for every row: keep `copy()`, not the row itself. The
 * loop writes the fields that most hooks want; all else is read from the frame when asked for.
 */
class Row {
  constructor(frame) {
    // Not enumerable, so that a row shows and serialises as what it tells.
    Object.defineProperty(this, '_frame', { value: frame });
    Object.defineProperty(this, '_i', { value: 0, writable: true });
    this.tsMs = 0.5;
  }

  /** Its place in the frame. When the frame is over, later rows may stand there. */
  get _at() {
    if (this._i < 0) throw new StrategyError(KEPT);
    return this._i;
  }

  /** When the venue said it. */
  get eventTsMs() {
    return this.tsMs - this._frame.lag[this._at];
  }

  /** The row's values in an object of their own, which later rows do not change. */
  copy() {
    const values = { copy };
    for (const name of this.constructor.fields) values[name] = this[name];
    Object.defineProperty(values, 'copy', { enumerable: false });
    return values;
  }

  toJSON() {
    return this.copy();
  }

  [shown]() {
    return this.copy();
  }
}

function copy() {
  return this;
}

/** A print; `side` is the taker's. */
export class Trade extends Row {
  static fields = ['market', 'tsMs', 'eventTsMs', 'outcome', 'side', 'price', 'size'];

  constructor(frame) {
    super(frame);
    this.market = null;
    this.outcome = 'up';
    this.side = 'buy';
    this.price = 0.5;
    this.size = 0.5;
  }
}

/** A change of a market's depth: the level (outcome, side, price) now holds `size` shares. */
export class Change extends Trade {
  static fields = [...Trade.fields, 'snapshot', 'bestBid', 'bestAsk', 'levels'];

  get snapshot() {
    return (this._frame.side[this._at] & 4) !== 0;
  }

  get bestBid() {
    const { _frame: frame, _at: i } = this;
    return buyPrice(frame.bid[i], frame.ask[i], frame.side[i] & 2);
  }

  get bestAsk() {
    const { _frame: frame, _at: i } = this;
    return sellPrice(frame.bid[i], frame.ask[i], frame.side[i] & 2);
  }

  /** Every level that this row of the archive changed: a list of [side, price, size]. */
  get levels() {
    const { _frame: frame, _at: i } = this;
    if (frame.kind[i] === Kind.depth_same) return [];
    let first = i;
    while (
      first > 0 &&
      frame.kind[first - 1] === Kind.depth_part &&
      frame.market[first - 1] === frame.market[i]
    )
      first--;
    const found = [];
    for (let j = first; j <= i; j++) {
      found.push([frame.side[j] & 1 ? 'sell' : 'buy', frame.price[j], frame.size[j]]);
    }
    return found;
  }
}

/** A value of a price feed: prices, twap30s or twap60s. */
export class Tick extends Row {
  static fields = ['market', 'tsMs', 'eventTsMs', 'feed', 'asset', 'value'];

  constructor(frame) {
    super(frame);
    this.market = null;
    this.feed = '';
    this.asset = '';
    this.value = 0.5;
  }
}

/** The venue's own word on an outcome's best bid and ask; null where there is none. */
export class Quote extends Row {
  static fields = ['market', 'tsMs', 'eventTsMs', 'outcome', 'bid', 'ask'];

  constructor(frame) {
    super(frame);
    this.market = null;
    this.outcome = 'up';
    this.bid = null;
    this.ask = null;
  }
}
