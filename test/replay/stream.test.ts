import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rowsByMarket } from '../../src/replay/rows.ts';
import { Stream, type StreamSource } from '../../src/replay/stream.ts';
import { decode, type TickRow } from './frames.ts';
import { oracle, type Recording, type Shown } from './oracle.ts';
import * as some from './recordings.ts';

/** One dataset in two days, or not declared at all. */
const declared = <R extends { recv: number }>(rows: fc.Arbitrary<R[]>): fc.Arbitrary<R[][] | null> =>
  fc
    .tuple(rows, fc.nat(some.HORIZON_MS), fc.integer({ min: 0, max: 3 }))
    .map(([all, cut, off]) =>
      off === 0 ? null : [all.filter(({ recv }) => recv < cut), all.filter(({ recv }) => recv >= cut)],
    );

const recordingOf = (markets: number): fc.Arbitrary<Recording> =>
  fc
    .record({
      lives: fc.array(
        fc.record({
          start: fc.nat(200),
          life: fc.integer({ min: 1, max: 150 }),
          strike: fc.option(fc.nat(200)),
        }),
        {
          minLength: markets,
          maxLength: markets,
        },
      ),
      start_ms: fc.nat(100),
      end_ms: fc.integer({ min: 150, max: some.HORIZON_MS }),
      warmup_ms: fc.constantFrom(0, 0, 40),
      feed_ms: fc.constantFrom(0, 0, 7),
      tickSizes: declared(some.tickSizes(markets)),
      snapshots: declared(some.snapshots(markets)),
      deltas: declared(some.deltas(markets)),
      prints: declared(some.prints(markets)),
      quotes: declared(some.quotes(markets)),
      prices: declared(some.feed),
      twap60s: declared(some.feed),
      opens: some.moments,
      times: some.moments,
      lag_ms: fc.constantFrom(0, 11),
    })
    .map(({ lives, prices, twap60s, opens, times, lag_ms, ...rest }) => ({
      ...rest,
      markets: lives
        .map(({ start, life, strike }) => ({
          start_ms: start,
          end_ms: start + life,
          strike: strike === null ? null : { at_ms: start + strike, value: 100 + strike },
        }))
        .sort((a, b) => a.start_ms - b.start_ms),
      prices: prices ?? [],
      twap60s: twap60s ?? [],
      klines: { opens, interval_ms: 20 },
      series: some.seriesRows(times, lag_ms),
    }));
const recording = fc.integer({ min: 1, max: 3 }).chain(recordingOf);

/** A file names its markets in an order of its own, among them one that nobody asked for. */
function sourcesOf(from: Recording): StreamSource[] {
  const names = ['stranger', ...from.markets.map((_, index) => `m${index}`).reverse()];
  const moved = <R extends some.Base>(rows: readonly R[]): R[] =>
    rows.flatMap((row, i) => {
      const here = { ...row, market: names.indexOf(`m${row.market}`) };
      return i % 3 === 0 ? [here, { ...here, market: 0 }] : [here];
    });
  const parts = <R extends some.Base, C extends { markets: readonly string[] }>(
    days: readonly (readonly R[])[] | null,
    make: (markets: readonly string[], rows: readonly R[]) => C & Parameters<typeof rowsByMarket>[0],
    kind: string,
  ): StreamSource[] =>
    (days ?? []).flatMap((rows) => {
      const columns = make(names, moved(rows));
      const of = rowsByMarket(columns);
      return from.markets.map(
        (_, market) =>
          ({ kind, market, part: { rows: columns, at: of.of(`m${market}`) } }) as unknown as StreamSource,
      );
    });
  return [
    { kind: 'series', feed: 3, rows: from.series },
    { kind: 'kline', feed: 2, rows: some.klineRows(from.klines.opens), interval_ms: from.klines.interval_ms },
    ...from.twap60s.map((rows) => ({ kind: 'twap60s', feed: 1, rows: some.feedRows(rows) }) as const),
    ...from.prices.map((rows) => ({ kind: 'prices', feed: 0, rows: some.feedRows(rows) }) as const),
    ...parts(from.quotes, some.quoteRows, 'quote'),
    ...parts(from.deltas, some.deltaRows, 'delta'),
    ...parts(from.prints, some.deltaRows, 'trade'),
    ...parts(from.snapshots, some.snapshotRows, 'snapshot'),
    ...parts(from.tickSizes, some.tickSizeRows, 'tick_size'),
  ];
}

