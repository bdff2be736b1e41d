import type { Manifest, ParamValue } from '../../contract/manifest.ts';
import type { Quote } from '../../contract/quote.ts';
import type { FillRow, MarketResult, OrderRow, Report, UnitResult } from '../../contract/report.ts';
import { decimal, dollars, places, rounded } from './amount.ts';
import { type Curve, equityCurve, extremes } from './equity.ts';

/** All that a report is made from. The same input gives the same report, to the byte. */
export interface ReportInput {
  readonly manifest: Manifest;
  /** Which cell of the sweep, from 0, and what its params are. */
  readonly cell: number;
  readonly params: Readonly<Record<string, ParamValue>>;
  readonly quote: Quote;
  readonly engine_version: string;
  readonly source_sha256: string;
  readonly data_digest: string;
  /** Every archive file that was read. */
  readonly files: readonly { readonly name: string; readonly sha256: string; readonly rows: number }[];
  /** Dirt in archive rows, counted by kind, and where the first unreadable ones stand. */
  readonly dirt: Readonly<Record<string, number>>;
  readonly places: readonly string[];
  readonly least_lag_ms: number | null;
  /** 0 for lock-step. */
  readonly prefetch_ms: number;
  readonly prints_archived: boolean;
  /** In the order of the plan. */
  readonly units: readonly UnitResult[];
}

/** The starting capital in micro-dollars. */
export const capitalOf = (input: ReportInput): number => Math.round(input.manifest.capital * 1e6);

/** Works out the report. Throws when markets and equity do not add up to the same pnl: such a report is worth nothing. */
export function buildReport(
  input: ReportInput,
  curve: Curve = equityCurve(capitalOf(input), input.units),
): Report {
  const capital = capitalOf(input);
  const markets = input.units.flatMap((unit) => unit.markets);
  const fills = fillFigures(input.units);
  const marked = extremes(capital, curve);
  const net = sum(markets, (market) => market.pnl);
  const fees = sum(markets, (market) => market.fees);
  if (net !== marked.last - capital) {
    const [byMarket, byEquity] = [net, marked.last - capital].map((micro) => decimal(micro, places.money));
    throw new Error(
      `the markets made ${byMarket} dollars and the equity curve ${byEquity}: the replay lost count`,
    );
  }
  return {
    format: 1,
    identity: {
      engine_version: input.engine_version,
      source_sha256: input.source_sha256,
      data_digest: input.data_digest,
      seed: input.manifest.seed,
      manifest: input.manifest,
      cell: input.cell,
      params: { ...input.params },
    },
    scope: input.quote,
    pnl: {
      net: dollars(net),
      gross: dollars(net + fees),
      fees: dollars(fees),
      capital: dollars(capital),
      per_share: fills.size === 0 ? null : rounded(net / fills.size / 100),
      measured: input.prints_archived,
    },
    equity: {
      first: dollars(capital),
      last: dollars(marked.last),
      min: dollars(marked.min),
      max: dollars(marked.max),
    },
    drawdown: {
      max: dollars(marked.fall),
      peak_ms: marked.peak_ms,
      trough_ms: marked.trough_ms,
      peak_capital: dollars(marked.at_work),
    },
    markets: marketFigures(markets),
    fills: fills.report,
    orders: orderFigures(input.units),
    forecasts: { count: sum(input.units, (unit) => unit.forecasts.length) },
    data_quality: {
      files: input.files.map(({ name, sha256, rows }) => ({ name, sha256, rows })),
      rows: added([input.dirt]),
      places: [...input.places],
      exchange: added(input.units.map((unit) => unit.counts)),
      least_lag_ms: input.least_lag_ms,
    },
    assumptions: {
      queue: input.manifest.execution.queue,
      self_trade: input.manifest.execution.self_trade,
      latency_ms: input.manifest.execution.latency_ms,
      prefetch_ms: input.prefetch_ms,
      notes: notes(input),
    },
  };
}

function marketFigures(markets: readonly MarketResult[]): Report['markets'] {
  const resolved = markets.filter((market) => market.fills > 0 && market.outcome !== null);
  return {
    count: markets.length,
    traded: markets.filter((market) => market.fills > 0).length,
    won: resolved.filter((market) => market.pnl > 0).length,
    lost: resolved.filter((market) => market.pnl < 0).length,
    unresolved: markets.filter((market) => market.outcome === null).length,
    rows: markets.map((one) => ({
      market: one.market,
      asset: one.asset,
      interval: one.interval,
      outcome: one.outcome,
      ticks: one.ticks,
      orders: one.orders,
      fills: one.fills,
      fees: dollars(one.fees),
      pnl: dollars(one.pnl),
    })),
  };
}

/** Settlements are no fills here: nobody traded. `size` is all shares, in counts of 1e-4. */
function fillFigures(units: readonly UnitResult[]): { size: number; report: Report['fills'] } {
  let maker = 0;
  let taker = 0;
  let size = 0;
  let makerSize = 0;
  // Price times size is in units of 1e-8 dollars: a million fills of it can leave the safe integers.
  let notional = 0n;
  const add = (fill: FillRow): void => {
    if (fill.side === 'settle') return;
    size += fill.size;
    notional += BigInt(fill.price) * BigInt(fill.size);
    if (fill.liquidity === 'taker') taker++;
    if (fill.liquidity !== 'maker') return;
    maker++;
    makerSize += fill.size;
  };
  for (const unit of units) unit.fills.forEach(add);
  return {
    size,
    report: {
      count: maker + taker,
      maker,
      taker,
      shares: size / 1e4,
      notional: dollars(Number((notional + 50n) / 100n)),
      maker_share: size === 0 ? null : rounded(makerSize / size),
    },
  };
}

function orderFigures(units: readonly UnitResult[]): Report['orders'] {
  const byStatus: Record<string, number> = {};
  const byReason: Record<string, number> = {};
  let asked = 0;
  let filled = 0;
  const add = (order: OrderRow): void => {
    byStatus[order.status] = (byStatus[order.status] ?? 0) + 1;
    if (order.reason !== '') byReason[order.reason] = (byReason[order.reason] ?? 0) + 1;
    if (order.status === 'rejected') return;
    asked += order.size;
    filled += order.filled;
  };
  for (const unit of units) unit.orders.forEach(add);
  return {
    count: sum(units, (unit) => unit.orders.length),
    by_status: added([byStatus]),
    by_reason: added([byReason]),
    fill_ratio: asked === 0 ? null : rounded(filled / asked),
  };
}

function notes(input: ReportInput): string[] {
  const all = [
    `Queue position is not recorded: "${input.manifest.execution.queue}" is an assumption, and live trading can be worse.`,
  ];
  if (!input.prints_archived) {
    all.push('The archive holds no prints for this scope, so maker fills could not be measured.');
  }
  if (input.prefetch_ms > 0) {
    all.push(
      `Rows lie in the strategy's process up to ${input.prefetch_ms} ms before it is shown them; a lock-step run rules that out.`,
    );
  }
  return all;
}

/** Counts by name, added up and in the order of their names. */
function added(counts: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const total = new Map<string, number>();
  for (const one of counts) {
    for (const [name, count] of Object.entries(one)) total.set(name, (total.get(name) ?? 0) + count);
  }
  return Object.fromEntries([...total].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}
