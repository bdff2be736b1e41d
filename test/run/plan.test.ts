import { describe, expect, test } from 'vitest';
import { type Dataset, LIMITS, type MarketDay, manifest } from '../../contract/index.ts';
import type { MarketRow, Staged } from '../../src/archive/staged.ts';
import { type FileKey, keyText } from '../../src/run/files.ts';
import { feedsOf, groupsOf, listMarkets, type PlanInput, planSegment } from '../../src/run/plan.ts';
import { segmentResult } from '../../src/run/result.ts';
import { stageDays } from '../../src/run/staging.ts';
import { deltaRows, feedRows } from '../replay/recordings.ts';
import { type PaperStrategy, playSegment } from './paperbox.ts';
import { DATE, DAY_START, MARKET_DAY } from './recording.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;

const market = (id: string, start_ms: number, minutes: number): MarketRow => ({
  market: id,
  start_ms,
  end_ms: start_ms + minutes * MINUTE,
  settlement_feed: 'prices',
  tie: 'up',
  strike: 100,
  final: 101.5,
  outcome: 'up',
  resolved_ms: start_ms + (minutes + 1) * MINUTE,
  tick_size: 0.01,
  min_size: 5,
  fee_rate: 0,
  taker_delay_ms: 0,
});

/** Levels of one market, one at each time. */
const levels = (id: string, times: readonly number[]) =>
  deltaRows(
    [id],
    times.map((ts) => ({ recv: ts, event: ts, market: 0, outcome: 0, side: 0, price: 5000, size: 1e6 })),
  );
const prices = (...times: number[]) => feedRows(times.map((ts) => ({ recv: ts, event: ts, value: 100 })));

type File = readonly [dataset: Dataset, asset: string, interval: string | null, date: string, rows: unknown];

/** An archive of so many files, and what was asked of it. */
function archive(files: readonly File[]) {
  const held = new Map(
    files.map(([dataset, asset, interval, date, rows]) => [
      keyText({ dataset, asset, interval, date }),
      { dataset, asset, interval, date, rows } as Staged,
    ]),
  );
  const asked: string[] = [];
  const stage = async (key: FileKey): Promise<Staged | undefined> => {
    asked.push(keyText(key));
    return held.get(keyText(key));
  };
  return { stage, asked };
}

async function planned(files: readonly File[], marketDays: readonly MarketDay[], changes: object) {
  const parsed = manifest.parse({
    ...{ contract: 1, name: 'plan', language: 'nodejs@24', entry: 's.mjs', datasets: ['price_change'] },
    ...changes,
  });
  const { find } = await stageDays(parsed, marketDays, archive(files).stage);
  const input: PlanInput = { manifest: parsed, venue: 'venue_a', limits: LIMITS, find, series: [] };
  const listing = listMarkets(input, marketDays);
  const feeds = feedsOf(input, [...new Set(marketDays.map(({ asset }) => asset))]);
  const plan = () => planSegment(input, feeds, groupsOf(parsed.mode, listing.markets)[0]!, 0);
  return { ...listing, plan };
}

const still: PaperStrategy = () => {};
const START = DAY_START + 10 * MINUTE;

test('a market that has its strategy to itself counts every row of it, context or not', async () => {
  const files: File[] = [
    ['markets', 'BTC', '5m', DATE, [market('own', START, 5)]],
    ['prices', 'BTC', null, DATE, prices(START + 1, START + 2)],
    ['markets', 'ETH', '1h', DATE, [market('other', START - MINUTE, 60)]],
    ['price_change', 'ETH', '1h', DATE, levels('other', [START + 3])],
  ];
  for (const context of [[], [{ asset: 'ETH', dataset: 'price_change', interval: '1h' }]]) {
    const { plan } = await planned(files, [MARKET_DAY], { datasets: ['prices'], context });
    const made = plan();
    const { segment } = playSegment(made, LIMITS, false, still);
    expect(segmentResult(made, segment).markets.map(({ ticks }) => ticks)).toEqual([2 + context.length]);
  }
});

