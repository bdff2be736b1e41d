import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { MarketRows } from '../../src/archive/staged.ts';
import { Row } from '../../src/exchange/tape.ts';
import { rowsByMarket } from '../../src/replay/rows.ts';
import { makeTape, type Part } from '../../src/replay/tape.ts';
import { changesOf } from './oracle.ts';
import * as some from './recordings.ts';

/** One market's rows, for each dataset a list of days. */
interface Recorded {
  readonly tickSizes?: readonly (readonly some.TickSize[])[];
  readonly snapshots?: readonly (readonly some.Snapshot[])[];
  readonly deltas?: readonly (readonly some.Delta[])[];
  readonly prints?: readonly (readonly some.Delta[])[];
}
type TapeRow = readonly [ts: number, kind: number, price: number, size: number];
interface Played {
  readonly rows: TapeRow[];
  readonly gaps: [number, number][];
  readonly counts: Record<string, number>;
}

const day = (days: readonly (readonly some.Base[])[] | undefined): readonly (readonly some.Base[])[] =>
  days ?? [];

/** All rows as objects, in one sort, laid over plain maps. */
function oracle(recorded: Recorded, end_ms: number, tick: number, gap_ms: number): Played {
  const lists = [
    day(recorded.tickSizes),
    day(recorded.snapshots),
    day(recorded.deltas),
    day(recorded.prints),
  ];
  const entries = lists
    .flatMap((days, rank) =>
      days.flatMap((rows, d) => rows.map((row, i) => ({ row, rank, at: [row.event, rank, d, i] }))),
    )
    .filter(({ row }) => row.event <= end_ms)
    .sort((a, b) => a.at.map((value, i) => value - b.at[i]!).find((difference) => difference !== 0) ?? 0);

  const rows: TapeRow[] = [];
  const counts: Record<string, number> = { gaps: 0, mirrored_prints: 0, crossed_rows: 0, implied_ticks: 0 };
  const book = [new Map<number, number>(), new Map<number, number>()] as const;
  const printed = new Set<string>();
  let grid = tick;
  const level = (ts: number, side: 0 | 1, price: number, size: number): void => {
    if (size > 0 && price % grid !== 0) {
      grid = price % 10 === 0 ? 10 : 1;
      counts.implied_ticks!++;
      rows.push([ts, Row.tick, grid, 0]);
    }
    book[side].set(price, size);
    rows.push([ts, side === 0 ? Row.bid : Row.ask, price, size]);
  };
  for (const { row, rank } of entries) {
    const ts = row.event;
    const canonical = (price: number): number => (row.outcome ? 10_000 - price : price);
    if (rank === 0) {
      const { after } = row as some.TickSize;
      if (after !== 0 && after !== grid) rows.push([ts, Row.tick, after, 0]);
      if (after !== 0) grid = after;
    } else if (rank === 3) {
      const { side, price, size } = row as some.Delta;
      const kind = (side === 1) !== (row.outcome === 1) ? Row.hitsBid : Row.hitsAsk;
      const name = `${ts} ${canonical(price)} ${kind} ${size}`;
      if (printed.has(name)) counts.mirrored_prints!++;
      else rows.push([ts, kind, canonical(price), size]);
      printed.add(name);
    } else {
      if (rank === 1)
        for (const [side, price, size] of changesOf(row as some.Snapshot, book)) level(ts, side, price, size);
      else {
        const { side, price, size } = row as some.Delta;
        level(ts, side === row.outcome ? 0 : 1, canonical(price), size);
      }
      const live = (side: 0 | 1): number[] =>
        [...book[side]].filter(([, size]) => size > 0).map(([price]) => price);
      if (Math.max(...live(0)) >= Math.min(...live(1))) counts.crossed_rows!++;
    }
  }
  const known = entries.filter(({ rank }) => rank === 1 || rank === 2).map(({ row }) => row.event);
  const gaps: [number, number][] = [];
  for (const [i, ts] of [...known, Number.POSITIVE_INFINITY].entries()) {
    const before = known[i - 1] ?? Number.NEGATIVE_INFINITY;
    if (Math.min(ts, end_ms) - before > gap_ms) gaps.push([before + gap_ms, ts]);
  }
  counts.gaps = gaps.filter(([from]) => from !== Number.NEGATIVE_INFINITY).length;
  if (known.length === 0) counts.markets_without_book = 1;
  return { rows, gaps, counts };
}

