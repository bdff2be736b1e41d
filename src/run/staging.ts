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

/** What a run read of the archive, file by file, for the report. The order in which files came does not show. */
export class Inventory {
  private readonly files = new Map<string, { name: string; sha256: string; rows: number }>();
  private readonly dirtByKind: Record<string, number> = {};
  private readonly unreadable: string[] = [];
  private leastLag = Number.POSITIVE_INFINITY;
  private prints = false;

  add(files: readonly Staged[]): void {
    for (const file of files) {
      const at = `${file.date}/${file.name}`;
      if (this.files.has(at)) continue;
      const rows = file.rows as unknown as { length: number; recv?: Float64Array; event?: Float64Array };
      this.files.set(at, { name: at, sha256: file.sha256, rows: rows.length });
      this.addDirt(file.dirt, at);
      if (file.dataset === 'last_trade_price' && rows.length > 0) this.prints = true;
      if (rows.recv && rows.event) this.leastLag = Math.min(this.leastLag, least(rows.recv, rows.event));
    }
  }

  get sorted(): { name: string; sha256: string; rows: number }[] {
    return [...this.files.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Over name and sha256 of every file that was read. */
  get digest(): string {
    const hash = createHash('sha256');
    for (const { name, sha256 } of this.sorted) hash.update(`${name} ${sha256}\n`);
    return hash.digest('hex');
  }

  get dirt(): Readonly<Record<string, number>> {
    return Object.fromEntries(Object.entries(this.dirtByKind).sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  get places(): readonly string[] {
    return this.unreadable.toSorted();
  }

  get leastLagMs(): number | null {
    return Number.isFinite(this.leastLag) ? this.leastLag : null;
  }

  get printsArchived(): boolean {
    return this.prints;
  }

  private addDirt({ places, ...counts }: Dirt, at: string): void {
    for (const [kind, count] of Object.entries(counts))
      this.dirtByKind[kind] = (this.dirtByKind[kind] ?? 0) + count;
    for (const place of places) this.unreadable.push(`${at}: ${place}`);
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
