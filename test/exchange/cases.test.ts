import { describe, expect, test } from 'vitest';
import type { MarketSpec } from '../../src/exchange/market.ts';
import type { Request } from '../../src/exchange/order.ts';
import { rulesOf } from '../../src/exchange/rules.ts';
import {
  drive,
  type Legs,
  plainMarket,
  plainRules,
  request,
  type TapeRow,
  tapeOf,
  venueOptions,
} from './scenes.ts';

type Send = readonly [at: number, what: Partial<Request>];
interface Scene {
  readonly rows: readonly TapeRow[];
  readonly sends: readonly Send[];
  readonly gaps?: readonly number[];
  readonly rules?: Partial<MarketSpec['rules']>;
  readonly market?: Partial<MarketSpec>;
  readonly legs?: Legs;
  readonly capital?: number;
}

/** Plays a scene and answers in cents, shares and dollars what became of each order. */
function play({ rows, sends, gaps = [], rules = {}, market = {}, legs, capital = 1000 }: Scene) {
  const spec = plainMarket(tapeOf(rows, gaps), { rules: { ...plainRules, ...rules }, ...market });
  const commands = sends.map(([at, what], i) => ({ at, request: request({ ...what, number: i + 1 }) }));
  const options = venueOptions([spec], legs, { capital: capital * 1e6 });
  const { venue, events, broken, stop } = drive(options, commands);
  expect(broken).toEqual([]);
  const { orders, pnl } = venue.finish(stop);
  return {
    fills: venue.journal.fills
      .filter((fill) => fill.side !== 'settle')
      .map(({ ts_ms, order_id, price, size }) => [
        ts_ms,
        Number(order_id.split('#')[1]),
        price / 100,
        size / 10_000,
      ]),
    orders: orders.map(({ status, reason, filled }) => [status, reason, filled / 10_000]),
    fees: venue.journal.fills.map((fill) => fill.fee / 1e6),
    told: events.map(({ kind, reason, ts }) => [ts, kind, reason]),
    events,
    cash: venue.portfolio.cash / 1e6,
    up: venue.portfolio.positions[0]!.up / 10_000,
    down: venue.portfolio.positions[0]!.down / 10_000,
    pnl: pnl(0) / 1e6,
    counts: venue.journal.counts,
  };
}

const buy = (limit: number | null, size: number, more: Partial<Request> = {}): Partial<Request> => ({
  limit,
  size,
  ...more,
});
const sell = (limit: number | null, size: number, more: Partial<Request> = {}): Partial<Request> => ({
  ...{ side: 'sell', limit, size },
  ...more,
});
const split = (size: number): Partial<Request> => ({ kind: 'split', size });
const book = (bid: number, ask: number, bidSize = 100, askSize = 100): TapeRow[] => [
  [0, 'bid', bid, bidSize],
  [0, 'ask', ask, askSize],
];

