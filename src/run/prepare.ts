import { createHash } from 'node:crypto';
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
import { readSeriesFile } from '../check/seriesfile.ts';
import { MANIFEST } from '../check/source.ts';
import type { SeriesRows } from '../replay/stream.ts';
import { isFeed } from './files.ts';

/** A strategy folder as it was read: text files, and where its series lie. */
export interface Source {
  readonly files: readonly SourceFile[];
  readonly series: ReadonlyMap<string, string>;
}

/** A series of the manifest, parsed. */
export interface SeriesData {
  readonly name: string;
  readonly file: string;
  readonly sha256: string;
  readonly columns: readonly string[];
  readonly rows: SeriesRows;
}

/** A submission that nothing is wrong with: everything that can be known before a box is started. */
export interface Prepared {
  readonly checked: Checked;
  readonly manifest: Manifest;
  readonly manifestText: string;
  readonly files: readonly SourceFile[];
  readonly series: readonly SeriesData[];
  readonly venue: Venue;
  readonly quote: Quote;
  readonly marketDays: readonly MarketDay[];
}

/**
 * Checks source, scope, coverage and series. Throws a Rejection; nothing has been written or run then. `read` gives the
 * bytes of a series from where `source` says that it lies.
 */
export async function prepare(
  source: Source,
  archive: Archive,
  scope: Scope,
  limits: Limits,
  seed: number | null,
  read: (place: string) => Promise<Uint8Array> = (path) => readFile(path),
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
    series: await readSeries(manifest, source.series, limits, read),
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

export async function readSeries(
  manifest: Manifest,
  places: ReadonlyMap<string, string>,
  limits: Limits,
  read: (place: string) => Promise<Uint8Array>,
): Promise<SeriesData[]> {
  return Promise.all(
    manifest.series.map(async ({ name, file, lag_ms }) => {
      const place = places.get(file);
      if (!place) throw new Rejection('E_SERIES', `${file}: the manifest names it and it was not given`);
      const bytes = await read(place);
      const { columns, ts, values } = await readSeriesFile(file, bytes, limits);
      return {
        name,
        file,
        sha256: createHash('sha256').update(bytes).digest('hex'),
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
