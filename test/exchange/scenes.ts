import fc from 'fast-check';
import { execution, type Leg } from '../../contract/index.ts';
import type { PrivateEvent } from '../../src/exchange/journal.ts';
import type { MarketSpec } from '../../src/exchange/market.ts';
import type { Request } from '../../src/exchange/order.ts';
import type { Rules } from '../../src/exchange/rules.ts';
import { Row, type Tape } from '../../src/exchange/tape.ts';
import { type Answer, Venue, type VenueOptions } from '../../src/exchange/venue.ts';
import type { Timed } from './oracle.ts';

/** A tape row as a test writes it: canonical prices in cents, sizes in shares; `tick` sets the grid, in cents. */
export type TapeRow = readonly [ts: number, kind: keyof typeof Row, price: number, size?: number];

export function tapeOf(rows: readonly TapeRow[], gaps: readonly number[] = []): Tape {
  const column = <T>(of: (row: TapeRow) => T): T[] => rows.map(of);
  return {
    length: rows.length,
    ts: Float64Array.from(column(([ts]) => ts)),
    kind: Uint8Array.from(column(([, kind]) => Row[kind])),
    price: Uint16Array.from(column(([, , price]) => Math.round(price * 100))),
    size: Float64Array.from(column(([, , , size]) => Math.round((size ?? 0) * 10_000))),
    gaps: Float64Array.from(gaps),
  };
}

/** A tape as a failing test shows it. */
const textOf = ({ ts, kind, price, size, gaps }: Tape): string[] => [
  ...Array.from(ts, (at, i) => `${at} ${Object.keys(Row)[kind[i]!]} ${price[i]} ${size[i]}`),
  `gaps ${gaps.join(' ')}`,
];

/** Rules without fee, delay or least sizes: a test states what it is about. */
export const plainRules: Rules = {
  tick: 100,
  min_size: 100,
  min_notional: 1,
  fee: { curve: 'quadratic', rate: 0, taken_in: 'cash' },
  taker_delay_ms: 0,
  delay_cancellable: true,
  unknown: [],
};

export const plainMarket = (tape: Tape, changes: Partial<MarketSpec> = {}): MarketSpec => ({
  id: 'm',
  start_ms: 0,
  end_ms: 100_000,
  outcome: null,
  final: null,
  settle_ms: 100_000,
  tradable: true,
  rules: plainRules,
  tape: () => tape,
  ...changes,
});

export interface Legs {
  readonly entry: Leg;
  readonly cancel: Leg;
  readonly response: Leg;
}

export const venueOptions = (
  markets: readonly MarketSpec[],
  legs: Legs = { entry: 0, cancel: 0, response: 0 },
  changes: Partial<VenueOptions> = {},
): VenueOptions => ({
  execution: execution.parse({ latency_ms: { feed: 0, ...legs } }),
  limits: { open_orders_per_market: 4, bank_ms: 800, refill_ms: 1000 },
  seed: 7,
  capital: 1_000_000_000,
  markets,
  portfolio: 3,
  ...changes,
});

export const request = (changes: Partial<Request>): Request => ({
  ...{ number: 1, kind: 'order', market: 0, side: 'buy', outcome: 'up', tif: 'gtc', post_only: false },
  ...{
    reduce_only: false,
    limit: null,
    size: 10,
    by_amount: false,
    expire_ms: Number.NaN,
    target: 0,
    tag: '',
  },
  ...changes,
});

/** Where time may be cut: before each command, so many asks, each so far into what is promised (0 to 1). */
export interface Cuts {
  readonly at: readonly { readonly part: number; readonly asked: boolean }[];
}

export interface Driven {
  readonly venue: Venue;
  /** As they were told. */
  readonly events: readonly PrivateEvent[];
  readonly stop: number;
  /** The commands that were sent before the stop. */
  readonly sent: readonly Timed[];
  /** What the promises were worth; empty when every one was kept. */
  readonly broken: readonly string[];
}

/**
 * Plays the box: sends each command at its time, which is never after the last promise, asks for more where the promise
 * ends, and goes on until it is stopped.
 */