function play(recorded: Recorded, end_ms: number, tick: number, gap_ms: number): Played {
  const names = ['other', 'm'];
  const parts = <R extends some.Base, C extends MarketRows>(
    days: readonly (readonly R[])[] | undefined,
    make: (markets: readonly string[], rows: readonly R[]) => C,
  ): Part<C>[] =>
    (days ?? []).map((list) => {
      // Rows of another market stand between ours.
      const rows = make(
        names,
        list.flatMap((row) => [
          { ...row, market: 1 },
          { ...row, market: 0 },
        ]),
      );
      return { rows, at: rowsByMarket(rows).of('m') };
    });
  const counts: Record<string, number> = {};
  const tape = makeTape(
    {
      tickSizes: parts(recorded.tickSizes, some.tickSizeRows),
      snapshots: parts(recorded.snapshots, some.snapshotRows),
      deltas: parts(recorded.deltas, some.deltaRows),
      prints: parts(recorded.prints, some.deltaRows),
    },
    end_ms,
    tick,
    gap_ms,
    (name, by) => {
      counts[name] = (counts[name] ?? 0) + by;
    },
  );
  const { length, ts, kind, price, size, gaps } = tape;
  expect([ts.length, kind.length, price.length, size.length]).toEqual([length, length, length, length]);
  return {
    rows: Array.from(ts, (at, i) => [at, kind[i]!, price[i]!, size[i]!] as const),
    gaps: Array.from({ length: gaps.length / 2 }, (_, i) => [gaps[2 * i]!, gaps[2 * i + 1]!]),
    counts,
  };
}

const days = <R extends { recv: number }>(rows: fc.Arbitrary<R[]>): fc.Arbitrary<R[][]> =>
  fc
    .tuple(rows, fc.nat(some.HORIZON_MS))
    .map(([all, cut]) => [all.filter(({ recv }) => recv < cut), all.filter(({ recv }) => recv >= cut)]);

test("a market's rows come in the venue's order, in terms of up, as plain sorting and plain maps have it", () => {
  fc.assert(
    fc.property(
      fc.record({
        tickSizes: days(some.tickSizes(1)),
        snapshots: days(some.snapshots(1)),
        deltas: days(some.deltas(1)),
        prints: days(some.prints(1)),
      }),
      fc.integer({ min: 100, max: some.HORIZON_MS }),
      fc.constantFrom(100, 10),
      fc.constantFrom(5, 20, 1000),
      (recorded, end_ms, tick, gap_ms) => {
        expect(play(recorded, end_ms, tick, gap_ms)).toEqual(oracle(recorded, end_ms, tick, gap_ms));
      },
    ),
    { numRuns: 1000 * Number(process.env.RUNS ?? 1) },
  );
}, 60_000);

describe('a tape', () => {
  const delta = (event: number, side: 0 | 1, price: number, size: number, outcome = 0): some.Delta => ({
    ...{ recv: event + 10, event, market: 0, outcome, side, price, size },
  });
  const known = delta(0, 0, 4900, 100);
  const tape = (recorded: Recorded): Played => play({ deltas: [[known]], ...recorded }, 5000, 100, 10_000);

  test('holds a print and its mirror once', () => {
    const { rows, counts } = tape({ prints: [[delta(5, 1, 4900, 30), delta(5, 0, 5100, 30, 1)]] });
    expect(rows.slice(1)).toEqual([[5, Row.hitsBid, 4900, 30]]);
    expect(counts.mirrored_prints).toBe(1);
  });

  test('holds two prints that differ in size, price, side or time twice', () => {
    const { rows } = tape({
      prints: [
        [
          delta(5, 1, 4900, 30),
          delta(5, 1, 4900, 31),
          delta(5, 1, 4800, 30),
          delta(5, 0, 4900, 30),
          delta(6, 1, 4900, 30),
        ],
      ],
    });
    expect(rows.slice(1)).toHaveLength(5);
  });

  test('ends with the rows of its very last millisecond', () => {
    const { rows } = tape({ deltas: [[known, delta(5000, 0, 4900, 7), delta(5001, 0, 4900, 8)]] });
    expect(rows.map(([ts]) => ts)).toEqual([0, 5000]);
  });

  test('knows no book before its first depth row, nor where none came for too long', () => {
    const rows = [
      delta(1000, 0, 4900, 7),
      delta(11_000, 0, 4900, 8),
      delta(21_001, 0, 4900, 9),
      delta(30_000, 0, 4900, 9),
    ];
    expect(play({ deltas: [rows] }, 40_001, 100, 10_000).gaps).toEqual([
      [Number.NEGATIVE_INFINITY, 1000],
      [21_000, 21_001],
      [40_000, Number.POSITIVE_INFINITY],
    ]);
  });

  test('sorts event times in whatever disorder, equal ones by row', () => {
    const rows = Array.from({ length: 400 }, (_, i) => ({
      ...delta(400 - (i >> 1), 0, 4900, i + 1),
      recv: 500,
    }));
    const expected = [...rows].sort((a, b) => a.event - b.event).map(({ event, size }) => [event, size]);
    expect(tape({ deltas: [rows] }).rows.map(([ts, , , size]) => [ts, size])).toEqual(expected);
  });

  test('counts no crossing for what a snapshot crosses on its way', () => {
    const base = { market: 0, outcome: 0 };
    const { counts } = tape({
      deltas: [],
      snapshots: [
        [
          { ...base, recv: 5, event: 5, bids: [[4900, 10]], asks: [[5000, 10]] },
          { ...base, recv: 9, event: 9, bids: [[5100, 10]], asks: [[5200, 10]] },
          { ...base, recv: 12, event: 12, bids: [[5200, 10]], asks: [[5200, 10]] },
        ],
      ],
    });
    expect(counts.crossed_rows).toBe(1);
  });
});
