import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { onTestFinished } from 'vitest';
import type { Dataset, Venue } from '../../contract/index.ts';
import type { Cache } from '../../src/archive/cache.ts';
import type { Archive, ArchiveFile } from '../../src/archive/catalogue.ts';
import { headers } from '../../src/archive/columns.ts';
import { stageFile } from '../../src/archive/stage.ts';
import type { Staged } from '../../src/archive/staged.ts';

/** A folder of this test's own, gone when it has finished. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'archive-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Files as they come out of the archive or the cache, in their order. */
export const stageAll = (archive: Archive, files: readonly ArchiveFile[], cache: Cache): Promise<Staged[]> =>
  Promise.all(files.map((file) => stageFile(archive, file, cache)));

export interface FileSource {
  readonly dataset: Dataset;
  readonly asset?: string;
  readonly interval?: string | null;
  /** Lines below the header, or the bytes of the whole file. */
  readonly lines?: readonly string[];
  readonly bytes?: Buffer;
}

export const csvGz = (dataset: Dataset, lines: readonly string[]): Buffer =>
  gzipSync([headers[dataset], ...lines, ''].join('\n'));

/** Writes a file of a day into an archive folder and returns its entry as an index.json would list it. */
export function writeFile(root: string, venue: Venue, date: string, source: FileSource): ArchiveFile {
  const { dataset, asset = 'BTC', lines = [] } = source;
  const interval = source.interval === undefined ? '5m' : source.interval;
  const parts = [`${asset}USD`, dataset, interval, venue === 'venue_b' ? 'b' : null, date];
  const name = `${parts.filter((part) => part !== null).join('-')}.csv.gz`;
  const bytes = source.bytes ?? csvGz(dataset, lines);
  mkdirSync(join(root, venue, date), { recursive: true });
  writeFileSync(join(root, venue, date, name), bytes);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { venue, date, name, dataset, asset, interval, bytes: bytes.length, rows: lines.length, sha256 };
}

export const marketLine = (market: string, start_ms: number): string =>
  `${market},${start_ms},${start_ms + 300_000},prices,up,64000.5,,up,${start_ms + 385_000},0.01,5,0.07,250`;