export function drive(options: VenueOptions, commands: readonly Timed[], cuts: Cuts = { at: [] }): Driven {
  const venue = new Venue(options);
  const events: PrivateEvent[] = [];
  const broken: string[] = [];
  const sent: Timed[] = [];
  let now = 0;
  let promise = 0;
  let free = true;
  let cut = 0;
  const hear = (answer: Answer): void => {
    if (answer.promise < now) broken.push(`promise ${answer.promise} lies before ${now}`);
    // A command may bring forward what comes next; nothing else may.
    const least = free ? now : promise;
    for (const event of answer.events) {
      if (event.ts < least && event.kind !== 'stop')
        broken.push(`${event.kind} at ${event.ts} was told after ${least}`);
      if (event.ts >= answer.promise) broken.push(`${event.kind} at ${event.ts} lies past ${answer.promise}`);
    }
    if (!free && answer.promise < promise) broken.push(`promise fell from ${promise} to ${answer.promise}`);
    events.push(...answer.events);
    promise = answer.promise;
    free = false;
  };
  const goTo = (target: number): void => {
    const { part, asked } = cuts.at[cut++ % Math.max(1, cuts.at.length)] ?? { part: 1, asked: true };
    const most = Math.min(promise, target);
    const next = Math.floor(now + (most - now) * part);
    // A box that is not done with a millisecond only speaks to send something; asking early is asking for less.
    now = cuts.at.length === 0 || next <= now ? most : next;
    hear(venue.advance(now, asked || now === promise));
  };
  for (const [i, { at }] of commands.entries()) {
    if (i > 0 && at === commands[i - 1]!.at) continue;
    while (promise < at) goTo(at);
    if (promise === Number.POSITIVE_INFINITY) break;
    if (cuts.at.length > 0)
      while (now < at && at < promise && cuts.at[cut % cuts.at.length]!.part < 0.8) goTo(at);
    now = at;
    const together = commands.filter((one) => one.at === at);
    sent.push(...together);
    venue.submit(
      now,
      together.map((one) => one.request),
    );
    free = true;
    hear(venue.advance(now, false));
  }
  for (let turn = 0; promise < Number.POSITIVE_INFINITY; turn++) {
    if (turn > 100_000) throw new Error(`no stop: at ${now}, promised ${promise}`);
    goTo(promise);
  }
  const stops = events.filter((event) => event.kind === 'stop');
  if (stops.length !== 1) broken.push(`${stops.length} stops`);
  if (events.at(-1)?.kind !== 'stop') broken.push(`the last event is no stop`);
  return { venue, events: events.filter((event) => event.kind !== 'stop'), stop: now, sent, broken };
}

// --- random worlds: few prices and small sizes, so that everything meets ---

/** Mostly `usual`, now and then `odd`. */
const mostly = <T>(weight: number, usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: odd });
const one = fc.constantFrom;

const leg = one<Leg>(0, 0, 1, 50, 100, 250, 900, { p50: 40, p99: 400 });
const shares = one(0, 0, 5, 10, 10, 20, 30, 50, 7.5, 0.005, 12.3456);
const bidCents = mostly(12, one(46, 47, 48, 49, 49), one(50, 51, 48.1));
const askCents = mostly(12, one(51, 51, 52, 53, 54), one(50, 49, 52.5));
const anyCents = one(47, 48, 49, 50, 50, 51, 52, 53);
const waits = one(0, 0, 0, 1, 10, 50, 100, 300, 500, 801, 1100, 4000);
const level = (kind: 'bid' | 'ask') =>
  fc.record({ wait: waits, kind: one(kind), price: kind === 'bid' ? bidCents : askCents, size: shares });