describe('making: queue position', () => {
  test('behind 100 shown, own 50: prints of 80, 30 and 50 fill 0, 10 and 40', () => {
    const { fills } = play({
      rows: [
        ...book(50, 52),
        [1000, 'hitsBid', 50, 80],
        [2000, 'hitsBid', 50, 30],
        [3000, 'hitsBid', 50, 50],
      ],
      sends: [[10, buy(0.5, 50)]],
    });
    expect(fills).toEqual([
      [2000, 1, 50, 10],
      [3000, 1, 50, 40],
    ]);
  });

  test('a sell of 30 strictly through a bid of 50 behind 100 fills 30, at the bid', () => {
    const { fills } = play({
      rows: [...book(50, 52), [1000, 'hitsBid', 49, 30]],
      sends: [[10, buy(0.5, 50)]],
    });
    expect(fills).toEqual([[1000, 1, 50, 30]]);
  });

  test('a print through several prices is one budget, and clears every queue on its way', () => {
    const { fills } = play({
      rows: [...book(50, 52), [0, 'bid', 49, 100], [1000, 'hitsBid', 48, 30], [2000, 'hitsBid', 49, 10]],
      sends: [
        [10, buy(0.5, 20)],
        [10, buy(0.49, 25)],
      ],
    });
    expect(fills).toEqual([
      [1000, 1, 50, 20],
      [1000, 2, 49, 10],
      [2000, 2, 49, 10],
    ]);
  });

  test('a bid at 0.50 meets a new ask of 30 at 0.50 and fills 30', () => {
    const { fills } = play({
      rows: [...book(50, 52), [1000, 'ask', 50, 30]],
      sends: [[10, buy(0.5, 50)]],
    });
    expect(fills).toEqual([[1000, 1, 50, 30]]);
  });

  test('a new ask below a bid fills it at the bid, and what it gave is gone', () => {
    const { fills } = play({
      rows: [...book(50, 52), [1000, 'ask', 48, 30], [2000, 'ask', 48, 40]],
      sends: [
        [10, buy(0.5, 50)],
        [1500, buy(0.48, 20, { tif: 'ioc' })],
      ],
    });
    expect(fills).toEqual([
      [1000, 1, 50, 30],
      [2000, 1, 50, 10],
    ]);
  });

  test('shrinkage alone never fills', () => {
    const { fills } = play({
      rows: [...book(50, 52), [1000, 'bid', 50, 0], [5000, 'bid', 50, 40], [6000, 'bid', 50, 0]],
      sends: [[10, buy(0.5, 50)]],
    });
    expect(fills).toEqual([]);
  });

  test('a cancel behind an order does not eat its next print', () => {
    const { fills } = play({
      rows: [
        ...book(50, 52),
        [1000, 'bid', 50, 150],
        [1100, 'bid', 50, 100],
        [1200, 'hitsBid', 50, 100],
        [1210, 'bid', 50, 0],
        [1300, 'hitsBid', 50, 20],
      ],
      sends: [[10, buy(0.5, 50)]],
    });
    expect(fills).toEqual([[1300, 1, 50, 20]]);
  });

  test.each([
    [
      'its book change came first',
      [
        [1000, 'bid', 50, 70],
        [1020, 'hitsBid', 50, 30],
      ],
    ],
    [
      'its print came first',
      [
        [1000, 'hitsBid', 50, 30],
        [1020, 'bid', 50, 70],
      ],
    ],
  ] as [string, TapeRow[]][])('a trade is counted once when %s', (_, trade) => {
    const { fills } = play({
      rows: [...book(50, 52), ...trade, [3000, 'hitsBid', 50, 70], [4000, 'hitsBid', 50, 5]],
      sends: [[10, buy(0.5, 50)]],
    });
    expect(fills).toEqual([[4000, 1, 50, 5]]);
  });

  test('shrinkage that no print explained within 800 ms was ahead only as far as the level still shows', () => {
    const rows = (print: number): TapeRow[] => [
      ...book(50, 52),
      [1000, 'bid', 50, 70],
      [print, 'hitsBid', 50, 75],
    ];
    expect(play({ rows: rows(1800), sends: [[10, buy(0.5, 50)]] }).fills).toEqual([]);
    expect(play({ rows: rows(1801), sends: [[10, buy(0.5, 50)]] }).fills).toEqual([[1801, 1, 50, 5]]);
  });

  test('two own orders in one line share one print, the earlier one first', () => {
    const { fills } = play({
      rows: [...book(50, 52), [1000, 'hitsBid', 50, 130]],
      sends: [
        [10, buy(0.5, 20)],
        [20, buy(0.5, 20)],
      ],
    });
    expect(fills).toEqual([
      [1000, 1, 50, 20],
      [1000, 2, 50, 10],
    ]);
  });

  test('asks for up and bids for down stand in one line', () => {
    const { fills } = play({
      rows: [...book(48, 50, 100, 10), [1000, 'hitsAsk', 50, 40]],
      sends: [
        [5, split(20)],
        [10, sell(0.5, 20)],
        [20, buy(0.5, 20, { outcome: 'down' })],
      ],
    });
    expect(fills).toEqual([
      [1000, 1, 50, 20],
      [1000, 2, 50, 10],
    ]);
  });
});

