import { readFile } from 'node:fs/promises';
import module from 'node:module';
import {
  type Checked,
  cellCount,
  type Limits,
  type Manifest,
  type MarketDay,
  type Quote,
  Rejection,
  type Scope,
  type SourceFile,
  type Venue,
} from '../../contract/index.ts';
import type { Archive } from '../archive/catalogue.ts';
import { coverage, type Need, resolveScope } from '../archive/scope.ts';
import { check } from '../check/check.ts';
import { checkSeries } from '../check/series.ts';
import { MANIFEST } from '../check/source.ts';
import type { SeriesRows } from '../replay/stream.ts';
import { isFeed } from './files.ts';

/** A strategy folder as it was read: text files, and where its series lie. */
export interface Source {
  readonly files: readonly SourceFile[];
  readonly series: ReadonlyMap<string, string>;
}

/** A submission that nothing is wrong with: everything that can be known before a box is started. */
export interface Prepared {
  readonly checked: Checked;
  readonly manifest: Manifest;
  readonly manifestText: string;
  readonly files: readonly SourceFile[];
  readonly series: readonly {
    readonly name: string;
    readonly columns: readonly string[];
    readonly rows: SeriesRows;
  }[];
  readonly venue: Venue;
  readonly quote: Quote;
  readonly marketDays: readonly MarketDay[];
}

/** Checks source, scope, coverage and series. Throws a Rejection; nothing has been written or run then. */
export async function prepare(
  source: Source,
  archive: Archive,
  scope: Scope,
  limits: Limits,
  seed: number | null,
): Promise<Prepared> {
  const checked = await check(source.files, { limits, series: [...source.series.keys()] });
  const manifest = seed === null ? checked.manifest : { ...checked.manifest, seed };
  const cells = cellCount(manifest.sweep);
  const { quote, marketDays } = await resolveScope(archive, scope, manifest.intervals, manifest.mode, cells);
  await coverage(archive, quote.venue, needsOf(manifest, marketDays));
  return {
    checked,
    manifest,
    manifestText: source.files.find((file) => file.name === MANIFEST)!.content,
    files: source.files.filter((file) => file.name !== MANIFEST).map(stripped),
    series: await readSeries(manifest, source.series, limits),
    venue: quote.venue,
    quote,
    marketDays,
  };
}

/** What the strategy declared must be there on every day of the scope. */
function needsOf(manifest: Manifest, marketDays: readonly MarketDay[]): Need[] {
  const needs: Need[] = [];
  for (const { asset, interval, date } of marketDays) {
    for (const dataset of manifest.datasets) {
      if (dataset === 'klines')
        for (const kline of manifest.kline_intervals)
          needs.push({ dataset, asset, interval: kline, dates: [date] });
      else needs.push({ dataset, asset, interval: isFeed(dataset) ? null : interval, dates: [date] });
    }
    for (const { asset: other, dataset, interval: of } of manifest.context)
      needs.push({ dataset, asset: other, interval: isFeed(dataset) ? null : (of ?? null), dates: [date] });
  }
  return mergeNeeds(needs);
}

/** The same dataset on several days is one need. */
function mergeNeeds(needs: readonly Need[]): Need[] {
  const merged = new Map<string, Need>();
  for (const need of needs) {
    const key = `${need.asset} ${need.dataset} ${need.interval}`;
    const dates = [...new Set([...(merged.get(key)?.dates ?? []), ...need.dates])];
    merged.set(key, { ...need, dates });
  }
  return [...merged.values()];
}

async function readSeries(
  manifest: Manifest,
  paths: ReadonlyMap<string, string>,
  limits: Limits,
): Promise<Prepared['series']> {
  return Promise.all(
    manifest.series.map(async ({ name, file, lag_ms }) => {
      const path = paths.get(file);
      if (!path) throw new Rejection('E_SERIES', `${file}: the manifest names it and the folder lacks it`);
      const { columns, ts, values } = checkSeries(file, await readFile(path), limits);
      return {
        name,
        columns,
        rows: { length: ts.length, ts_ms: ts, at_ms: ts.map((ms) => ms + lag_ms), columns: values },
      };
    }),
  );
}

/** The box may hold a Node without type stripping, so types are taken out here; lines and columns stay. */
function stripped(file: SourceFile): SourceFile {
  if (!/\.m?ts$/.test(file.name)) return file;
  // Older versions of Node do not have it.
  if (typeof module.stripTypeScriptTypes !== 'function')
    throw new Error(`${file.name}: TypeScript needs Node 22.13 or newer here; npx backtest brings its own`);
  return { name: file.name, content: module.stripTypeScriptTypes(file.content) };
}