const print = fc.record({
  wait: waits,
  kind: one<'hitsBid' | 'hitsAsk'>('hitsBid', 'hitsAsk'),
  price: anyCents,
  size: shares,
});
const grid = fc.record({ wait: waits, kind: one('tick' as const), price: one(1, 0.1), size: one(0) });
/** A level, a trade at it and the change that the trade made of it, in either order. */
const trade = fc
  .record({
    wait: waits,
    lag: one(0, 20, 300, 800, 801),
    bid: fc.boolean(),
    away: one(0, 0, 0, 1),
    size: one(5, 10, 30, 45),
    left: one(0, 5, 40, 100),
    changeFirst: fc.boolean(),
    shown: fc.boolean(),
  })
  .map(({ wait, lag, bid, away, size, left, changeFirst, shown }) => {
    const price = bid ? 49 - away : 51 + away;
    const side = bid ? 'bid' : 'ask';
    const print = { kind: bid ? 'hitsBid' : 'hitsAsk', price, size } as const;
    const change = { kind: side, price, size: left } as const;
    const [first, second] = changeFirst ? [change, print] : [print, change];
    const level = shown ? [{ wait, kind: side, price, size: left + size } as const] : [];
    return [...level, { wait, ...first }, { wait: lag, ...second }];
  });
const row: fc.Arbitrary<{ wait: number; kind: keyof typeof Row; price: number; size: number }[]> = fc.oneof(
  { weight: 9, arbitrary: level('bid').map((one) => [one]) },
  { weight: 9, arbitrary: level('ask').map((one) => [one]) },
  { weight: 8, arbitrary: print.map((one) => [one]) },
  { weight: 8, arbitrary: trade },
  { weight: 1, arbitrary: grid.map((one) => [one]) },
);

const rules = fc.record({
  tick: mostly(3, one(100), one(10)),
  min_size: one(100, 50_000),
  min_notional: one(1, 1_000_000),
  fee: fc.record({
    curve: one<'quadratic' | 'linear' | 'notional'>('quadratic', 'linear', 'notional'),
    rate: one(0, 70_000, 72_000, 250_000),
    taken_in: one<'cash' | 'shares'>('cash', 'shares'),
  }),
  taker_delay_ms: one(0, 0, 250, 250, 3000),
  delay_cancellable: fc.boolean(),
  unknown: one([] as readonly string[]),
});

const FIRST_MS = 50_000;
const market = fc
  .record({
    rules,
    rows: fc.array(row, { maxLength: 50, size: 'max' }),
    first: mostly(4, one(40_000), one(48_000, FIRST_MS)),
    /** The book at the first row: bids at and under 49, asks at and above 51. */
    seed: fc.array(fc.tuple(fc.nat(3), one(5, 10, 30, 100)), { maxLength: 8, size: 'max' }),
    life: one(5_000, 15_000, 30_000),
    outcome: one<MarketSpec['outcome']>('up', 'down', 'split', null),
    final: one(null, 101.5),
    settles: one(0, 0, 500, 20_000),
    tradable: mostly(20, one(true), one(false)),
    gaps: mostly(
      6,
      one<[number, number][]>([]),
      fc.array(fc.tuple(fc.nat(20_000), fc.integer({ min: 1, max: 4000 })), { maxLength: 1 }),
    ),
  })
  .map(({ rows, first, seed, life, settles, gaps, ...spec }) => {
    const start_ms = FIRST_MS;
    const end_ms = start_ms + life;
    const tape: TapeRow[] = seed.map(([away, size], i) => [
      first,
      i % 2 ? 'ask' : 'bid',
      i % 2 ? 51 + away : 49 - away,
      size,
    ]);
    let ts = start_ms - 2000;
    for (const { wait, kind, price, size } of rows.flat()) {
      ts = Math.max(first, ts + wait);
      const empty = size === 0 && (kind === 'hitsBid' || kind === 'hitsAsk');
      if (ts <= end_ms && !empty) tape.push([ts, kind, price, size]);
    }
    const made = tapeOf(
      tape,
      gaps.flatMap(([from, length]) => [start_ms + from, start_ms + from + length]),
    );
    return { start_ms, end_ms, settle_ms: end_ms + settles, tape: () => made, ...spec };
  });