describe('taking: what was taken stays taken', () => {
  const take = (size: number): Partial<Request> => buy(0.5, size, { tif: 'ioc' });

  test('a level of 100 has 20 left after own takes of 30 and 50', () => {
    const { fills } = play({
      rows: book(48, 50),
      sends: [
        [10, take(30)],
        [20, take(50)],
        [30, take(50)],
      ],
    });
    expect(fills.map((fill) => fill[3])).toEqual([30, 50, 20]);
  });

  test('when a consumed level of 100 grows to 120 it gives 20 more, not 120', () => {
    const { fills } = play({
      rows: [...book(48, 50), [1000, 'ask', 50, 120]],
      sends: [
        [10, take(100)],
        [2000, take(200)],
      ],
    });
    expect(fills.map((fill) => fill[3])).toEqual([100, 20]);
  });

  test('a consumed level that is empty for under a second comes back consumed, after a second anew', () => {
    const back = (at: number): unknown[] =>
      play({
        rows: [...book(48, 50), [1000, 'ask', 50, 0], [at, 'ask', 50, 100]],
        sends: [
          [10, take(100)],
          [5000, take(100)],
        ],
      }).fills.map((fill) => fill[3]);
    expect(back(1999)).toEqual([100]);
    expect(back(2000)).toEqual([100, 100]);
  });

  test('a level that flickers is stepped over: nobody gets more than was asked for', () => {
    const { fills } = play({
      rows: [...book(48, 50), [0, 'ask', 51, 300], [1000, 'ask', 50, 0]],
      sends: [
        [10, take(100)],
        [1500, buy(0.51, 50, { tif: 'ioc' })],
      ],
    });
    expect(fills.map((fill) => fill[3])).toEqual([100, 50]);
  });

  test('an order walks level by level and never past its limit; gtc rests what is left, ioc drops it', () => {
    const rows: TapeRow[] = [...book(48, 50, 100, 10), [0, 'ask', 51, 10], [0, 'ask', 52, 10]];
    const rested = play({ rows: [...rows, [1000, 'hitsBid', 51, 5]], sends: [[10, buy(0.51, 30)]] });
    expect(rested.fills).toEqual([
      [10, 1, 50, 10],
      [10, 1, 51, 10],
      [1000, 1, 51, 5],
    ]);
    expect(play({ rows, sends: [[10, buy(0.51, 30, { tif: 'ioc' })]] }).orders).toEqual([
      ['cancelled', 'not_filled', 20],
    ]);
  });

  test('fok is all or nothing', () => {
    const { orders } = play({
      rows: book(48, 50),
      sends: [
        [10, buy(0.5, 101, { tif: 'fok' })],
        [20, buy(0.5, 100, { tif: 'fok' })],
      ],
    });
    expect(orders).toEqual([
      ['cancelled', 'not_filled', 0],
      ['filled', '', 100],
    ]);
  });

  test('a market buy of 10 dollars gets what 10 dollars buy, down to 0.01 shares', () => {
    const { fills, cash } = play({
      rows: [...book(48, 50, 100, 10), [0, 'ask', 51, 100]],
      sends: [[10, buy(null, 10, { tif: 'ioc', by_amount: true })]],
    });
    expect(fills).toEqual([
      [10, 1, 50, 10],
      [10, 1, 51, 9.8],
    ]);
    expect(cash).toBeCloseTo(1000 - 5 - 4.998, 9);
  });

  test('buying up at p and buying down at 1 - p take from one book: no liquidity counts twice', () => {
    const { fills } = play({
      rows: book(48, 50),
      sends: [
        [10, sell(0.48, 60, { side: 'buy', outcome: 'down', limit: 0.52, tif: 'ioc' })],
        [15, split(100)],
        [20, sell(0.48, 60, { tif: 'ioc' })],
      ],
    });
    expect(fills).toEqual([
      [10, 1, 52, 60],
      [20, 2, 48, 40],
    ]);
  });

  test('own orders do not trade with each other: the newest gives way', () => {
    const { orders, fills } = play({
      rows: book(48, 52),
      sends: [
        [5, split(50)],
        [10, sell(0.5, 20)],
        [20, buy(0.51, 30)],
      ],
    });
    expect(fills).toEqual([]);
    expect(orders).toEqual([
      ['cancelled', 'market_closed', 0],
      ['cancelled', 'self_trade', 0],
    ]);
  });
});