interface Played extends Omit<Shown, 'before'> {
  readonly frames: { readonly rows: number; readonly through: number; readonly until: number }[];
  /** `after`: rows up to there came in earlier frames. */
  readonly quotes: {
    readonly at: number;
    readonly after: number;
    readonly of: Map<number, { bid: number; ask: number }>;
  }[];
}

/** Steps through a stream, `until` after `until`, each as often as it takes. */
function play(from: Recording, frame_rows: number, untils: readonly number[]): Played {
  const { start_ms, end_ms, warmup_ms, feed_ms, markets } = from;
  const stream = new Stream({
    markets,
    sources: sourcesOf(from),
    start_ms,
    end_ms,
    warmup_ms,
    feed_ms,
    frame_rows,
  });
  const rows: TickRow[] = [];
  const records: Shown['records'] = [];
  const frames: Played['frames'] = [];
  const quotes: Played['quotes'] = [];
  for (const until of [...untils, Number.POSITIVE_INFINITY]) {
    for (let through = Number.NEGATIVE_INFINITY; through < until; ) {
      const next = stream.nextMs;
      const step = stream.step(until);
      const frame = decode(step.frame);
      expect(step.frame).toMatchObject({ rows: frame.rows.length, through_ms: frame.through });
      if (frame.rows.length > 0) {
        expect(frame.rows[0]!.ts).toBe(next);
        expect(step.frame.last_ms).toBe(frame.rows.at(-1)!.ts);
        const after = frames.at(-1)?.through ?? Number.NEGATIVE_INFINITY;
        quotes.push({ at: rows.length, after, of: frame.quotes });
      }
      // Records of a feed go with the rows of that feed, in their order.
      for (const feed of [2, 3]) {
        const mine = step.records.filter((one) => one.feed === feed).flatMap((one) => one.rows);
        const takers = frame.rows.filter(
          ({ market, kind }) => market === feed && (kind % 32 === 10 || kind % 32 === 11),
        );
        expect(mine).toHaveLength(takers.length);
        for (const values of mine) records.push({ feed, values });
      }
      rows.push(...frame.rows);
      frames.push({ rows: frame.rows.length, through: frame.through, until });
      through = frame.through;
    }
  }
  return { rows, records, frames, quotes, ticks: stream.ticks, ticksOf: [...stream.ticksOf] };
}

const byFeed = (records: Shown['records']): number[][][] =>
  [2, 3].map((feed) => records.filter((one) => one.feed === feed).map((one) => one.values));
const steps = fc
  .array(fc.nat(some.HORIZON_MS + 50), { maxLength: 6 })
  .map((values) => values.sort((a, b) => a - b));

test('every recording is shown in the one order, with the books of plain maps, however it is cut into frames', () => {
  fc.assert(
    fc.property(recording, fc.integer({ min: 1, max: 60 }), steps, (from, frame_rows, untils) => {
      const expected = oracle(from);
      const { rows, records, frames, quotes, ticks, ticksOf } = play(from, frame_rows, untils);
      expect(rows).toEqual(expected.rows);
      expect(byFeed(records)).toEqual(byFeed(expected.records));
      expect({ ticks, ticksOf }).toEqual({ ticks: expected.ticks, ticksOf: expected.ticksOf });

      for (const { at, after, of } of quotes) {
        const open = from.markets.flatMap(({ start_ms, end_ms }, index) =>
          start_ms <= rows[at]!.ts && after <= end_ms ? [[index, expected.before[at]![index]]] : [],
        );
        expect([...of]).toEqual(open);
      }
      let done = 0;
      for (const { rows: count, through, until } of frames) {
        const frame = rows.slice(done, done + count);
        done += count;
        const last = frame.at(-1)?.ts ?? Number.NEGATIVE_INFINITY;
        const next = rows[done]?.ts ?? Number.POSITIVE_INFINITY;
        expect(last).toBeLessThan(next);
        expect(last).toBeLessThanOrEqual(until);
        // Nothing up to `through` is still to come, and it says no less than it could.
        expect(through).toBe(next === Number.POSITIVE_INFINITY ? next : next > until ? until : last);
        expect(frame.filter(({ ts }) => ts < last).length).toBeLessThan(frame_rows);
      }
    }),
    { numRuns: 1000 * Number(process.env.RUNS ?? 1) },
  );
}, 60_000);

test('no row of a market is shown after its end', () => {
  fc.assert(
    fc.property(recording, (from) => {
      const owned = play(from, 1000, []).rows.filter(({ kind }) => ![5, 6, 7, 10, 11].includes(kind % 32));
      for (const { ts, market } of owned) expect(ts).toBeLessThanOrEqual(from.markets[market]!.end_ms);
    }),
    { numRuns: 300 },
  );
});
