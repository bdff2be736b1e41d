import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { MarketSpec } from '../../src/exchange/market.ts';
import { Row } from '../../src/exchange/tape.ts';
import type { VenueOptions } from '../../src/exchange/venue.ts';
import { drive, runs, world } from './scenes.ts';

/** The same world with answers that take no time: events are seen in the order in which they happen. */
const prompt = (options: VenueOptions): VenueOptions => ({
  ...options,
  execution: {
    ...options.execution,
    latency_ms: { ...options.execution.latency_ms, response: 0 },
  },
});

test('what the strategy was told adds up to what it has, and never to less than nothing', () => {
  fc.assert(
    fc.property(world, ({ options, commands }) => {
      const { venue, events } = drive(prompt(options), commands);
      let cash = options.capital;
      let available = options.capital;
      const held = options.markets.map(() => ({ up: 0, up_locked: 0, down: 0, down_locked: 0 }));
      for (const event of events) {
        cash += event.cash;
        available += event.available;
        expect(available).toBeGreaterThanOrEqual(0);
        expect(available).toBeLessThanOrEqual(cash);
        const mine = held[event.market]!;
        for (const outcome of ['up', 'down'] as const) {
          mine[outcome] += event[outcome];
          mine[`${outcome}_locked`] += event[`${outcome}_locked`];
          expect(mine[`${outcome}_locked`]).toBeGreaterThanOrEqual(0);
          expect(mine[outcome]).toBeGreaterThanOrEqual(mine[`${outcome}_locked`]);
        }
      }
      expect(cash).toBe(venue.portfolio.cash);
      // Every order is done by the end of its market, and then holds nothing.
      expect(available).toBe(cash);
      expect(held).toEqual(
        venue.portfolio.positions.map(({ up, down }) => ({ up, up_locked: 0, down, down_locked: 0 })),
      );
    }),
    runs(500),
  );
});

test("money is neither made nor lost: cash is the capital and every market's flow", () => {
  fc.assert(
    fc.property(world, ({ options, commands }) => {
      const { venue, stop } = drive(options, commands);
      const { pnl } = venue.finish(stop);
      const { cash, positions } = venue.portfolio;
      expect(cash).toBe(positions.reduce((sum, { flow }) => sum + flow, options.capital));
      const last = venue.journal.marks.at(-1)!;
      const won = options.markets.reduce((sum, _, market) => sum + pnl(market), 0);
      expect(last.cash + last.position_value).toBe(options.capital + won);
    }),
    runs(500),
  );
});

/** What a market's tape says at the end of each millisecond: size by level, and what could fill a maker in it. */
function recorded({ tape }: MarketSpec): Map<number, { levels: Map<string, number>; offered: number }> {
  const { length, ts, kind, price, size } = tape();
  const levels = new Map<string, number>();
  const moments = new Map<number, { levels: Map<string, number>; offered: number }>();
  for (let i = 0; i < length; i++) {
    if (kind[i]! <= Row.ask) levels.set(`${kind[i]} ${price[i]}`, size[i]!);
    const offered = (moments.get(ts[i]!)?.offered ?? 0) + (kind[i] === Row.tick ? 0 : size[i]!);
    moments.set(ts[i]!, { levels: new Map(levels), offered });
  }
  return moments;
}

test('makers get no more than was printed or shown to them, takers no more than stood there', () => {
  fc.assert(
    fc.property(world, ({ options, commands }) => {
      const { venue } = drive(options, commands);
      for (const spec of options.markets) {
        const moments = recorded(spec);
        const times = [...moments.keys()];
        const made = new Map<number, number>();
        const taken = new Map<string, number>();
        for (const fill of venue.journal.fills.filter((one) => one.market === spec.id)) {
          if (fill.liquidity === 'maker') made.set(fill.ts_ms, (made.get(fill.ts_ms) ?? 0) + fill.size);
          if (fill.liquidity !== 'taker') continue;
          const asks = (fill.side === 'buy') === (fill.outcome === 'up');
          const price = fill.outcome === 'up' ? fill.price : 10_000 - fill.price;
          const at = `${fill.ts_ms} ${asks ? 1 : 0} ${price}`;
          taken.set(at, (taken.get(at) ?? 0) + fill.size);
        }
        for (const [ts, size] of made) expect(size).toBeLessThanOrEqual(moments.get(ts)?.offered ?? 0);
        for (const [at, size] of taken) {
          const [ts, ...where] = at.split(' ');
          const before = times.findLast((one) => one <= Number(ts));
          expect(size).toBeLessThanOrEqual(moments.get(before!)?.levels.get(where.join(' ')) ?? 0);
        }
      }
    }),
    runs(1000),
  );
});

test('a market that nobody trades in changes no fill and no order of another', () => {
  fc.assert(
    fc.property(world, world, ({ options, commands }, other) => {
      const alone = options.markets[0]!;
      const stranger = { ...other.options.markets[0]!, id: 'stranger', outcome: null, settle_ms: 0 };
      const outcome = (markets: readonly MarketSpec[]) => {
        const market = markets.indexOf(alone);
        // A stranger that lives longer puts off the stop; until the end of this market that makes no difference.
        const mine = commands.filter(({ at, request }) => request.market === 0 && at < alone.end_ms);
        const moved = mine.map(({ at, request }, i) => ({
          at,
          request: { ...request, number: i + 1, market },
        }));
        const { venue, stop } = drive({ ...options, markets }, moved);
        const { orders, pnl } = venue.finish(stop);
        return { orders, fills: venue.journal.fills, pnl: pnl(market) };
      };
      fc.pre(alone.tradable);
      const expected = outcome([alone]);
      expect(outcome([alone, stranger])).toEqual(expected);
      expect(outcome([stranger, alone])).toEqual(expected);
    }),
    runs(500),
  );
});
