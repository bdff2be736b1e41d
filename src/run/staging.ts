import { createHash } from 'node:crypto';
import type { Dataset, Manifest, MarketDay } from '../../contract/index.ts';
import type { Dirt, Staged } from '../archive/staged.ts';
import { type FileKey, type Find, filesOf, keyText, marketsFilesOf } from './files.ts';
import { crossesMidnight, marketsOn } from './plan.ts';

/** Stages one file; undefined where the archive has none. */
export type Stage = (key: FileKey) => Promise<Staged | undefined>;

/** The staged files of some market-days. */
export interface StagedDays {
  readonly find: Find;
  readonly files: readonly Staged[];
}

/** Stages everything that market-days need; the markets files first, since they tell whether the next day is needed. */
export async function stageDays(
  manifest: Manifest,
  marketDays: readonly MarketDay[],
  stage: Stage,
): Promise<StagedDays> {
  const staged = new Map<string, Staged>();
  const find = (<D extends Dataset>(dataset: D, asset: string, interval: string | null, date: string) =>
    staged.get(keyText({ dataset, asset, interval, date })) as Staged<D> | undefined) as Find;
  const load = async (keys: readonly FileKey[]): Promise<void> => {
    await Promise.all(
      keys.map(async (key) => {
        const file = await stage(key);
        if (file) staged.set(keyText(key), file);
      }),
    );
  };
  await load(marketsFilesOf(manifest, marketDays));
  const crosses = (day: MarketDay): boolean => marketsOn(find, day).some((row) => crossesMidnight(row, day));
  await load(filesOf(manifest, marketDays, crosses));
  return { find, files: [...staged.values()] };
}

/** What a report tells of one file that was read. Plain data: a worker elsewhere may have read it. */
export interface FileRecord {
  /** Date and name. */
  readonly name: string;
  readonly sha256: string;
  readonly rows: number;
  readonly dirt: Dirt;
  /** Whether it holds prints. */
  readonly prints: boolean;
  readonly least_lag_ms: number | null;
}

function recordOf(file: Staged): FileRecord {
  const rows = file.rows as unknown as { length: number; recv?: Float64Array; event?: Float64Array };
  return {
    name: `${file.date}/${file.name}`,
    sha256: file.sha256,
    rows: rows.length,
    dirt: file.dirt,
    prints: file.dataset === 'last_trade_price' && rows.length > 0,
    least_lag_ms: rows.recv && rows.event && rows.length > 0 ? least(rows.recv, rows.event) : null,
  };
}

/** What a run read of the archive, file by file, for the report. The order in which files came does not show. */
export class Inventory {
  private readonly files = new Map<string, FileRecord>();

  add(files: readonly Staged[]): void {
    for (const file of files) {
      if (!this.files.has(`${file.date}/${file.name}`)) this.addRecords([recordOf(file)]);
    }
  }

  addRecords(records: readonly FileRecord[]): void {
    for (const record of records) this.files.set(record.name, record);
  }

  /** By name. */
  get records(): FileRecord[] {
    return [...this.files.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  get sorted(): { name: string; sha256: string; rows: number }[] {
    return this.records.map(({ name, sha256, rows }) => ({ name, sha256, rows }));
  }

  /** Over name and sha256 of every file that was read. */
  get digest(): string {
    const hash = createHash('sha256');
    for (const { name, sha256 } of this.records) hash.update(`${name} ${sha256}\n`);
    return hash.digest('hex');
  }

  get dirt(): Readonly<Record<string, number>> {
    const byKind: Record<string, number> = {};
    for (const { dirt } of this.files.values()) {
      const { places, ...counts } = dirt;
      for (const [kind, count] of Object.entries(counts)) byKind[kind] = (byKind[kind] ?? 0) + count;
    }
    return Object.fromEntries(Object.entries(byKind).sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  get places(): readonly string[] {
    return [...this.files.values()]
      .flatMap(({ name, dirt }) => dirt.places.map((place) => `${name}: ${place}`))
      .sort();
  }

  get leastLagMs(): number | null {
    const lags = [...this.files.values()].flatMap(({ least_lag_ms }) => least_lag_ms ?? []);
    return lags.length > 0 ? Math.min(...lags) : null;
  }

  get printsArchived(): boolean {
    return [...this.files.values()].some(({ prints }) => prints);
  }
}

function least(recv: Float64Array, event: Float64Array): number {
  let lag = Number.POSITIVE_INFINITY;
  for (let row = 0; row < recv.length; row++) {
    const of = recv[row]! - event[row]!;
    if (of < lag) lag = of;
  }
  return lag;
}