describe('fees', () => {
  const fee = { curve: 'quadratic', rate: 72_000, taken_in: 'cash' } as const;

  test.each([
    [50, 1.8],
    [30, 1.512],
  ])('100 shares at %i cents and a rate of 0.072 pay %d dollars', (ask, paid) => {
    const { fees, cash } = play({
      rows: book(10, ask),
      rules: { fee },
      sends: [[10, buy(ask / 100, 100, { tif: 'ioc' })]],
    });
    expect(fees).toEqual([paid]);
    expect(cash).toBeCloseTo(1000 - ask - paid, 9);
  });

  test('a fee in shares leaves the cash alone and gives a buyer less', () => {
    const { up, cash } = play({
      rows: book(10, 50),
      rules: { fee: { ...fee, taken_in: 'shares' } },
      sends: [[10, buy(0.5, 100, { tif: 'ioc' })]],
    });
    expect([up, cash]).toEqual([96.4, 950]);
  });

  test('makers pay nothing', () => {
    const { fees } = play({
      rows: [...book(48, 52), [1000, 'hitsBid', 49, 100]],
      rules: { fee },
      sends: [[10, buy(0.5, 100)]],
    });
    expect(fees).toEqual([0]);
  });

  test("a venue's rules are those of the day: rate, what they are taken in, and the delay", () => {
    const own = { tick_size: 0.01, min_size: 5, fee_rate: null, taker_delay_ms: null };
    const overrides = { taker_delay_ms: 'venue', fees: 'venue' } as const;
    const on = (date: string) => {
      const { fee: rule, delay_cancellable } = rulesOf('venue_a', date, own, overrides);
      return [rule.rate, rule.taken_in, delay_cancellable];
    };
    expect(on('2026-04-16')).toEqual([72_000, 'shares', true]);
    expect(on('2026-05-01')).toEqual([72_000, 'cash', true]);
    expect(on('2026-06-05')).toEqual([70_000, 'cash', false]);
    expect(rulesOf('venue_a', '2026-06-05', { ...own, fee_rate: 0.05 }, overrides).fee.rate).toBe(50_000);
    expect(rulesOf('venue_b', '2026-06-05', own, overrides).unknown).toContain('fee_rate');
  });
});

