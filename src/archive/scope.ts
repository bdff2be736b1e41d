import {
  DAY_MS,
  type Dataset,
  dayStart,
  dayText,
  LIMITS,
  type Manifest,
  type MarketDay,
  marketIntervals,
  type Quote,
  Rejection,
  type Scope,
  type Venue,
} from '../../contract/index.ts';
import { type Archive, type DayIndex, findFile } from './catalogue.ts';
import { inParallel } from './parallel.ts';

/** How many days' indexes are read at a time. */
const READS = 8;

/**
 * Finds the market-days that a scope names and prices them. Throws a Rejection, E_SCOPE or E_LIMIT, that says what the
 * archive has instead. `cells`: of the manifest's sweep.
 */
export async function resolveScope(
  archive: Archive,
  scope: Scope,
  intervals: readonly string[],
  mode: Manifest['mode'],
  cells: number,
): Promise<{ quote: Quote; marketDays: MarketDay[] }> {
  checkScope(scope, intervals, cells);
  const days = await requestedDays(archive, scope, intervals);
  const held = days.indexes.map((index) => ({ date: index.date, held: heldBy(index, intervals) }));
  const assets = scope.assets
    ? [...new Set(scope.assets)]
    : [...new Set(held.flatMap((one) => one.held.map((pair) => pair.asset)))].sort();
  const marketDays: MarketDay[] = [];
  const missing: string[] = [];
  for (const asset of assets) {
    let found = 0;
    for (const interval of intervals) {
      for (const one of held) {
        const exists = one.held.some((pair) => pair.asset === asset && pair.interval === interval);
        if (exists) marketDays.push({ asset, interval, date: one.date });
        else missing.push(`${asset} ${interval} ${one.date}`);
        if (exists) found++;
      }
    }
    if (found === 0) throw await nothing(archive, scope.venue, `${asset} ${intervals.join(', ')}`, days);
  }
  if (marketDays.length === 0) throw await nothing(archive, scope.venue, intervals.join(', '), days);
  const dates = [...new Set(marketDays.map((one) => one.date))].sort();
  return {
    quote: {
      venue: scope.venue,
      assets,
      from: dates[0],
      to: dates[dates.length - 1],
      requestedFrom: days.from,
      requestedTo: days.to,
      requestedDays: days.count,
      archivedDayCount: dates.length,
      missingDays: days.count - dates.length,
      missing,
      marketDays: marketDays.length,
      mode,
      sweepCells: cells,
      credits: marketDays.length * cells,
    },
    marketDays,
  };
}

/** A dataset that must be there on certain days. */
export interface Need {
  readonly dataset: Dataset;
  readonly asset: string;
  /** Null where the dataset has none. */
  readonly interval: string | null;
  readonly dates: readonly string[];
}

/** Throws a Rejection, E_COVERAGE, that names every dataset which the archive lacks, and on which days. */
export async function coverage(archive: Archive, venue: Venue, needs: readonly Need[]): Promise<void> {
  const dates = [...new Set(needs.flatMap((need) => need.dates))].sort();
  const read = await inParallel(
    dates,
    READS,
    async (date) => [date, await archive.day(venue, date)] as const,
  );
  const days = new Map(read);
  const lacking = needs
    .map((need) => ({ need, dates: need.dates.filter((date) => !findFile(days.get(date) ?? null, need)) }))
    .filter(({ dates: lacks }) => lacks.length > 0);
  if (lacking.length === 0) return;
  const parts = lacking.map(({ need, dates: lacks }) => {
    const name = [need.asset, need.dataset, need.interval].filter((part) => part !== null).join(' ');
    return `${name} on ${spans([...lacks].sort())}`;
  });
  throw new Rejection('E_COVERAGE', `the archive of ${venue} lacks ${parts.join('; ')}`);
}

function checkScope(scope: Scope, intervals: readonly string[], cells: number): void {
  const known = marketIntervals[scope.venue];
  const unknown = intervals.filter((interval) => !known.includes(interval));
  if (unknown.length > 0) {
    throw new Rejection(
      'E_SCOPE',
      `${scope.venue} has markets of ${known.join(', ')}, not of ${unknown.join(', ')}`,
    );
  }
  const ways = [
    scope.from !== undefined || scope.to !== undefined ? 'from/to' : null,
    scope.days !== undefined ? 'days' : null,
    scope.range !== undefined ? 'range' : null,
  ].filter((way) => way !== null);
  if (ways.length > 1)
    throw new Rejection('E_SCOPE', `give either from/to, days or range: here are ${ways.join(' and ')}`);
  if ((scope.from === undefined) !== (scope.to === undefined)) {
    const [given, other] = scope.to === undefined ? ['from', 'to'] : ['to', 'from'];
    throw new Rejection(
      'E_SCOPE',
      `${given} is given without ${other}: for a single day give the same day twice`,
    );
  }
  if (scope.sweep_cells !== undefined && scope.sweep_cells !== cells) {
    throw new Rejection(
      'E_SCOPE',
      `sweep_cells is ${scope.sweep_cells}, but the manifest's sweep has ${cells} cells`,
    );
  }
}

