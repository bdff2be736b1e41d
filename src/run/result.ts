import type { MarketResult, UnitResult } from '../../contract/index.ts';
import type { Segment, SegmentPlan } from './segment.ts';

/** What one finished segment came to. */
export function segmentResult(plan: SegmentPlan, segment: Segment): UnitResult {
  const { venue, stream } = segment;
  const { orders, pnl } = venue.finish(segment.now);
  const alone = plan.markets.filter(({ spec }) => spec.tradable).length === 1;
  const markets: MarketResult[] = plan.markets.flatMap(({ spec, asset, interval, date }, market) => {
    if (!spec.tradable) return [];
    const position = venue.portfolio.positions[market]!;
    return [
      {
        market: spec.id,
        asset,
        interval,
        date,
        start_ms: spec.start_ms,
        end_ms: spec.end_ms,
        outcome: spec.outcome,
        ticks: alone ? stream.ticks : stream.ticksOf[market]!,
        orders: position.orders,
        fills: position.fills,
        fees: position.fees,
        pnl: pnl(market),
      },
    ];
  });
  const { fills, marks } = venue.journal;
  return {
    markets,
    orders,
    fills,
    marks,
    logs: [],
    forecasts: [],
    counts: { ...venue.journal.counts, ...plan.met },
  };
}

/** Results of segments that ran one after another, as one. */
export function joined(results: readonly UnitResult[]): UnitResult {
  const counts: Record<string, number> = {};
  for (const result of results)
    for (const [name, by] of Object.entries(result.counts)) counts[name] = (counts[name] ?? 0) + by;
  return {
    markets: results.flatMap((result) => result.markets),
    orders: results.flatMap((result) => result.orders),
    fills: results.flatMap((result) => result.fills),
    marks: results.flatMap((result) => result.marks),
    logs: results.flatMap((result) => result.logs),
    forecasts: results.flatMap((result) => result.forecasts),
    counts,
  };
}
