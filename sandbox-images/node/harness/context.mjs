import { format, inspect } from 'node:util';
import { Order } from './account.mjs';
import { CommandKind, FromBox, NO_MARKET, sideCodes } from './codes.mjs';
import { checkOrder, number, orderCommand, pack } from './commands.mjs';
import { StrategyError } from './errors.mjs';
import { DAY_MS } from './feeds.mjs';

/** `ctx`: what a hook can ask and do. One for each segment; usable only inside a running hook. */
export class Context {
  #segment;
  #world;
  #account;
  #random;

  constructor(segment, world, account, random) {
    this.#segment = segment;
    this.#world = world;
    this.#account = account;
    this.#random = random;
  }

  // The moment.

  get nowMs() {
    this.#world.guard();
    return this.#world.now;
  }

  get params() {
    return this.#segment.run.params;
  }

  /** The markets that are open now. */
  get markets() {
    this.#world.guard();
    return [...this.#world.open.values()];
  }

  /** The market of an id, or null. */
  market(id) {
    this.#world.guard();
    return this.#world.find(id) ?? null;
  }

  remainingMs(market) {
    return Math.max(0, this.#known(market).endMs - this.#world.now);
  }

  // Prices.

  /** The book of 'up' or 'down'. */
  book(market, outcome) {
    const books = this.#known(market)._books;
    if (outcome === 'up') return books.up;
    if (outcome === 'down') return books.down;
    throw new StrategyError(`outcome must be 'up' or 'down', not ${inspect(outcome)}`);
  }

  /** The last value of a price feed, null before the first. */
  price(asset, feed = 'prices') {
    this.#world.guard();
    const found = this.#world.feed(asset, feed);
    if (found.columns[0] !== 'value') {
      throw new StrategyError(`ctx.price: ${inspect(feed)} is no price feed; see ctx.history`);
    }
    this.#world.absorb();
    return found.data[0].at(-1) ?? null;
  }

  /** What a feed, klines or a series showed in the last `ms`, at most a day: lists, oldest first. */
  history(asset, dataset, ms, interval) {
    this.#world.guard();
    const found = this.#world.feed(asset, dataset, interval);
    this.#world.absorb();
    const length = number(ms);
    if (Number.isNaN(length)) throw new StrategyError(`ctx.history: ms must be a number, not ${inspect(ms)}`);
    return found.since(this.#world.now - Math.min(length, DAY_MS));
  }

  /** The nearest price on the market's grid. */
  roundPrice(market, price) {
    const tick = Math.floor(this.#known(market).tickSize * 10000 + 0.5);
    const steps = Math.floor((price * 10000) / tick + 0.5);
    return Math.min(Math.max(steps * tick, tick), 10000 - tick) / 10000;
  }

  /** What taking `size` shares at `price` would cost in fees, dollars. */
  fee(market, price, size) {
    const { curve, rate } = this.#known(market).fee;
    if (curve === 'quadratic') return size * rate * (price * (1 - price));
    if (curve === 'linear') return size * rate * Math.min(price, 1 - price);
    return size * rate * price;
  }

  // The account, as the last event left it.

  get cash() {
    this.#world.guard();
    return this.#account.cash / 1_000_000;
  }

  /** Cash that no open order reserves. */
  get availableCash() {
    this.#world.guard();
    return this.#account.available / 1_000_000;
  }

  /** Cash, and positions at what the best bid would pay. */
  get equity() {
    this.#world.guard();
    let worth = 0;
    for (const [index, held] of this.#account.positions) {
      const both = this.#world.quote(this.#world.byIndex[index]);
      const ask = both & 0xffff;
      worth += (held[0] * (both >>> 16)) / 1e8;
      worth += (held[2] * (ask ? 10000 - ask : 0)) / 1e8;
    }
    return this.#account.cash / 1_000_000 + worth;
  }

  /** Shares of an outcome, and what of them is locked by open sells. */
  position(market, outcome) {
    const book = this.book(market, outcome);
    return this.#account.position(book.market._index, outcome === 'down');
  }

  /** Orders that are not known to be done, in the order they were sent. */
  get orders() {
    this.#world.guard();
    return [...this.#account.live.values()];
  }

  // Commands. They leave when the hook returns.

  /** Orders `size` shares, or shares for `amount` dollars; returns the order's id. */
  buy(order) {
    return this.#order('buy', order ?? {});
  }

  /** Orders the sale of `size` shares; returns the order's id. */
  sell(order) {
    return this.#order('sell', order ?? {});
  }

  #order(side, wanted) {
    checkOrder(side, wanted);
    const [market, index, id] = this.#target(wanted.market, '#');
    const sent = this.#segment.nextNumber();
    const [packed, known] = orderCommand(side, wanted, sent, index, this.#segment.run.start.limits.tag_bytes);
    this.#segment.command(packed);
    this.#account.sent(new Order(id, sent, { market, ...known }));
    return id;
  }

  /** Asks to cancel an order by its id. */
  cancel(id) {
    this.#world.guard();
    const order = this.#account.orders.get(id);
    const sent = this.#segment.nextNumber();
    this.#account.expect(sent, order ?? new Order(id, sent));
    const market = order?.market?._index ?? NO_MARKET;
    this.#segment.command(pack({ number: sent, target: order?._number, kind: CommandKind.cancel, market }));
  }

  /** Asks to cancel all orders, or those of a market, of a side ('buy' or 'sell'), or of both. */
  cancelAll(market, side) {
    this.#world.guard();
    const found = market == null ? null : this.#world.find(market);
    if (found === undefined || (side != null && !sideCodes.has(side))) {
      // On the wire this would read as "all markets" or "both sides".
      this.log(`cancelAll: no market ${inspect(market)} or side ${inspect(side)}; nothing was cancelled`);
      return;
    }
    const sent = this.#segment.nextNumber();
    this.#account.expect(sent, new Order(null, sent, { market: found }));
    const kind = CommandKind.cancel_all;
    this.#segment.command(pack({ number: sent, kind, side: sideCodes.get(side), market: found?._index }));
  }

  /** Asks to turn `size` shares of each outcome into a dollar apiece; returns an id. */
  merge(market, size) {
    return this.#convert(CommandKind.merge, market, size);
  }

  /** Asks to turn `size` dollars into as many shares of each outcome; returns an id. */
  split(market, size) {
    return this.#convert(CommandKind.split, market, size);
  }

  #convert(kind, wanted, size) {
    const [market, index, id] = this.#target(wanted, '!');
    const sent = this.#segment.nextNumber();
    this.#account.expect(sent, new Order(id, sent, { market, size: number(size) }));
    this.#segment.command(pack({ number: sent, kind, market: index, size: number(size) }));
    return id;
  }

  #target(market, mark) {
    this.#world.guard();
    const found = this.#world.find(market);
    const name = found ? found.id : String(market?.id ?? market).slice(0, 64);
    return [found ?? null, found ? found._index : NO_MARKET, this.#account.nextId(name, mark)];
  }

  // The rest.

  /** Calls onTimer after `delayMs`, at least 1 ms from now; returns the timer's id. */
  timer(delayMs, tag = null) {
    this.#world.guard();
    const delay = number(delayMs);
    if (Number.isNaN(delay)) {
      throw new StrategyError(`ctx.timer: delayMs must be a number, not ${inspect(delayMs)}`);
    }
    return this.#segment.setTimer(delay, tag);
  }

  /** Takes a timer back; false when it has run or never was. */
  cancelTimer(id) {
    this.#world.guard();
    return this.#segment.cancelTimer(id);
  }

  /** A number in [0, 1), from the run's seed; the same sequence in every language. */
  random() {
    this.#world.guard();
    return this.#random();
  }

  /** Records a probability of up. */
  forecast(market, pUp) {
    this.#world.guard();
    const payload = Buffer.alloc(24);
    payload.writeDoubleLE(this.#world.now, 0);
    payload.writeDoubleLE(number(pUp), 8);
    payload.writeUInt16LE(this.#world.find(market)?._index ?? NO_MARKET, 16);
    this.#segment.run.control.hold(FromBox.forecast, payload);
  }

  /** Writes a line to the run's log, stamped with replay time. */
  log(...values) {
    this.#world.guard();
    this.#segment.run.log(format(...values));
  }

  #known(market) {
    this.#world.guard();
    const found = this.#world.find(market);
    if (!found) throw new StrategyError(`no market ${inspect(market?.id ?? market)}`);
    return found;
  }
}
