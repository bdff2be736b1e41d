import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { type Dataset, datasetsOf, day, feeds, type Venue, venue, venues } from '../../contract/index.ts';
import { inflate } from './inflate.ts';

interface Skipped {
  readonly path: string;
  readonly reason: string;
}

export interface Indexed {
  readonly days: number;
  readonly files: number;
  /** Files that no index lists: their names say nothing, or they can not be read. */
  readonly skipped: readonly Skipped[];
}

interface Listed {
  readonly name: string;
  readonly dataset: Dataset;
  readonly asset: string;
  readonly interval: string | null;
  readonly bytes: number;
  readonly rows: number;
  readonly sha256: string;
}

/**
 * Writes the index.json of every day below `folder`, which is an archive, a venue or a day of one, and the list of
 * days of its venues. `onFile` hears of each file once it is read, or skipped.
 */
export async function indexArchive(
  folder: string,
  onFile: (path: string) => void = () => {},
): Promise<Indexed> {
  const dayFolders = await findDays(resolve(folder));
  if (dayFolders.length === 0) {
    throw new Error(
      `${folder} holds no days: expected an archive ({venue}/{date}/...), a venue's folder or a day's, with venues ${venues.join(', ')}`,
    );
  }
  const skipped: Skipped[] = [];
  let files = 0;
  for (const dayFolder of dayFolders) {
    files += await indexDay(dayFolder, skipped, onFile);
  }
  for (const venueFolder of new Set(dayFolders.map((path) => dirname(path)))) await listDays(venueFolder);
  return { days: dayFolders.length, files, skipped };
}

async function findDays(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const name = basename(folder);
  if (day.safeParse(name).success && venue.safeParse(basename(dirname(folder))).success) return [folder];
  const children = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  if (venue.safeParse(name).success) {
    const dates = children.filter((child) => day.safeParse(child).success).sort();
    return dates.map((date) => join(folder, date));
  }
  const below = children.filter((child) => venue.safeParse(child).success).sort();
  return (await Promise.all(below.map((child) => findDays(join(folder, child))))).flat();
}

async function indexDay(folder: string, skipped: Skipped[], onFile: (path: string) => void): Promise<number> {
  const date = basename(folder);
  const venueName = venue.parse(basename(dirname(folder)));
  const files: Listed[] = [];
  for (const name of (await readdir(folder)).sort()) {
    // Parquet copies stand beside their csv.gz and are not listed.
    if (name === 'index.json' || name.startsWith('.') || name.endsWith('.parquet')) continue;
    const path = join(folder, name);
    const found = parseName(name, venueName, date);
    const problem = typeof found === 'string' ? found : await readFileOf(path, { name, ...found }, files);
    if (problem !== null) skipped.push({ path, reason: problem });
    onFile(path);
  }
  await writeJson(join(folder, 'index.json'), { venue: venueName, date, files });
  return files.length;
}

const NAME =
  /^(?<asset>[A-Z0-9]+?)USD-(?<dataset>[a-z0-9_]+)(?:-(?<interval>\d+(?:s|m|h|d|w|mo)))?(?<b>-b)?-(?<date>\d{4}-\d\d-\d\d)\.csv\.gz$/;

/** What a file's name says of it, or what is wrong with the name. */
function parseName(
  name: string,
  venueName: Venue,
  date: string,
): Pick<Listed, 'dataset' | 'asset' | 'interval'> | string {
  const suffix = venueName === 'venue_b' ? '-b' : '';
  const parts = NAME.exec(name)?.groups;
  if (!parts || (parts.b ?? '') !== suffix) {
    return `its name is not <BASE>USD-<dataset>[-<interval>]${suffix}-<date>.csv.gz`;
  }
  if (parts.date !== date) return `its name says ${parts.date}, its folder ${date}`;
  const dataset = datasetsOf[venueName].find((known) => known === parts.dataset);
  if (!dataset) return `${venueName} has no dataset ${parts.dataset}`;
  const interval = parts.interval ?? null;
  const isFeed = feeds.some((feed) => feed === dataset);
  if (isFeed !== (interval === null))
    return `${dataset} files have ${isFeed ? 'no' : 'an'} interval in their names`;
  return { dataset, asset: parts.asset, interval };
}

/** Adds the file to `files`; returns why not, if not. */
async function readFileOf(
  path: string,
  file: Pick<Listed, 'name' | 'dataset' | 'asset' | 'interval'>,
  files: Listed[],
): Promise<string | null> {
  if (!(await stat(path)).isFile()) return 'it is no file';
  const bytes = await readFile(path);
  try {
    const rows = Math.max(0, (await countLines(bytes)) - 1);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    files.push({ ...file, bytes: bytes.length, rows, sha256 });
    return null;
  } catch (error) {
    return `it is no complete gzip: ${(error as Error).message}`;
  }
}

async function countLines(gz: Buffer): Promise<number> {
  let lines = 0;
  let last = NEWLINE;
  for await (const chunk of inflate(gz)) {
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) lines++;
    last = chunk[chunk.length - 1];
  }
  return last === NEWLINE ? lines : lines + 1;
}

const NEWLINE = 10;

async function listDays(venueFolder: string): Promise<void> {
  const days: string[] = [];
  for (const date of (await readdir(venueFolder)).sort()) {
    if (!day.safeParse(date).success) continue;
    if (await stat(join(venueFolder, date, 'index.json')).catch(() => null)) days.push(date);
  }
  await writeJson(join(venueFolder, 'index.json'), { days });
}

async function writeJson(path: string, value: unknown): Promise<void> {
  const temp = `${path}.${randomUUID()}.tmp`;
  try {
    await writeFile(temp, `${JSON.stringify(value, null, 2)}\n`);
    await rename(temp, path);
  } catch (error) {
    await rm(temp, { force: true });
    throw error;
  }
}
