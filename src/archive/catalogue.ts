import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type Dataset, dataset, day, type Venue, venue } from '../../contract/index.ts';
import { isRemote, readBytes } from './fetch.ts';

const fileEntry = z.object({
  name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'expected a plain file name'),
  dataset,
  asset: z.string(),
  interval: z.string().nullable(),
  bytes: z.number().int().min(0),
  /** Without the header line. */
  rows: z.number().int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, 'expected 64 hex digits'),
});
const dayIndex = z.object({ venue, date: day, files: z.array(fileEntry) });
const venueIndex = z.object({ days: z.array(day) });

/** A file of the archive, as a day's index.json lists it. */
export interface ArchiveFile extends z.infer<typeof fileEntry> {
  readonly venue: Venue;
  readonly date: string;
}

export interface DayIndex {
  readonly venue: Venue;
  readonly date: string;
  readonly files: readonly ArchiveFile[];
}

/** A folder or a web server that holds `{venue}/{date}/{name}`, with an index.json in each day's folder. */
export interface Archive {
  readonly location: string;
  /** The archived days of a venue, oldest first; empty where the archive does not have the venue. */
  days(venue: Venue, signal?: AbortSignal): Promise<string[]>;
  /** What a day holds; null if it is not archived. */
  day(venue: Venue, date: string, signal?: AbortSignal): Promise<DayIndex | null>;
}

/** Opens an archive. Nothing is read yet. `location`: a folder, or an http(s) URL. */
export function openArchive(location: string): Archive {
  const base = location.replace(/(?<=.)\/+$/, '');
  return {
    location: base,
    days: isRemote(base) ? (name, signal) => remoteDays(base, name, signal) : (name) => localDays(base, name),
    day: (name, date, signal) => readDay(base, name, date, signal),
  };
}

/** The file that holds a dataset of an asset; the interval is null where the dataset has none. */
export function findFile(
  index: DayIndex | null,
  wanted: { readonly dataset: Dataset; readonly asset: string; readonly interval: string | null },
): ArchiveFile | null {
  const found = index?.files.find(
    (file) =>
      file.dataset === wanted.dataset && file.asset === wanted.asset && file.interval === wanted.interval,
  );
  return found ?? null;
}

async function localDays(folder: string, name: Venue): Promise<string[]> {
  if (!(await isFolder(folder))) throw new Error(`there is no archive in ${folder}: no such folder`);
  const venueFolder = join(folder, name);
  if (!(await isFolder(venueFolder))) return [];
  const days = (await readdir(venueFolder)).filter((entry) => day.safeParse(entry).success).sort();
  const missing = await Promise.all(days.map((date) => isUnindexed(join(venueFolder, date))));
  const first = missing.indexOf(true);
  if (first >= 0) throw unindexed(join(venueFolder, days[first]));
  return days;
}

async function remoteDays(base: string, name: Venue, signal?: AbortSignal): Promise<string[]> {
  const path = `${name}/index.json`;
  const bytes = await readBytes(base, path, signal);
  return bytes === null ? [] : parse(bytes, venueIndex, `${base}/${path}`).days.toSorted();
}

async function readDay(
  base: string,
  name: Venue,
  date: string,
  signal?: AbortSignal,
): Promise<DayIndex | null> {
  const path = `${name}/${date}/index.json`;
  const bytes = await readBytes(base, path, signal);
  if (bytes === null) {
    if (!isRemote(base) && (await isFolder(join(base, name, date)))) throw unindexed(join(base, name, date));
    return null;
  }
  const index = parse(bytes, dayIndex, `${base}/${path}`);
  if (index.venue !== name || index.date !== date) {
    throw new Error(`${base}/${path} says that it is ${index.venue} ${index.date}. ${INDEX_AGAIN}`);
  }
  return { ...index, files: index.files.map((file) => ({ ...file, venue: name, date })) };
}

const INDEX_AGAIN = 'Write it again with: npx backtest archive index DIR';

function parse<T>(bytes: Buffer, schema: z.ZodType<T>, place: string): T {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString());
  } catch (error) {
    throw new Error(`${place} is no JSON: ${(error as Error).message}. ${INDEX_AGAIN}`);
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new Error(`${place} is no index of an archive: ${z.prettifyError(parsed.error)}\n${INDEX_AGAIN}`);
}

const unindexed = (folder: string): Error =>
  new Error(`${folder} has no index.json. Write it with: npx backtest archive index ${folder}`);

async function isUnindexed(folder: string): Promise<boolean> {
  return (await isFolder(folder)) && !(await exists(join(folder, 'index.json')));
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() ?? false;
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null;
}
