import { expect, test } from 'vitest';
import { LIMITS, manifest } from '../../contract/index.ts';
import type { MarketRow } from '../../src/archive/staged.ts';
import type { Find } from '../../src/run/files.ts';
import { feedsOf, groupsOf, listMarkets, type PlanInput, planSegment } from '../../src/run/plan.ts';
import { playSegment } from './paperbox.ts';
import { MARKET_DAY, recording } from './recording.ts';

const parsed = manifest.parse({
  contract: 1,
  name: 'curious',
  language: 'nodejs@24',
  entry: 's.mjs',
  datasets: ['price_change', 'last_trade_price', 'prices'],
});

/** Everything sent to a box until the answer that carries a settlement, for a market that ends this way. */
function sentBeforeSettlement(seed: number, ending: Partial<MarketRow>, lockstep: boolean): Buffer {
  const recorded = recording(seed);
  const find = ((dataset: 'markets', asset: string, interval: string | null, date: string) => {
    const file = recorded.find(dataset, asset, interval, date);
    return file && dataset === 'markets'
      ? { ...file, rows: file.rows.map((row) => ({ ...row, ...ending })) }
      : file;
  }) as Find;
  const input: PlanInput = { manifest: parsed, venue: 'venue_a', limits: LIMITS, find, series: [] };
  const { markets } = listMarkets(input, [MARKET_DAY]);
  const sent: Uint8Array[] = [];
  for (const [at, group] of groupsOf('market', markets).entries()) {
    let settled = false;
    const buy = (line: string, ctx: { order(request: object): number }): void => {
      if (line.startsWith('row')) ctx.order({ side: 'buy', outcome: 'up', limit: 0.5, size: 5 });
    };
    playSegment(
      planSegment(input, feedsOf(input, ['BTC']), group, at),
      LIMITS,
      lockstep,
      buy,
      (payload, answer) => {
        settled ||= answer?.events.some((event) => event.kind === 'settle') ?? false;
        if (!settled) sent.push(payload);
      },
    );
  }
  return Buffer.concat(sent);
}

test.each([false, true])(
  'no byte sent before a settlement depends on how the market ended (lock-step %s)',
  (lockstep) => {
    for (let seed = 1; seed <= 40; seed++) {
      const [up, down, split] = (
        [
          { outcome: 'up', final: 70_000 },
          { outcome: 'down', final: 50_000 },
          { outcome: 'split', final: null },
        ] as const
      ).map((ending) => sentBeforeSettlement(seed, ending, lockstep));
      expect(up!.length).toBeGreaterThan(1_000);
      expect(up!.equals(down!)).toBe(true);
      expect(up!.equals(split!)).toBe(true);
    }
  },
);