describe('what an order may not do', () => {
  const quiet = book(48, 52);

  test('post_only that would cross is rejected, next to the spread it rests', () => {
    const { orders } = play({
      rows: quiet,
      sends: [
        [10, buy(0.52, 10, { post_only: true })],
        [10, buy(0.51, 10, { post_only: true })],
      ],
    });
    expect(orders).toEqual([
      ['rejected', 'post_only_crosses', 0],
      ['cancelled', 'market_closed', 0],
    ]);
  });

  test('gtd expires at its time, floored to seconds', () => {
    const { told } = play({ rows: quiet, sends: [[10, buy(0.5, 10, { tif: 'gtd', expire_ms: 7999 })]] });
    expect(told).toEqual([
      [10, 'accepted', ''],
      [7000, 'expired', 'expired'],
    ]);
  });

  test('a gtd order that would expire on arrival is rejected', () => {
    const { orders } = play({ rows: quiet, sends: [[10, buy(0.5, 10, { tif: 'gtd', expire_ms: 999 })]] });
    expect(orders).toEqual([['rejected', 'expired', 0]]);
  });

  test('reduce_only goes to flat and never through it, in either outcome', () => {
    const { fills, orders, up, down } = play({
      rows: quiet,
      sends: [
        [10, buy(0.52, 30, { tif: 'ioc' })],
        [20, buy(0.52, 50, { outcome: 'down', reduce_only: true })],
        [30, sell(0.48, 10, { reduce_only: true })],
      ],
    });
    expect(fills.map((fill) => fill[3])).toEqual([30, 30]);
    expect(orders.slice(1)).toEqual([
      ['cancelled', 'reduce_only', 30],
      ['rejected', 'reduce_only', 0],
    ]);
    expect([up, down]).toEqual([30, 30]);
  });

  test('a resting reduce_only order is cancelled when there is nothing left to reduce', () => {
    const { fills, orders } = play({
      rows: [...quiet, [1000, 'hitsAsk', 51, 40]],
      sends: [
        [10, buy(0.52, 30, { tif: 'ioc' })],
        [20, buy(0.5, 50, { outcome: 'down', reduce_only: true })],
      ],
    });
    expect(fills.at(-1)).toEqual([1000, 2, 50, 30]);
    expect(orders[1]).toEqual(['cancelled', 'reduce_only', 30]);
  });

  test('an order that arrives after the end is rejected, at the end too', () => {
    const { orders } = play({
      rows: quiet,
      legs: { entry: 100, cancel: 0, response: 0 },
      sends: [
        [99_899, buy(0.5, 10)],
        [99_900, buy(0.5, 10)],
      ],
    });
    expect(orders).toEqual([
      ['cancelled', 'market_closed', 0],
      ['rejected', 'market_closed', 0],
    ]);
  });

  test('inside a gap orders are rejected, and resting ones are cancelled where it starts', () => {
    const { told } = play({
      rows: quiet,
      gaps: [20_000, 40_000],
      sends: [
        [10, buy(0.5, 10)],
        [30_000, buy(0.5, 10)],
        [40_000, buy(0.5, 10)],
      ],
    });
    expect(told.slice(0, 4)).toEqual([
      [10, 'accepted', ''],
      [20_000, 'cancelled', 'no_data'],
      [30_000, 'rejected', 'no_data'],
      [40_000, 'accepted', ''],
    ]);
  });

  test('cash is reserved at the limit plus the greatest fee on the way there', () => {
    const rules = { fee: { curve: 'quadratic', rate: 72_000, taken_in: 'cash' } } as const;
    const scene = { rows: book(48, 50), rules, sends: [[10, buy(0.8, 100, { tif: 'ioc' })]] as Send[] };
    // 80 dollars and, since it may fill at 0.50, 1.80 of fee.
    expect(play({ ...scene, capital: 81.79 }).orders).toEqual([['rejected', 'insufficient_cash', 0]]);
    const bought = play({ ...scene, capital: 81.8 });
    expect(bought.orders).toEqual([['filled', '', 100]]);
    expect(bought.events[0]!.available).toBe(-81_800_000);
    expect(bought.cash).toBeCloseTo(30, 9);
  });

  test('an order that rests at once is told to reserve its limit and no fee, since makers pay none', () => {
    const rules = { fee: { curve: 'quadratic', rate: 72_000, taken_in: 'cash' } } as const;
    const { events } = play({ rows: book(48, 50), rules, sends: [[10, buy(0.4, 100)]] });
    expect(events[0]).toMatchObject({ kind: 'accepted', available: -40_000_000 });
  });

  test('an open sell reserves its shares', () => {
    const { orders } = play({
      rows: quiet,
      sends: [
        [5, split(30)],
        [10, sell(0.6, 20)],
        [20, sell(0.6, 20)],
        [30, { kind: 'merge', size: 20 }],
      ],
    });
    expect(orders[1]).toEqual(['rejected', 'insufficient_shares', 0]);
  });

  test('a coarser grid cancels what is off it, a finer one nothing', () => {
    const { orders } = play({
      rows: [...quiet, [1000, 'tick', 0.1], [5000, 'tick', 1]],
      sends: [
        [10, buy(0.5, 10)],
        [2000, buy(0.495, 10)],
        [6000, buy(0.495, 10)],
      ],
    });
    expect(orders).toEqual([
      ['cancelled', 'market_closed', 0],
      ['cancelled', 'off_tick', 0],
      ['rejected', 'off_tick', 0],
    ]);
  });
});

