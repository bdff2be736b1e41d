import { klineIntervalMs, marketDatasets, marketIntervals } from '../../contract/datasets.ts';
import type { Limits } from '../../contract/limits.ts';
import { cellCount, type Manifest, manifest as schema } from '../../contract/manifest.ts';
import { Rejection } from '../../contract/rejection.ts';
import { type Complaint, complaints, named } from './issue.ts';
import { JsonFlaw, type Located, parseJson } from './json.ts';
import { checkName, MANIFEST } from './source.ts';
import { didYouMean, orList, place, shown } from './text.ts';

const MOST_COMPLAINTS = 5;

/** Suffixes of files that may hold a strategy's code, by the name of the language. */
export const suffixes: Readonly<Record<Manifest['language'], readonly string[]>> = {
  'python@3.14': ['.py'],
  'nodejs@24': ['.js', '.mjs', '.cjs', '.ts', '.mts'],
};

interface Surroundings {
  /** Names of the source files, the manifest among them. */
  readonly files: readonly string[];
  /** Names of the series files that were supplied; undefined where they are not known yet. */
  readonly series: readonly string[] | undefined;
  readonly limits: Limits;
}

/** Reads manifest.json. Throws `Rejection`: E_MANIFEST with line and column, E_ENTRY, E_SERIES. */
export function readManifest(text: string, around: Surroundings): Manifest {
  let json: Located;
  try {
    json = parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonFlaw)) throw error;
    throw new Rejection('E_MANIFEST', `${place(MANIFEST, text, error.offset)}: ${error.message}`);
  }
  const refuse = (found: readonly Complaint[]): void => {
    if (found.length === 0) return;
    const lines = found.slice(0, MOST_COMPLAINTS).map(({ path, at, text: words }) => {
      const offset = at === 'key' ? json.keyAt(path) : json.valueAt(path);
      return `${place(MANIFEST, text, offset)}: ${words}`;
    });
    if (found.length > lines.length) lines.push(`... and ${found.length - lines.length} more.`);
    throw new Rejection('E_MANIFEST', lines.join('\n'));
  };
  const parsed = schema.safeParse(json.value);
  if (!parsed.success) {
    refuse(complaints(parsed.error.issues, json.value, schema));
    throw parsed.error;
  }
  const written = json.value as Record<string, unknown>;
  refuse([
    ...intervalComplaints(parsed.data, 'kline_intervals' in written),
    ...contextComplaints(parsed.data),
    ...sweepComplaints(parsed.data),
    ...limitComplaints(parsed.data, around.limits),
  ]);
  checkEntry(parsed.data, around, place(MANIFEST, text, json.valueAt(['entry'])));
  parsed.data.series.forEach(({ file }, i) => {
    checkSeriesFile(file, around, place(MANIFEST, text, json.valueAt(['series', i, 'file'])));
  });
  return parsed.data;
}

const knownIntervals = [...new Set(Object.values(marketIntervals).flat())];

function intervalComplaints(manifest: Manifest, klinesWritten: boolean): Complaint[] {
  const found = manifest.intervals.flatMap((interval, i) =>
    knownIntervals.includes(interval)
      ? []
      : [wrong(['intervals', i], `markets run for ${orList(knownIntervals)}, not ${shown(interval)}`)],
  );
  if (klinesWritten && !manifest.datasets.includes('klines')) {
    found.push(
      wrong(['kline_intervals'], 'klines is not among the datasets; declare it, or remove this key'),
    );
  }
  return found;
}

function contextComplaints({ context }: Manifest): Complaint[] {
  const seen = new Set<string>();
  return context.flatMap((one, i): Complaint[] => {
    const key = JSON.stringify([one.asset, one.dataset, one.interval]);
    if (seen.has(key)) return [wrong(['context', i], 'stands twice')];
    seen.add(key);
    const ofMarket = one.dataset === 'markets' || (marketDatasets as readonly string[]).includes(one.dataset);
    const known = ofMarket ? knownIntervals : one.dataset === 'klines' ? Object.keys(klineIntervalMs) : [];
    if (known.length === 0) {
      return one.interval === undefined
        ? []
        : [wrong(['context', i, 'interval'], `${one.dataset} has no interval; remove this key`)];
    }
    if (one.interval === undefined)
      return [wrong(['context', i], `${one.dataset} needs an interval: ${orList(known)}`)];
    if (known.includes(one.interval)) return [];
    return [
      wrong(
        ['context', i, 'interval'],
        `${one.dataset} knows ${orList(known, 'and')}, not ${shown(one.interval)}`,
      ),
    ];
  });
}

function sweepComplaints({ params, sweep }: Manifest): Complaint[] {
  return Object.entries(sweep).flatMap(([name, values]) =>
    values.flatMap((value, i): Complaint[] => {
      const path = ['sweep', name, i];
      if (values.indexOf(value) < i)
        return [wrong(path, `${JSON.stringify(value)} stands twice, and would be paid for twice`)];
      const kind = typeof (params[name] ?? values[0]);
      return typeof value === kind
        ? []
        : [wrong(path, `expected a ${kind} like the other values of ${name}`)];
    }),
  );
}

function limitComplaints(manifest: Manifest, limits: Limits): Complaint[] {
  const counts: [string, number, number][] = [
    ['params', Object.keys({ ...manifest.params, ...manifest.sweep }).length, limits.params],
    ['sweep', Object.keys(manifest.sweep).length, limits.sweep_params],
    ['series', manifest.series.length, limits.series],
    ['context', manifest.context.length, limits.context_feeds],
    ['warmup_ms', manifest.warmup_ms, limits.warmup_ms],
    ['capital', manifest.capital, limits.capital_usd],
  ];
  const found = counts.flatMap(([name, count, most]) =>
    count > most ? [wrong([name], `${count} is more than the ${most} allowed`)] : [],
  );
  const cells = cellCount(manifest.sweep);
  return cells > limits.sweep_cells
    ? [...found, wrong(['sweep'], `${cells} cells; at most ${limits.sweep_cells} are allowed`)]
    : found;
}

const wrong = (path: PropertyKey[], words: string): Complaint => ({
  path,
  at: 'value',
  text: `${named(path)}: ${words}.`,
});

function checkEntry({ entry, language }: Manifest, { files }: Surroundings, where: string): void {
  const allowed = suffixes[language];
  if (!allowed.some((suffix) => entry.endsWith(suffix)) || /\.d\.m?ts$/.test(entry)) {
    throw new Rejection(
      'E_ENTRY',
      `${where}: entry ${shown(entry)} does not suit ${language}; expected a ${orList(allowed)} file.`,
    );
  }
  if (files.includes(entry)) return;
  const others = files.filter((name) => name !== MANIFEST);
  const hint =
    didYouMean(entry, others) ||
    (others.length > 0 ? ` The files are ${orList(others, 'and')}.` : ' There is no other file.');
  throw new Rejection('E_ENTRY', `${where}: entry ${shown(entry)} is not among the files.${hint}`);
}

function checkSeriesFile(file: string, { series, limits }: Surroundings, where: string): void {
  checkName(file, limits);
  if (series === undefined || series.includes(file)) return;
  throw new Rejection(
    'E_SERIES',
    `${where}: the series file ${shown(file)} was not supplied.${didYouMean(file, series)}`,
  );
}
