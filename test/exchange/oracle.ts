import type { OrderRow, Reason } from '../../contract/index.ts';
import { takerFee } from '../../src/exchange/fee.ts';
import type { PrivateEvent } from '../../src/exchange/journal.ts';
import { latency } from '../../src/exchange/latency.ts';
import type { MarketSpec } from '../../src/exchange/market.ts';
import type { Request } from '../../src/exchange/order.ts';
import { Row, type Tape } from '../../src/exchange/tape.ts';
import type { VenueOptions } from '../../src/exchange/venue.ts';

/**
 * A second exchange, as plain as possible: it knows every command and every row beforehand, goes through all times at
 * which anything could happen, and at each one looks at everything. Slow, and meant to be read against the rules.
 * It shares with the other one only the fee and the draw of a latency, which have tests of their own.
 */
export interface Timed {
  readonly at: number;
  readonly request: Request;
}

type Own = OrderRow & {
  number: number;
  seat: number;
  bid: boolean;
  price: number;
  left: number;
  money: number | null;
  state: 'held' | 'resting' | 'done';
  release: number;
  rested: number;
  /** Its place among all that ever rested: a held order joins when it is released. */
  joined: number;
  expires: number;
  ahead: number;
  post: boolean;
  reduce: boolean;
  cash: number;
  shares: number;
  done_ms: number | null;
  size: number;
  filled: number;
  status: OrderRow['status'];
  reason: Reason;
};
interface Level {
  bid: boolean;
  price: number;
  size: number;
  taken: number;
  emptied: number;
}
interface Change {
  bid: boolean;
  price: number;
  ts: number;
  left: number;
  what: 'shrunk' | 'printed';
}
interface Seat {
  spec: MarketSpec;
  tape: Tape;
  tick: number;
  levels: Level[];
  changes: Change[];
  middle: number;
  up: number;
  down: number;
  flow: number;
  orders: number;
}
type Told = Omit<PrivateEvent, 'number'> & { number: number };

const ONE = 10_000;
const STEP = 100;
const step = (size: number): number => Math.floor(size / STEP) * STEP;
const dollars = (price: number, size: number): number => Math.floor((price * size) / 100);

