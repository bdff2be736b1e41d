import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LIMITS, manifest } from '../../contract/index.ts';
import type { Request } from '../../src/exchange/order.ts';
import { feedsOf, groupsOf, listMarkets, type PlanInput, planSegment } from '../../src/run/plan.ts';
import type { SegmentPlan } from '../../src/run/segment.ts';
import { type PaperStrategy, playSegment } from './paperbox.ts';
import { MARKET_DAY, numbers, recording } from './recording.ts';

/** Legs from nothing to slow, one of them drawn; cancels may be faster than entries. */
const legs = [0, 1, 20, 100, { p50: 20, p99: 90 }];

function plans(seed: number): () => SegmentPlan[] {
  const next = numbers(seed);
  const { find } = recording(seed);
  const parsed = manifest.parse({
    contract: 1,
    name: 'paper',
    language: 'python@3.14',
    entry: 's.py',
    mode: ['market', 'session'][next(2)],
    datasets: ['price_change', 'last_trade_price', 'prices']
      .slice(next(2))
      .concat('book')
      .filter((name) => name !== 'book' || find('book', 'BTC', '5m', MARKET_DAY.date)),
    capital: 50 + next(500),
    seed,
    execution: {
      latency_ms: {
        feed: [0, 15][next(2)],
        entry: legs[next(5)],
        cancel: legs[next(5)],
        response: legs[next(5)],
      },
    },
  });
  const input: PlanInput = { manifest: parsed, venue: 'venue_a', limits: LIMITS, find, series: [] };
  const { markets } = listMarkets(input, [MARKET_DAY]);
  const feeds = feedsOf(input, ['BTC']);
  return () => groupsOf(parsed.mode, markets).map((group, at) => planSegment(input, feeds, group, at));
}

/** Acts on what it sees, as a hash of the line tells it: several orders in a hook, cancels, timers, orders from fills. */
function restless(seed: number, markets: number): PaperStrategy {
  const sent: number[] = [];
  return (line, ctx) => {
    const next = numbers(
      [...line].reduce((hash, letter) => Math.imul(hash, 31) + letter.charCodeAt(0), seed),
    );
    if (sent.length > 300 || next(line.startsWith('row') ? 25 : 5) > 0) return;
    for (let i = next(4); i > 0; i--) sent.push(ctx.order(action(next, markets, sent, ctx.now)));
    if (next(3) === 0) ctx.timer(next(600));
  };
}

function action(
  next: (below: number) => number,
  markets: number,
  sent: readonly number[],
  now: number,
): Partial<Request> {
  const market = next(markets);
  const what = next(20);
  if (what < 4 && sent.length > 0) return { kind: 'cancel', market, target: sent[next(sent.length)]! };
  if (what === 4)
    return {
      kind: 'cancel_all',
      market: next(2) === 0 ? -1 : market,
      side: [null, 'buy', 'sell'][next(3)] as Request['side'],
    };
  if (what === 5) return { kind: next(2) === 0 ? 'merge' : 'split', market, size: 1 + next(20) };
  if (what === 6)
    return { market, by_amount: true, size: 1 + next(30), tif: (['ioc', 'fok'] as const)[next(2)]! };
  return {
    market,
    side: next(3) === 0 ? 'sell' : 'buy',
    outcome: next(2) === 0 ? 'up' : 'down',
    tif: (['gtc', 'gtc', 'gtd', 'ioc', 'fok'] as const)[next(5)]!,
    post_only: next(4) === 0,
    reduce_only: next(12) === 0,
    limit: next(8) === 0 ? null : (47 + next(7)) / 100,
    size: [5, 7.25, 20, Number.NaN, 60][next(5)]!,
    expire_ms: now + next(5_000),
  };
}

function outcome(plan: SegmentPlan, seed: number, lockstep: boolean, limits = LIMITS) {
  const { seen, segment, asks } = playSegment(plan, limits, lockstep, restless(seed, plan.markets.length));
  const { orders } = segment.venue.finish(segment.now);
  const { fills, marks, counts } = segment.venue.journal;
  return { asks, result: { seen, orders, fills, marks, counts } };
}

test('a streamed run is the same, to the last event, as one in lock-step', () => {
  let fills = 0;
  let asked = { streamed: 0, lockstep: 0 };
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1e9 }), (seed) => {
      const make = plans(seed);
      for (const [at, plan] of make().entries()) {
        const streamed = outcome(plan, seed, false);
        const stepped = outcome(make()[at]!, seed, true);
        expect(streamed.result).toEqual(stepped.result);
        fills += streamed.result.fills.length;
        asked = { streamed: asked.streamed + streamed.asks, lockstep: asked.lockstep + stepped.asks };
      }
    }),
    { numRuns: 2_000 },
  );
  // The comparison is worth something only if strategies trade, and if streaming really asks less.
  expect(fills).toBeGreaterThan(2_000);
  expect(asked.streamed).toBeLessThan(asked.lockstep / 3);
});

test('how far rows run ahead, in bytes or in replay time, shows in no event', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 1e9 }),
      fc.constantFrom(1, 7, 64),
      fc.constantFrom(1, 100, 2_500),
      (seed, frame_rows, prefetch_ms) => {
        const make = plans(seed);
        const narrow = { ...LIMITS, frame_rows, prefetch_ms, prefetch_bytes: 400 };
        for (const [at, plan] of make().entries()) {
          const wide = outcome(plan, seed, false);
          const tight = make()[at]!;
          expect(
            outcome({ ...tight, stream: { ...tight.stream, frame_rows } }, seed, false, narrow).result,
          ).toEqual(wide.result);
        }
      },
    ),
    { numRuns: 300 },
  );
});
