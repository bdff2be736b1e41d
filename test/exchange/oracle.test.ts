import fc from 'fast-check';
import { expect, test } from 'vitest';
import { oracle, seenOrder } from './oracle.ts';
import { cuts, type Driven, drive, runs, world } from './scenes.ts';

const journalOf = ({ venue, events, stop }: Driven) => {
  const marks = venue.journal.marks.filter((mark) => mark.ts_ms <= stop).map((mark) => ({ ...mark }));
  const { orders, pnl } = venue.finish(stop);
  const { cash, positions } = venue.portfolio;
  return {
    orders,
    fills: venue.journal.fills,
    marks,
    told: seenOrder(events),
    counts: venue.journal.counts,
    cash,
    positions: positions.map(({ up, down, flow }, index) => ({ up, down, flow, pnl: pnl(index) })),
    leftover: venue.journal.marks.at(-1)!.position_value,
  };
};

test('orders, fills, cash, marks and what is told are those of the plainest possible exchange', () => {
  fc.assert(
    fc.property(world, ({ options, commands }) => {
      const driven = drive(options, commands);
      expect(driven.broken).toEqual([]);
      const { lastSeen: _, ...expected } = oracle(options, driven.sent, driven.stop);
      expect(journalOf(driven)).toEqual(expected);
    }),
    runs(2000),
  );
}, 60_000);

test('however time is cut, the same commands make the same journal and tell the same events at the same times', () => {
  fc.assert(
    fc.property(world, cuts, ({ options, commands }, where) => {
      const whole = drive(options, commands);
      const cut = drive(options, commands, where);
      expect(whole.broken).toEqual([]);
      expect(cut.broken).toEqual([]);
      expect(cut.stop).toBe(whole.stop);
      expect(journalOf(cut)).toEqual(journalOf(whole));
    }),
    runs(2000),
  );
}, 60_000);