export function oracle(options: VenueOptions, commands: readonly Timed[], until: number) {
  const { execution, limits } = options;
  const legs = execution.latency_ms;
  const entry = latency(legs.entry, options.seed, 1);
  const cancel = latency(legs.cancel, options.seed, 2);
  const response = latency(legs.response, options.seed, 3);

  let cash = options.capital;
  let joins = 0;
  const own: Own[] = [];
  const fills: object[] = [];
  const marks: { ts_ms: number; portfolio: number; cash: number; locked: number; position_value: number }[] =
    [];
  const told: Told[] = [];
  const counts: Record<string, number> = {};
  const seats: Seat[] = options.markets.map((spec) => ({
    spec,
    tape: spec.tape(),
    tick: spec.rules.tick,
    levels: [],
    changes: [],
    middle: ONE,
    up: 0,
    down: 0,
    flow: 0,
    orders: 0,
  }));

  // --- what is known at any moment ---
  const open = (): Own[] => own.filter((order) => order.state !== 'done');
  const lockedCash = (): number => open().reduce((sum, order) => sum + order.cash, 0);
  const lockedShares = (seat: number, outcome: string): number =>
    open().reduce((sum, one) => sum + (one.seat === seat && one.outcome === outcome ? one.shares : 0), 0);
  const level = (seat: Seat, bid: boolean, price: number): Level => {
    let found = seat.levels.find((one) => one.bid === bid && one.price === price);
    if (!found) {
      found = { bid, price, size: 0, taken: 0, emptied: 0 };
      seat.levels.push(found);
    }
    return found;
  };
  const best = (seat: Seat, bid: boolean): number => {
    const prices = seat.levels.filter((one) => one.bid === bid && one.size > 0).map((one) => one.price);
    return bid ? Math.max(0, ...prices) : Math.min(ONE, ...prices);
  };
  const inGap = (seat: Seat, ts: number): boolean =>
    pairs(seat.tape).some(([from, to]) => from <= ts && ts < to);
  const resting = (seat: number, bid: boolean): Own[] =>
    own
      .filter((one) => one.state === 'resting' && one.seat === seat && one.bid === bid)
      .sort((a, b) => a.joined - b.joined);
  const reducible = (order: Own): number => {
    const { up, down } = seats[order.seat]!;
    return order.bid ? Math.max(0, down - up) : Math.max(0, up - down);
  };
  const ownTerms = (order: Own, price: number): number => (order.outcome === 'up' ? price : ONE - price);

  // --- what the strategy is told ---
  let seen = Number.NEGATIVE_INFINITY;
  let answers = 0;
  const before = { cash, free: cash, seats: seats.map(() => ({ up: 0, down: 0, upL: 0, downL: 0 })) };
  const tell = (
    kind: PrivateEvent['kind'],
    seat: number,
    event_ts: number,
    facts: Partial<PrivateEvent>,
  ): void => {
    let ts = event_ts;
    if (kind !== 'settle') {
      answers++;
      seen = Math.max(seen, event_ts + response(answers));
      ts = seen;
    }
    const free = cash - lockedCash();
    const { up, down } = seats[seat]!;
    const now = { up, down, upL: lockedShares(seat, 'up'), downL: lockedShares(seat, 'down') };
    const then = before.seats[seat]!;
    told.push({
      ...{
        number: 0,
        reason: '',
        outcome: null,
        side: null,
        liquidity: null,
        price: 0,
        size: 0,
        remaining: 0,
        fee: 0,
      },
      ...facts,
      ...{ ts, event_ts, kind, market: seat, cash: cash - before.cash, available: free - before.free },
      ...{ up: now.up - then.up, up_locked: now.upL - then.upL },
      ...{ down: now.down - then.down, down_locked: now.downL - then.downL },
    } as Told);
    before.cash = cash;
    before.free = free;
    before.seats[seat] = now;
  };
  const say = (kind: PrivateEvent['kind'], order: Own, ts: number, facts: Partial<PrivateEvent> = {}): void =>
    tell(kind, order.seat, ts, {
      number: order.number,
      reason: order.reason,
      outcome: order.outcome,
      side: order.side,
      size: order.size,
      remaining: order.left,
      ...facts,
    });
  const mark = (ts: number, value?: number[]): void => {
    const sellable = (seat: Seat): number =>
      dollars(best(seat, true), seat.up) + dollars(ONE - best(seat, false), seat.down);
    const position_value = (value ?? seats.map(sellable)).reduce((sum, one) => sum + one, 0);
    if (marks.at(-1)?.ts_ms === ts) marks.pop();
    marks.push({ ts_ms: ts, portfolio: options.portfolio, cash, locked: lockedCash(), position_value });
  };

  // --- what becomes of an order ---
  const bind = (order: Own, maker: boolean): void => {
    const { fee } = seats[order.seat]!.spec.rules;
    order.shares = order.side === 'sell' ? order.left : 0;
    order.cash = 0;
    if (order.side === 'sell') return;
    const limit = ownTerms(order, order.price);
    if (order.money !== null) {
      const most = fee.taken_in === 'shares' ? 0 : Math.ceil((order.money * fee.rate) / 1_000_000);
      order.cash = order.money + most;
      return;
    }
    // The dearest price for a fee: the middle, or the limit under it; a share of the notional grows all the way.
    const dearest = fee.curve === 'notional' ? limit : Math.min(limit, ONE / 2);
    const most = maker || fee.taken_in === 'shares' ? 0 : takerFee(fee, dearest, order.left);
    order.cash = dollars(limit, order.left) + most;
  };
  const close = (order: Own, status: OrderRow['status'], reason: Reason, ts: number): void => {
    Object.assign(order, { state: 'done', status, reason, done_ms: ts, cash: 0, shares: 0 });
    const seat = seats[order.seat]!;
    const company = own.some(
      (one) =>
        one.state === 'resting' &&
        one.seat === order.seat &&
        one.bid === order.bid &&
        one.price === order.price,
    );
    // Nobody of ours stands there any more: what happened at that price explains nothing to whoever comes next.
    if (!company)
      seat.changes = seat.changes.filter((one) => one.bid !== order.bid || one.price !== order.price);
  };
  const end = (order: Own, status: 'cancelled' | 'expired', reason: Reason, ts: number): void => {
    close(order, status, reason, ts);
    say(status, order, ts);
  };
  const fill = (
    order: Own,
    size: number,
    price: number,
    liquidity: 'maker' | 'taker',
    ts: number,
    spent: boolean,
  ): void => {
    const seat = seats[order.seat]!;
    const { fee: rule } = seat.spec.rules;
    const p = ownTerms(order, price);
    const cost = dollars(p, size);
    const fee = liquidity === 'maker' ? 0 : takerFee(rule, p, size);
    const withheld = order.side === 'buy' && rule.taken_in === 'shares' ? Math.ceil((fee * 100) / p) : 0;
    const money = order.side === 'buy' ? -cost - (rule.taken_in === 'shares' ? 0 : fee) : cost - fee;
    seat[order.outcome] += order.side === 'buy' ? size - withheld : -size;
    seat.flow += money;
    cash += money;
    order.filled += size;
    if (order.money === null) order.left -= size;
    else {
      order.money = spent ? 0 : order.money - cost;
      const more = step(Math.floor((order.money * 100) / ownTerms(order, order.price)));
      order.left = spent ? 0 : Math.max(STEP, more);
      order.size = order.filled + order.left;
    }
    bind(order, liquidity === 'maker');
    fills.push({
      ...{
        ts_ms: ts,
        market: seat.spec.id,
        outcome: order.outcome,
        side: order.side,
        price: p,
        size,
        fee,
        liquidity,
      },
      ...{ order_id: order.order_id, tag: order.tag },
    });
    if (order.left === 0) close(order, 'filled', '', ts);
    say('fill', order, ts, { price: p, size, fee, liquidity });
    mark(ts);
  };
  /** A resting order gets up to `size`; answers what it took. */
  const make = (order: Own, size: number, ts: number): number => {
    if (step(Math.min(order.left, size)) === 0) return 0;
    const part = step(Math.min(order.left, size, order.reduce ? reducible(order) : size));
    if (part > 0) fill(order, part, order.price, 'maker', ts, false);
    if (order.state === 'resting' && order.reduce && reducible(order) < STEP)
      end(order, 'cancelled', 'reduce_only', ts);
    return part;
  };
  const opposite = (order: Own): Level[] =>
    seats[order.seat]!.levels.filter((one) => one.bid !== order.bid && one.size > one.taken)
      .filter((one) => (order.bid ? one.price <= order.price : one.price >= order.price))
      .sort((a, b) => (order.bid ? a.price - b.price : b.price - a.price));
  const ownOpposite = (order: Own): number[] =>
    resting(order.seat, !order.bid)
      .map((one) => one.price)
      .filter((price) => (order.bid ? price <= order.price : price >= order.price));
  const match = (order: Own, ts: number): void => {
    const mine = ownOpposite(order);
    const stop = mine.length === 0 ? null : order.bid ? Math.min(...mine) : Math.max(...mine);
    let shares = order.reduce ? reducible(order) : Number.POSITIVE_INFINITY;
    if (order.money === null) shares = Math.min(shares, order.left);
    let money = order.money ?? Number.POSITIVE_INFINITY;
    let complete = false;
    const takes: [Level, number][] = [];
    for (const one of opposite(order)) {
      if (complete || (stop !== null && (order.bid ? one.price >= stop : one.price <= stop))) break;
      if (one.size - one.taken < STEP) continue;
      const p = ownTerms(order, one.price);
      const affordable = money === Number.POSITIVE_INFINITY ? money : step(Math.floor((money * 100) / p));
      const size = step(Math.min(shares, affordable, one.size - one.taken));
      if (size > 0) takes.push([one, size]);
      shares -= size;
      money -= dollars(p, size);
      complete = shares < STEP || size === affordable;
    }
    const stopped = !complete && stop !== null ? 'self_trade' : '';
    if (order.tif === 'fok' && !complete) {
      end(order, 'cancelled', stopped || 'not_filled', ts);
      return;
    }
    takes.forEach(([one, size], i) => {
      one.taken += size;
      fill(order, size, one.price, 'taker', ts, complete && i === takes.length - 1);
    });
    if (order.state === 'done') return;
    if (stopped) end(order, 'cancelled', stopped, ts);
    else if (order.reduce && reducible(order) < STEP) end(order, 'cancelled', 'reduce_only', ts);
    else if (order.tif === 'ioc' || order.tif === 'fok') end(order, 'cancelled', 'not_filled', ts);
    else {
      order.state = 'resting';
      order.rested = ts;
      order.joined = ++joins;
      order.ahead = level(seats[order.seat]!, order.bid, order.price).size;
      bind(order, true);
    }
  };

  // --- requests ---
  const place = (request: Request, submitted_ms: number, ts: number): void => {
    const seat = seats[request.market]!;
    const { spec, tick } = seat;
    const outcome = request.outcome ?? 'up';
    const side = request.side ?? 'buy';
    const limit = request.limit === null ? null : onGrid(request.limit);
    const p = limit ?? (side === 'buy' ? ONE - tick : tick);
    const money = request.by_amount ? positive(Math.floor(request.size * 1e6 + 1e-3)) : null;
    const size = request.by_amount ? step(Math.floor(((money ?? 0) * 100) / p)) : shareSteps(request.size);
    const tif = request.limit === null && request.tif !== 'fok' ? 'ioc' : (request.tif ?? 'gtc');
    seat.orders++;
    const order: Own = {
      ...{
        order_id: `${spec.id}#${seat.orders}`,
        submitted_ms,
        arrived_ms: ts,
        done_ms: null,
        market: spec.id,
      },
      ...{ outcome, side, limit, size, filled: 0, tif, status: 'open', reason: '', tag: request.tag },
      ...{ number: request.number, seat: request.market, bid: (side === 'buy') === (outcome === 'up') },
      ...{
        price: outcome === 'up' ? p : ONE - p,
        left: size,
        money,
        state: 'done',
        release: 0,
        rested: 0,
        joined: 0,
        ahead: 0,
      },
      expires: tif === 'gtd' ? Math.floor(request.expire_ms / 1000) * 1000 : Number.POSITIVE_INFINITY,
      ...{ post: request.post_only, reduce: request.reduce_only, cash: 0, shares: 0 },
    };
    const rests = tif === 'gtc' || tif === 'gtd';
    const bestPrice = ownTerms(order, best(seat, !order.bid));
    const crowd = open().filter((one) => one.seat === order.seat).length;
    bind(order, false);
    const crosses = opposite(order).length > 0 || ownOpposite(order).length > 0;
    const checks: [boolean, Reason][] = [
      [!spec.tradable, 'not_tradable'],
      [ts < spec.start_ms, 'market_not_open'],
      [ts >= spec.end_ms, 'market_closed'],
      [request.side === null || request.outcome === null || request.tif === null, 'bad_order'],
      [order.post && !rests, 'bad_order'],
      [request.by_amount && (side === 'sell' || rests), 'bad_order'],
      [request.limit !== null && limit === null, 'bad_price'],
      [request.by_amount ? money === null : size === 0, 'bad_size'],
      [limit !== null && limit % tick !== 0, 'off_tick'],
      [tif === 'gtd' && !(order.expires > ts), 'expired'],
      [inGap(seat, ts), 'no_data'],
      [rests && size < spec.rules.min_size, 'below_minimum'],
      [!rests && (money ?? dollars(limit ?? bestPrice, size)) < spec.rules.min_notional, 'below_minimum'],
      [crowd >= limits.open_orders_per_market, 'too_many_orders'],
      [order.reduce && reducible(order) === 0, 'reduce_only'],
      [order.shares > seat[outcome] - lockedShares(request.market, outcome), 'insufficient_shares'],
      [order.cash > cash - lockedCash(), 'insufficient_cash'],
      [crosses && order.post, 'post_only_crosses'],
    ];
    own.push(order);
    const refused = checks.find(([bad]) => bad);
    if (refused) {
      close(order, 'rejected', refused[1], ts);
      say('rejected', order, ts);
      return;
    }
    if (!crosses) bind(order, true);
    order.state = 'held';
    order.release = ts + spec.rules.taker_delay_ms;
    const delayed = crosses && spec.rules.taker_delay_ms > 0;
    say('accepted', order, ts, delayed ? { reason: 'held' } : {});
    if (delayed) return;
    order.release = Number.POSITIVE_INFINITY;
    match(order, ts);
  };
  const fixed = (order: Own): boolean =>
    order.state === 'held' && !seats[order.seat]!.spec.rules.delay_cancellable;
  const perform = (request: Request, sent: number, ts: number): void => {
    const { number, market } = request;
    if (request.kind === 'cancel') {
      const order = own.find((one) => one.number === request.target);
      if (!order) tell('cancel_rejected', Math.max(market, 0), ts, { number, reason: 'unknown_order' });
      else if (order.state === 'done') say('cancel_rejected', order, ts, { reason: 'already_done' });
      else if (fixed(order)) say('cancel_rejected', order, ts, { reason: 'delayed' });
      else end(order, 'cancelled', 'user', ts);
    } else if (request.kind === 'cancel_all') {
      for (const order of open()) {
        if ((market >= 0 && order.seat !== market) || (request.side && order.side !== request.side)) continue;
        if (fixed(order)) say('cancel_rejected', order, ts, { reason: 'delayed' });
        else end(order, 'cancelled', 'user', ts);
      }
    } else if (!seats[market]) {
      counts.orders_without_market = (counts.orders_without_market ?? 0) + 1;
      tell('rejected', 0, ts, { number, reason: 'unknown_market' });
    } else if (request.kind === 'order') place(request, sent, ts);
    else {
      const seat = seats[market]!;
      const size = shareSteps(request.size);
      const merge = request.kind === 'merge';
      const pairsHeld = Math.min(
        seat.up - lockedShares(market, 'up'),
        seat.down - lockedShares(market, 'down'),
      );
      const checks: [boolean, Reason][] = [
        [!seat.spec.tradable, 'not_tradable'],
        [ts < seat.spec.start_ms, 'market_not_open'],
        [ts >= seat.spec.end_ms, 'market_closed'],
        [size === 0, 'bad_size'],
        [merge && pairsHeld < size, 'insufficient_shares'],
        [!merge && cash - lockedCash() < dollars(ONE, size), 'insufficient_cash'],
      ];
      const refused = checks.find(([bad]) => bad);
      if (refused) {
        tell('rejected', market, ts, { number, reason: refused[1] });
        return;
      }
      const sign = merge ? 1 : -1;
      cash += sign * dollars(ONE, size);
      seat.flow += sign * dollars(ONE, size);
      seat.up -= sign * size;
      seat.down -= sign * size;
      counts[merge ? 'merges' : 'splits'] = (counts[merge ? 'merges' : 'splits'] ?? 0) + 1;
      tell('converted', market, ts, { number, size });
      mark(ts);
    }
  };

  // --- rows ---
  /** A queue is never longer than what is shown plus what a print may yet explain. */
  const cap = (seat: Seat, index: number, ts: number): void => {
    seat.changes = seat.changes.filter((one) => one.ts >= ts - limits.bank_ms);
    for (const order of own) {
      if (order.state !== 'resting' || order.seat !== index) continue;
      order.ahead = Math.min(
        order.ahead,
        level(seat, order.bid, order.price).size + waiting(seat, order, 'shrunk'),
      );
    }
  };
  const waiting = (seat: Seat, at: { bid: boolean; price: number }, what: Change['what']): number =>
    seat.changes.reduce(
      (sum, one) => sum + (one.what === what && one.bid === at.bid && one.price === at.price ? one.left : 0),
      0,
    );
  /** Shrinkage and print are two sides of one trade: one that comes takes its other half away, the rest waits. */
  const pairOff = (seat: Seat, change: Change): void => {
    for (const other of seat.changes) {
      if (other.what === change.what || other.bid !== change.bid || other.price !== change.price) continue;
      const part = Math.min(other.left, change.left);
      other.left -= part;
      change.left -= part;
    }
    seat.changes.push(change);
  };
  const depth = (index: number, bid: boolean, price: number, size: number, ts: number): void => {
    const seat = seats[index]!;
    const at = level(seat, bid, price);
    const watched = resting(index, bid).some((one) => one.price === price);
    if (watched && size < at.size) pairOff(seat, { bid, price, ts, left: at.size - size, what: 'shrunk' });
    if (size > 0 && at.size === 0 && ts - at.emptied >= limits.refill_ms) at.taken = 0;
    if (size === 0 && at.size > 0) at.emptied = ts;
    if (size > 0) at.taken = Math.min(at.taken, size);
    at.size = size;
    if (size === 0) return;
    const met = resting(index, !bid)
      .filter((one) => (bid ? price >= one.price : price <= one.price))
      .sort((a, b) => (bid ? a.price - b.price : b.price - a.price) || a.joined - b.joined);
    for (const order of met) at.taken += make(order, at.size - at.taken, ts);
  };
  const print = (index: number, bid: boolean, price: number, size: number, ts: number): void => {
    const seat = seats[index]!;
    let budget = size;
    const through = resting(index, bid)
      .filter((one) => (bid ? one.price > price : one.price < price))
      .sort((a, b) => (bid ? b.price - a.price : a.price - b.price) || a.joined - b.joined);
    for (const order of through) {
      order.ahead = 0;
      budget -= make(order, budget, ts);
    }
    const line = resting(index, bid).filter((one) => one.price === price);
    if (line.length === 0) return;
    pairOff(seat, { bid, price, ts, left: budget, what: 'printed' });
    let gone = 0;
    for (const order of line) {
      const others = Math.min(budget, Math.max(0, order.ahead - gone));
      gone += others;
      budget -= others;
      budget -= make(order, budget, ts);
    }
    for (const order of line) order.ahead = Math.max(0, order.ahead - gone);
  };
  const row = (index: number, i: number): void => {
    const seat = seats[index]!;
    const { kind, price, size, ts } = seat.tape;
    cap(seat, index, ts[i]!);
    if (kind[i] === Row.bid || kind[i] === Row.ask)
      depth(index, kind[i] === Row.bid, price[i]!, size[i]!, ts[i]!);
    else if (kind[i] === Row.tick) {
      seat.tick = price[i]!;
      for (const order of open())
        if (order.seat === index && order.state === 'resting' && order.price % seat.tick !== 0)
          end(order, 'cancelled', 'off_tick', ts[i]!);
    } else print(index, kind[i] === Row.hitsBid, price[i]!, size[i]!, ts[i]!);
  };

  // --- all times, one after the other ---
  let last = Number.NEGATIVE_INFINITY;
  const arrivals = commands.map(({ at, request }) => {
    const leg = request.kind === 'cancel' || request.kind === 'cancel_all' ? cancel : entry;
    last = Math.max(last, at + leg(request.number));
    return { sent: at, at: last, request };
  });
  const times = new Set<number>();
  for (const { at, request } of arrivals) {
    times.add(at);
    for (const seat of seats) times.add(at + seat.spec.rules.taker_delay_ms);
    times.add(Math.floor(request.expire_ms / 1000) * 1000);
  }
  for (const { spec, tape } of seats) {
    for (const ts of tape.ts) times.add(ts);
    for (const [from] of pairs(tape)) times.add(from);
    times.add(spec.end_ms).add(spec.settle_ms);
  }
  for (let minute = 0; minute <= until; minute += 60_000) times.add(minute);

  for (const ts of [...times].filter((one) => one >= 0 && one <= until).sort((a, b) => a - b)) {
    const holding = lockedCash() > 0 || seats.some(({ up, down }) => up !== 0 || down !== 0);
    if (ts % 60_000 === 0 && holding) mark(ts);
    for (const [index, { tape }] of seats.entries())
      for (let i = 0; i < tape.length; i++) if (tape.ts[i] === ts) row(index, i);
    for (const seat of seats) {
      const [bid, ask] = [best(seat, true), best(seat, false)];
      if (bid > 0 && ask < ONE) seat.middle = bid + ask;
    }
    for (const order of open()) {
      const { spec, tape } = seats[order.seat]!;
      const gap =
        order.state === 'resting' && pairs(tape).some(([from]) => from === ts && from >= order.rested);
      if (gap && ts < Math.min(order.expires, spec.end_ms)) end(order, 'cancelled', 'no_data', ts);
      else if (order.expires === ts && ts < spec.end_ms) end(order, 'expired', 'expired', ts);
      else if (spec.end_ms === ts) end(order, 'cancelled', 'market_closed', ts);
    }
    for (const [index, seat] of seats.entries()) {
      const { spec } = seat;
      if (!spec.tradable || spec.outcome === null || spec.settle_ms !== ts) continue;
      const held = seat.up !== 0 || seat.down !== 0;
      for (const outcome of ['up', 'down'] as const) {
        const size = seat[outcome];
        if (size === 0) continue;
        const price = spec.outcome === 'split' ? ONE / 2 : spec.outcome === outcome ? ONE : 0;
        seat[outcome] = 0;
        seat.flow += dollars(price, size);
        cash += dollars(price, size);
        fills.push({
          ...{ ts_ms: ts, market: spec.id, outcome, side: 'settle', price, size, fee: 0 },
          ...{ liquidity: 'none', order_id: '', tag: '' },
        });
      }
      tell('settle', index, ts, { outcome: spec.outcome, price: spec.final ?? Number.NaN });
      if (held) mark(ts);
    }
    for (const order of own.filter((one) => one.state === 'held' && one.release === ts)) {
      const seat = seats[order.seat]!;
      if (inGap(seat, ts)) end(order, 'cancelled', 'no_data', ts);
      else if (order.limit !== null && order.limit % seat.tick !== 0) end(order, 'cancelled', 'off_tick', ts);
      else match(order, ts);
    }
    for (const { request, sent, at } of arrivals) if (at === ts) perform(request, sent, ts);
  }
  const leftover = seats.map(
    ({ up, down, middle }) =>
      Math.floor(dollars(middle, up) / 2) + Math.floor(dollars(2 * ONE - middle, down) / 2),
  );
  return {
    orders: own.map(rowOf),
    fills,
    marks,
    told: seenOrder(told),
    counts,
    cash,
    positions: seats.map(({ up, down, flow }, index) => ({ up, down, flow, pnl: flow + leftover[index]! })),
    leftover: leftover.reduce((sum, one) => sum + one, 0),
    lastSeen: seen,
  };
}