interface Days {
  readonly from: string;
  readonly to: string;
  readonly count: number;
  /** One a day, oldest first; of a day that is not archived an empty one. */
  readonly indexes: readonly DayIndex[];
}

async function requestedDays(archive: Archive, scope: Scope, intervals: readonly string[]): Promise<Days> {
  const { venue } = scope;
  const read = async (date: string) => (await archive.day(venue, date)) ?? { venue, date, files: [] };
  if (scope.from !== undefined && scope.to !== undefined) {
    const count = (dayStart(scope.to) - dayStart(scope.from)) / DAY_MS + 1;
    if (count < 1) throw new Rejection('E_SCOPE', `from ${scope.from} is after to ${scope.to}`);
    checkCount(count);
    const first = dayStart(scope.from);
    const dates = Array.from({ length: count }, (_, i) => dayText(first + i * DAY_MS));
    return { from: scope.from, to: scope.to, count, indexes: await inParallel(dates, READS, read) };
  }
  const archived = await archive.days(venue);
  if (archived.length === 0) {
    throw new Rejection('E_SCOPE', `the archive has no days of ${venue}`);
  }
  const newest = scope.days ?? (scope.range === undefined ? null : Number.parseInt(scope.range, 10));
  if (newest === null) {
    if (archived.length > LIMITS.scope_days) {
      throw new Rejection(
        'E_SCOPE',
        `the archive has ${archived.length} days of ${venue}, ${spans(archived)}: say which by from and to or by days, at most ${LIMITS.scope_days}`,
      );
    }
    const indexes = await inParallel(archived, READS, read);
    return { from: archived[0], to: archived[archived.length - 1], count: archived.length, indexes };
  }
  checkCount(newest);
  const indexes: DayIndex[] = [];
  for (let at = archived.length; at > 0 && indexes.length < newest; at -= READS) {
    const some = await inParallel(archived.slice(Math.max(0, at - READS), at), READS, read);
    indexes.unshift(
      ...some.filter((index) => isFor(index, scope, intervals)).slice(-(newest - indexes.length)),
    );
  }
  const found = indexes.length > 0 ? indexes.map((index) => index.date) : archived;
  return { from: found[0], to: found[found.length - 1], count: newest, indexes };
}

function checkCount(days: number): void {
  if (days > LIMITS.scope_days) {
    throw new Rejection('E_LIMIT', `a scope has at most ${LIMITS.scope_days} days, this one has ${days}`);
  }
}

/** The asset and interval of each markets file of a day. */
function heldBy(index: DayIndex, intervals: readonly string[]): { asset: string; interval: string }[] {
  return index.files.flatMap(({ dataset, asset, interval }) =>
    dataset === 'markets' && interval !== null && intervals.includes(interval) ? [{ asset, interval }] : [],
  );
}

function isFor(index: DayIndex, scope: Scope, intervals: readonly string[]): boolean {
  return heldBy(index, intervals).some(({ asset }) => scope.assets?.includes(asset) ?? true);
}

/** The rejection of a scope that names nothing the archive holds. */
async function nothing(archive: Archive, venue: Venue, what: string, days: Days): Promise<Rejection> {
  const where = days.from === days.to ? `on ${days.from}` : `from ${days.from} to ${days.to}`;
  const archived = await archive.days(venue);
  const there = days.indexes.flatMap((index) => heldBy(index, marketIntervals[venue]));
  const names = [...new Set(there.map(({ asset, interval }) => `${asset} ${interval}`))].sort();
  const instead =
    names.length > 0
      ? `there it has ${names.join(', ')}`
      : archived.length > 0
        ? `it has ${spans(archived)}`
        : `it has no days of ${venue}`;
  return new Rejection('E_SCOPE', `the archive has no ${what} markets of ${venue} ${where}: ${instead}`);
}

/** Sorted days as text: `2026-04-16, 2026-04-18 to 2026-04-20`. */
function spans(dates: readonly string[]): string {
  const runs: { from: string; to: string }[] = [];
  for (const date of dates) {
    const last = runs.at(-1);
    if (last && dayStart(date) - dayStart(last.to) === DAY_MS) last.to = date;
    else runs.push({ from: date, to: date });
  }
  return runs.map(({ from, to }) => (from === to ? from : `${from} to ${to}`)).join(', ');
}