describe('time', () => {
  const rules = { taker_delay_ms: 250 };

  test('a taking order is held and matched against the book of its release', () => {
    const { fills, told } = play({
      rows: [...book(48, 50), [200, 'ask', 50, 30]],
      rules,
      sends: [[10, buy(0.5, 100)]],
    });
    expect(told[0]).toEqual([10, 'accepted', 'held']);
    expect(fills).toEqual([[260, 1, 50, 30]]);
  });

  test.each([
    [
      false,
      [
        ['cancel_rejected', 'delayed'],
        ['fill', ''],
      ],
    ],
    [true, [['cancelled', 'user']]],
  ] as const)(
    'inside the delay a cancel is refused unless the venue allows it (%s)',
    (delay_cancellable, expected) => {
      const { told } = play({
        rows: book(48, 50),
        rules: { ...rules, delay_cancellable },
        sends: [
          [10, buy(0.5, 10)],
          [100, { kind: 'cancel', target: 1 }],
        ],
      });
      expect(told.slice(1).map(([, kind, reason]) => [kind, reason])).toEqual(expected);
    },
  );

  test("a held order blocks nobody else's requests", () => {
    const { fills } = play({
      rows: [...book(48, 50), [150, 'hitsBid', 48.5, 5]],
      rules,
      sends: [
        [10, buy(0.5, 10)],
        [20, buy(0.49, 10)],
      ],
    });
    expect(fills).toEqual([
      [150, 2, 49, 5],
      [260, 1, 50, 10],
    ]);
  });

  test('a cancel that travels faster than its order does not overtake it', () => {
    const { told } = play({
      rows: book(48, 52),
      legs: { entry: 500, cancel: 10, response: 50 },
      sends: [
        [10, buy(0.5, 10)],
        [20, { kind: 'cancel', target: 1 }],
      ],
    });
    expect(told).toEqual([
      [560, 'accepted', ''],
      [560, 'cancelled', 'user'],
    ]);
  });

  test('what is on its way is told after its latency, and rows at its arrival come before it', () => {
    const { told, fills } = play({
      rows: [...book(48, 52), [110, 'ask', 50, 30]],
      legs: { entry: 100, cancel: 100, response: 50 },
      sends: [[10, buy(0.5, 30)]],
    });
    expect(told).toEqual([
      [160, 'accepted', ''],
      [160, 'fill', ''],
    ]);
    expect(fills[0]![0]).toBe(110);
  });
});

describe('the end', () => {
  const settled = (outcome: MarketSpec['outcome']) =>
    play({
      rows: book(48, 50),
      market: { outcome, settle_ms: 130_000 },
      sends: [
        [10, split(10)],
        [20, buy(0.5, 30, { tif: 'ioc' })],
      ],
    });

  test.each([
    ['up', 1000 - 10 - 15 + 40],
    ['down', 1000 - 10 - 15 + 10],
    ['split', 1000 - 10 - 15 + 25],
  ] as const)('settled %s, shares become dollars', (outcome, cash) => {
    const { cash: last, told, up, down, pnl } = settled(outcome);
    expect([last, up, down, pnl]).toEqual([cash, 0, 0, cash - 1000]);
    expect(told.at(-1)).toEqual([130_000, 'settle', '']);
  });

  test('an unresolved market keeps the cash locked and is marked at its last two-sided middle', () => {
    const rows: TapeRow[] = [...book(48, 50), [500, 'bid', 48, 0], [500, 'bid', 60, 10], [500, 'ask', 50, 0]];
    const { cash, pnl, told } = play({ rows, sends: [[20, buy(0.5, 30, { tif: 'ioc' })]] });
    expect(cash).toBe(985);
    expect(pnl).toBeCloseTo(30 * 0.49 - 15, 9);
    expect(told.some(([, kind]) => kind === 'settle')).toBe(false);
  });

  test('merge turns equal shares into dollars, and no more than are there', () => {
    const { cash, told } = play({
      rows: book(48, 50),
      sends: [
        [10, split(10)],
        [20, { kind: 'merge', size: 11 }],
        [30, { kind: 'merge', size: 10 }],
      ],
    });
    expect(told.map(([, kind, reason]) => [kind, reason])).toEqual([
      ['converted', ''],
      ['rejected', 'insufficient_shares'],
      ['converted', ''],
    ]);
    expect(cash).toBe(1000);
  });
});