/** By the time at which the strategy learns of them; settlements last in their millisecond. */
export const seenOrder = <E extends { ts: number; kind: string }>(events: readonly E[]): E[] =>
  [...events].sort((a, b) => a.ts - b.ts || Number(a.kind === 'settle') - Number(b.kind === 'settle'));

const pairs = ({ gaps }: Tape): [number, number][] =>
  Array.from({ length: gaps.length / 2 }, (_, i) => [gaps[2 * i]!, gaps[2 * i + 1]!]);

const onGrid = (value: number): number | null => {
  const price = Math.round(value * ONE);
  return Math.abs(value * ONE - price) < 1e-6 && price > 0 && price < ONE ? price : null;
};
const positive = (value: number): number | null => (Number.isSafeInteger(value) && value > 0 ? value : null);
const shareSteps = (value: number): number => {
  const size = Math.floor(value * 100 + 1e-6) * STEP;
  return Number.isSafeInteger(size) && size > 0 && size < 1e15 ? size : 0;
};

function rowOf(order: Own): OrderRow {
  const { order_id, submitted_ms, arrived_ms, done_ms, market, outcome, side, limit, size, filled } = order;
  const { tif, status, reason, tag } = order;
  return {
    order_id,
    submitted_ms,
    arrived_ms,
    done_ms,
    market,
    outcome,
    side,
    limit,
    size,
    filled,
    tif,
    status,
    reason,
    tag,
  };
}