const command = fc.record({
  wait: mostly(30, one(0, 0, 1, 30, 100, 250, 700, 1500), one(6000)),
  kind: fc.oneof(
    { weight: 12, arbitrary: one<Request['kind']>('order') },
    { weight: 3, arbitrary: one<Request['kind']>('cancel') },
    { weight: 1, arbitrary: one<Request['kind']>('cancel_all', 'merge', 'split') },
  ),
  market: mostly(30, one(0, 0, 1, 2), one(-1)),
  side: mostly(40, one<Request['side']>('buy', 'sell'), one(null)),
  outcome: mostly(40, one<Request['outcome']>('up', 'down'), one(null)),
  tif: mostly(40, one<Request['tif']>('gtc', 'gtc', 'gtc', 'gtc', 'gtd', 'ioc', 'fok'), one(null)),
  post_only: mostly(8, one(false), one(true)),
  reduce_only: mostly(6, one(false), one(true)),
  limit: fc.oneof(
    { weight: 20, arbitrary: anyCents.map((value) => value / 100) },
    { weight: 3, arbitrary: one(null) },
    { weight: 1, arbitrary: one(0, 1, -0.5, Number.NaN, 0.50005, 0.502, Number.POSITIVE_INFINITY) },
  ),
  size: mostly(
    30,
    one(5, 5, 8, 10, 20, 40, 60, 10.05, 3.333),
    one(0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e18, 0.001),
  ),
  by_amount: mostly(8, one(false), one(true)),
  expire: mostly(20, one(500, 1500, 4000), one(Number.NaN)),
  /** How many commands ago the order was sent that a cancel names. */
  target: mostly(20, fc.nat(4), one(99)),
});

/** The same order as one that rests, at the best price of its side or the next. */
function atTheSpread({
  side,
  outcome,
  size,
  tif,
}: Pick<Request, 'side' | 'outcome' | 'size' | 'tif'>): Partial<Request> {
  const bid = (side === 'buy') === (outcome === 'up');
  const price = (bid ? 49 : 51) + (size === 10 ? (bid ? -1 : 1) : 0);
  const limit = (outcome === 'up' ? price : 100 - price) / 100;
  return { limit, by_amount: false, tif: tif === 'gtd' ? tif : 'gtc' };
}

/** Up to three markets, commands of every kind and the clock they are sent by. */
export const world = fc
  .record({
    markets: fc.array(market, { minLength: 1, maxLength: 3, size: 'max' }),
    legs: fc.record({ entry: leg, cancel: leg, response: leg }),
    commands: fc.array(command, { maxLength: 40, size: 'max' }),
    begin: mostly(4, one(FIRST_MS, FIRST_MS + 500), one(FIRST_MS - 1000)),
    capital: mostly(3, one(1_000_000_000), one(20_000_000)),
    seed: fc.nat(1000),
    shares: fc.boolean(),
    /** Only orders that join the queue next to the spread. */
    calm: fc.boolean(),
  })
  .map(({ markets, legs, commands, begin, capital, seed, shares, calm }) => {
    const specs = markets.map((spec, index) => ({ ...spec, id: `m${index}` }));
    // Somebody must trade, else there is nothing to stop for.
    if (specs.every((spec) => !spec.tradable)) specs[0] = { ...specs[0]!, tradable: true };
    let at = begin;
    const timed: Timed[] = [];
    const send = (changes: Partial<Request>): void => {
      timed.push({ at, request: request({ number: timed.length + 1, ...changes }) });
    };
    // Pairs to sell, so that sells are no rarity.
    if (shares)
      specs.forEach((_, index) => void send({ kind: 'split', market: index, size: 60 / specs.length }));
    for (const { wait, expire, ...what } of commands) {
      at += wait;
      send({
        ...what,
        ...(calm && what.kind === 'order' ? atTheSpread(what) : {}),
        market: Math.min(what.market, specs.length - 1),
        target: timed.length - what.target,
        expire_ms: at + expire,
        tag: `t${timed.length}`,
      });
    }
    return {
      options: venueOptions(specs, legs, { capital, seed }),
      commands: timed,
      tapes: specs.map(({ tape }) => textOf(tape())),
    };
  });

export const cuts: fc.Arbitrary<Cuts> = fc.record({
  at: fc.array(fc.record({ part: fc.double({ min: 0, max: 1, noNaN: true }), asked: fc.boolean() }), {
    minLength: 1,
    maxLength: 12,
  }),
});

/** Ten times as many runs while hunting: RUNS=10 npx vitest run test/exchange. */
export const runs = (count: number): { numRuns: number } => ({
  numRuns: count * Number(process.env.RUNS ?? 1),
});
