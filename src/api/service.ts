import { z } from 'zod';
import {
  type CapacityAnswer,
  type ContractAnswer,
  capacityAnswer,
  capacityQuery,
  contractAnswer,
  datasetsOf,
  failures,
  healthAnswer,
  hooks,
  klineIntervalMs,
  type Limits,
  languages,
  manifest,
  marketIntervals,
  modes,
  type PacksAnswer,
  packs,
  packsAnswer,
  reasons,
  rejectionCodes,
  Unreachable,
  type Venue,
  venues,
} from '../../contract/index.ts';
import type { Archive } from '../archive/catalogue.ts';
import { load } from '../fleet/runs.ts';
import { badRequest, limited, unavailable } from './document.ts';
import type { Api, App } from './parts.ts';

/** A health check is no use to whoever has given up on it. */
const HEALTH_MS = 2_000;

/** What anybody may know: whether the service works, what it takes, what it costs, how much waits. */
export function service(app: App, { db, archive, limits }: Api): void {
  app.get(
    '/v1/health',
    {
      schema: {
        summary: 'Whether the database answers',
        response: { 200: healthAnswer, ...limited, ...unavailable },
      },
    },
    async () => {
      await within(HEALTH_MS, db.query('select 1'));
      return { ok: true } as const;
    },
  );
  app.get(
    '/v1/openapi.json',
    {
      schema: {
        summary: 'This document',
        response: { 200: z.record(z.string(), z.unknown()).describe('OpenAPI 3.1'), ...limited },
      },
    },
    async () => app.swagger() as unknown as Record<string, unknown>,
  );
  const contract = contractOf(limits);
  app.get(
    '/v1/backtest/contract',
    { schema: { summary: 'What a strategy may be', response: { 200: contractAnswer, ...limited } } },
    async () => contract,
  );
  app.get(
    '/v1/backtest/packs',
    {
      schema: {
        summary: 'What credits cost, and what they can be spent on',
        response: { 200: packsAnswer, ...limited, ...unavailable },
      },
    },
    async () => packsOf(archive, limits),
  );
  app.get(
    '/v1/backtest/capacity',
    {
      schema: {
        summary: 'Days that can be backtested, and the load of the fleet',
        querystring: capacityQuery,
        response: { 200: capacityAnswer, ...badRequest('no such venue'), ...limited, ...unavailable },
      },
    },
    async ({ query }): Promise<CapacityAnswer> => {
      const asked = query.venue === undefined ? venues : [query.venue];
      const windows = await Promise.all(asked.map(async (name) => [name, await windowOf(archive, name)]));
      return { venues: Object.fromEntries(windows), ...(await load(db)) };
    },
  );
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let alarm: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    alarm = setTimeout(() => reject(new Unreachable('the database', new Error('no answer'))), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(alarm));
}

const contractOf = (limits: Limits): ContractAnswer => ({
  contract: 1,
  languages: [...languages],
  modes: [...modes],
  hooks: hooks.map(({ needs, ...hook }) => ({ ...hook, needs: [...needs] })),
  venues: byVenue((name) => ({ intervals: [...marketIntervals[name]], datasets: [...datasetsOf[name]] })),
  kline_intervals: Object.keys(klineIntervalMs),
  limits: { ...limits },
  manifest: z.toJSONSchema(manifest, { io: 'input' }),
  rejections: [...rejectionCodes],
  failures,
  reasons: [...reasons],
});

async function packsOf(archive: Archive, limits: Limits): Promise<PacksAnswer> {
  const [a, b] = await Promise.all(venues.map((name) => assetsOf(archive, name)));
  const assets: Record<Venue, string[]> = { venue_a: a, venue_b: b };
  const { scope_days, sweep_cells, market_day_cpu_ms, memory_bytes } = limits;
  return {
    packs: [...packs],
    venues: byVenue((name) => ({ assets: assets[name], intervals: [...marketIntervals[name]] })),
    limits: { scope_days, sweep_cells, market_day_cpu_ms, memory_bytes },
  };
}

const byVenue = <T>(of: (name: Venue) => T): Record<Venue, T> => ({
  venue_a: of('venue_a'),
  venue_b: of('venue_b'),
});

/** Assets that have markets on the newest day. */
async function assetsOf(archive: Archive, name: Venue): Promise<string[]> {
  const newest = (await archive.days(name)).at(-1);
  const index = newest === undefined ? null : await archive.day(name, newest);
  const markets = index?.files.filter((file) => file.dataset === 'markets') ?? [];
  return [...new Set(markets.map((file) => file.asset))].sort();
}

async function windowOf(archive: Archive, name: Venue) {
  const days = await archive.days(name);
  return { firstDay: days[0] ?? null, lastDay: days.at(-1) ?? null, days: days.length };
}