describe('context markets', () => {
  const own: File[] = [
    ['markets', 'BTC', '5m', DATE, [market('own', START, 5)]],
    ['price_change', 'BTC', '5m', DATE, levels('own', [START + 1, START + 2 * MINUTE])],
  ];
  const context = (dataset: string) => ({ asset: 'ETH', dataset, interval: '1h' });

  test('are there once, however many of their datasets are asked for', async () => {
    const { markets } = await planned(
      [...own, ['markets', 'ETH', '1h', DATE, [market('other', START, 60)]]],
      [MARKET_DAY],
      { context: [context('price_change'), context('last_trade_price')] },
    );
    expect(markets.map(({ row }) => row.market)).toEqual(['other', 'own'].sort());
  });

  test.each([false, true])(
    'show nothing after the end of what is traded (lock-step %s)',
    async (lockstep) => {
      const times = [1, 4, 5, 5.5, 6, 20, 40].map((minutes) => START + minutes * MINUTE);
      const { plan } = await planned(
        [
          ...own,
          [
            'markets',
            'ETH',
            '1h',
            DATE,
            [market('other', START - MINUTE, 60), market('later', START + 4 * MINUTE, 9)],
          ],
          ['price_change', 'ETH', '1h', DATE, levels('other', times)],
        ],
        [MARKET_DAY],
        { context: [context('price_change')] },
      );
      const { seen, segment } = playSegment(plan(), LIMITS, lockstep, still);
      const rows = seen.filter((line) => line.includes('row')).map((line) => Number(line.split(' ')[0]));
      expect(Math.max(...rows)).toBe(START + 5 * MINUTE);
      // Two rows of its own and three of the context.
      expect(segment.stream.ticks).toBe(5);
    },
  );

  test('tell their strike, whether the feed that settles them was asked for or not', async () => {
    const { plan } = await planned(
      [
        ...own,
        ['markets', 'ETH', '1h', DATE, [market('other', START - MINUTE, 60)]],
        ['prices', 'ETH', null, DATE, prices(START - MINUTE, START)],
      ],
      [MARKET_DAY],
      { context: [context('price_change')] },
    );
    expect(plan().stream.markets[0]!.strike).toEqual({ at_ms: START - MINUTE, value: 100 });
  });

  test('that live past midnight are shown to the end, with the rows of the next day', async () => {
    const start = DAY_START + DAY - 30 * MINUTE;
    const files: File[] = [
      ['markets', 'BTC', '5m', DATE, [market('own', DAY_START + DAY - 5 * MINUTE, 5)]],
      ['markets', 'ETH', '1h', DATE, [market('other', start, 60)]],
      ['last_trade_price', 'ETH', '1h', DATE, levels('other', [start + 26 * MINUTE])],
      ['last_trade_price', 'ETH', '1h', '2026-07-02', levels('other', [DAY_START + DAY])],
    ];
    const { markets, dropped, plan } = await planned(files, [MARKET_DAY], {
      context: [context('last_trade_price')],
    });
    expect(dropped).toEqual([]);
    expect(markets).toHaveLength(2);
    const { segment } = playSegment(plan(), LIMITS, false, still);
    expect(segment.stream.ticks).toBe(2);
  });
});

test('a session keeps the history before each of its days, whatever lies between them', async () => {
  const dates = ['2026-07-01', '2026-07-05'];
  const days = dates.map((date): MarketDay => ({ ...MARKET_DAY, date }));
  const feed = ['2026-06-30', '2026-07-01', '2026-07-04', '2026-07-05'];
  const { plan } = await planned(
    [
      ...dates.map(
        (date): File => ['markets', 'BTC', '5m', date, [market(date, Date.parse(date) + MINUTE, 5)]],
      ),
      ...feed.map((date): File => ['prices', 'BTC', null, date, prices(Date.parse(date) + 60 * MINUTE)]),
    ],
    days,
    { mode: 'session', datasets: ['prices'], warmup_ms: DAY },
  );
  const shown = plan().stream.sources.flatMap((source) =>
    source.kind === 'prices' ? [...source.rows.recv] : [],
  );
  expect(shown).toEqual(feed.map((date) => Date.parse(date) + 60 * MINUTE));
});

test('a settlement tells the value that decided, and none where the archive has none', async () => {
  for (const final of [101.5, null]) {
    const { plan } = await planned(
      [['markets', 'BTC', '5m', DATE, [{ ...market('own', START, 5), final }]]],
      [MARKET_DAY],
      {},
    );
    const { seen } = playSegment(plan(), LIMITS, false, still);
    const settled = seen.find((line) => line.includes('"settle"'))!;
    expect(JSON.parse(settled.slice(settled.indexOf('{'))).price).toBe(final);
  }
});
