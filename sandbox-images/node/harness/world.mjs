import { hookOfKind, NO_HOOK, NO_MARKET, ofMarket } from './codes.mjs';
import { Shared } from './control.mjs';
import { Depth } from './depth.mjs';
import { OUTSIDE, StrategyError } from './errors.mjs';
import { absorb, DAY_MS } from './feeds.mjs';
import { Market } from './market.mjs';

/**
 * The state of one segment: what a strategy can know, apart from its own account. Rows up to `i` of the frame are
 * known. The clock, the hook that runs and its market live in memory that the watchdog reads.
 */
export class World {
  constructor(run, told) {
    this.frame = run.frame;
    this.shared = run.shared;
    this.clock = run.clock;
    this.startMs = told.start_ms;
    this.byIndex = this.frame.markets = [];
    this.byId = new Map();
    this.open = new Map();
    this.depth = run.start.depth ? new Depth() : null;
    this.running = false;
    this.offence = null;
    this.i = -1;
    this.absorbed = 0;
    this.deep = 0;
    this.clock[0] = told.start_ms;
    for (const feed of this.frame.feeds) feed.reset();
    this.all = told.markets.map((one) => new Market(one, this));
    for (const market of this.all) {
      this.byIndex[market._index] = market;
      if (market.startMs <= this.startMs) this.show(market);
    }
    this.first = told.markets.length > 0 ? told.markets[0].index : NO_MARKET;
  }

  /** Throws unless a hook runs. */
  guard() {
    if (this.running) return;
    this.offence ??= new StrategyError(OUTSIDE);
    throw this.offence;
  }

  get now() {
    return this.clock[0];
  }

  /** Sets the clock, which never goes back. */
  at(ms) {
    if (ms > this.clock[0]) this.clock[0] = ms;
  }

  /** A hook that is not a row's runs now. */
  enter(hook, market) {
    this.shared[Shared.hook] = hook;
    this.shared[Shared.market] = market;
    this.shared[Shared.serial]++;
    this.running = true;
  }

  leave() {
    this.running = false;
    this.shared[Shared.hook] = NO_HOOK;
    this.shared[Shared.market] = NO_MARKET;
  }

  /** The strategy may know of a market from its open on. */
  show(market) {
    this.byId.set(market.id, market);
    if (market._last === null) this.open.set(market.id, market);
  }

  /** Trading has stopped: its book is as it was last. */
  shut(market) {
    market._last = this.quote(market);
    this.open.delete(market.id);
    if (!this.depth) return;
    this.readDepth(this.i + 1);
    this.depth.drop(market._index);
  }

  /** A market by its id or by itself; undefined when it is not known, or was kept from another segment. */
  find(market) {
    if (!(market instanceof Market)) return this.byId.get(market);
    return this.byIndex[market._index] === market ? market : undefined;
  }

  /** Best bid and ask in terms of up, as bid * 65536 + ask. */
  quote(market) {
    if (market._last !== null) return market._last;
    const { frame, i } = this;
    if (i >= 0 && (ofMarket[frame.kind[i]] === 1 ? frame.market[i] : this.first) === market._index) {
      return frame.bid[i] * 65536 + frame.ask[i];
    }
    return frame.quote(market._index, i + 1);
  }

  levels(market, down, sell, n) {
    this.guard();
    if (!this.depth) {
      throw new StrategyError(
        'whole books are kept only for a strategy whose source says `book.levels`; call it by that name',
      );
    }
    this.readDepth(this.i + 1);
    return this.depth.levels(market._index, down, sell, n);
  }

  readDepth(end) {
    if (end <= this.deep) return;
    this.depth.read(this.frame, this.deep, end);
    this.deep = end;
  }

  feed(asset, dataset, interval) {
    for (const feed of this.frame.feeds) {
      if (feed.dataset !== dataset || (feed.kind !== 'series' && feed.asset !== asset)) continue;
      if (interval == null || feed.interval === interval) return feed;
    }
    const declared = [
      ...new Set(this.frame.feeds.map((feed) => `${feed.asset ?? '-'} ${feed.dataset}`)),
    ].sort();
    const wanted = `${asset} ${dataset}${interval == null ? '' : ` ${interval}`}`;
    throw new StrategyError(`no feed ${wanted}; declared: ${declared.join(', ') || 'none'}`);
  }

  absorb() {
    if (this.i + 1 <= this.absorbed) return;
    absorb(this.frame, this.absorbed, this.i + 1);
    this.absorbed = this.i + 1;
  }

  /** Keeps of a frame whose rows are done what the next frame does not repeat, and starts on that one. */
  turn(told) {
    this.absorb();
    if (this.depth) this.readDepth(this.frame.n);
    for (const feed of this.frame.feeds) feed.forget(this.now - DAY_MS);
    this.frame.load(told);
    this.i = -1;
    this.absorbed = this.deep = 0;
  }

  /** Hook and market of a row, for the wire. */
  enterRow(i) {
    const kind = this.frame.kind[i];
    this.enter(hookOfKind[kind], ofMarket[kind] === 1 ? this.frame.market[i] : NO_MARKET);
  }
}
