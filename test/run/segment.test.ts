import { expect, test } from 'vitest';
import { Bulk, LIMITS, manifest } from '../../contract/index.ts';
import { feedsOf, groupsOf, listMarkets, type PlanInput, planSegment } from '../../src/run/plan.ts';
import { Segment } from '../../src/run/segment.ts';
import { ProtocolViolation } from '../../src/sandbox/sandbox.ts';
import { MARKET_DAY, recording } from './recording.ts';

function segment(): { segment: Segment; sent: number[] } {
  const { find } = recording(5);
  const parsed = manifest.parse({
    contract: 1,
    name: 'clock',
    language: 'nodejs@24',
    entry: 's.mjs',
    mode: 'session',
    datasets: ['price_change'],
  });
  const input: PlanInput = { manifest: parsed, venue: 'venue_a', limits: LIMITS, find, series: [] };
  const { markets } = listMarkets(input, [MARKET_DAY]);
  const plan = planSegment(input, feedsOf(input, ['BTC']), groupsOf('session', markets)[0]!, 0);
  const sent: number[] = [];
  return { segment: new Segment(plan, LIMITS, false, (type) => sent.push(type) - 1), sent };
}

test('a box that says it is where it was before is in breach of the protocol', () => {
  const { segment: running } = segment();
  const start = running.now;
  running.at(start);
  const { promise } = running.answer(true);
  running.at(promise);
  expect(() => running.at(start)).toThrow(ProtocolViolation);
});

test('a box cannot be later than it was promised', () => {
  const { segment: running } = segment();
  expect(() => running.at(running.now + 1)).toThrow(ProtocolViolation);
  expect(() => running.at(Number.NaN)).toThrow(ProtocolViolation);
});

test('a box cannot have worked through a frame that it was not sent, or out of turn', () => {
  const { segment: running, sent } = segment();
  const ticks = sent.flatMap((type, at) => (type === Bulk.ticks ? [at] : []));
  expect(() => segment().segment.acknowledge(99)).toThrow(ProtocolViolation);
  running.acknowledge(ticks[0]!);
  expect(() => running.acknowledge(ticks[0]!)).toThrow(ProtocolViolation);
});
