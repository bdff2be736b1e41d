import { fromArrow, toArrow } from './arrow.ts';
import type { Cache } from './cache.ts';
import type { Archive, ArchiveFile } from './catalogue.ts';
import { DECODER_VERSION, type Decoded, decode } from './decode.ts';
import { fetchFile } from './fetch.ts';
import { inParallel } from './parallel.ts';
import type { Staged } from './staged.ts';

/** How many files are decoded at a time. */
const WIDTH = 2;

/**
 * The rows of a file of the archive. They come from the cache if it has them, untouched by the csv; else the file is
 * fetched, verified, decoded and cached. Throws a fault that names the file.
 */
export async function stageFile(
  archive: Archive,
  file: ArchiveFile,
  cache: Cache,
  signal?: AbortSignal,
): Promise<Staged> {
  signal?.throwIfAborted();
  const key = `${file.sha256}-${DECODER_VERSION}.arrow`;
  const decoded =
    (await readCached(cache, key, file)) ?? (await decodeFile(archive, file, cache, key, signal));
  const { dataset, asset, interval, date, name, sha256 } = file;
  return { dataset, asset, interval, date, name, sha256, ...decoded };
}

/** Stages files, a few at a time, and returns them in the same order. `onProgress` hears of each that is done. */
export async function stageAll(
  archive: Archive,
  files: readonly ArchiveFile[],
  cache: Cache,
  onProgress: (done: number, total: number, file: ArchiveFile) => void = () => {},
  signal?: AbortSignal,
): Promise<Staged[]> {
  const failed = new AbortController();
  const stop = signal ? AbortSignal.any([signal, failed.signal]) : failed.signal;
  let done = 0;
  let cause: unknown;
  try {
    return await inParallel(files, WIDTH, async (file) => {
      try {
        const staged = await stageFile(archive, file, cache, stop);
        onProgress(++done, files.length, file);
        return staged;
      } catch (error) {
        // The others are then stopped, and fail because of it.
        cause ??= error;
        failed.abort();
        throw error;
      }
    });
  } catch {
    throw cause;
  }
}

/** A damaged file is removed and counts as not there. */
async function readCached(cache: Cache, key: string, file: ArchiveFile): Promise<Decoded | null> {
  const bytes = await cache.read(key);
  if (bytes === null) return null;
  try {
    return fromArrow(file.dataset, bytes);
  } catch {
    await cache.remove(key);
    return null;
  }
}

async function decodeFile(
  archive: Archive,
  file: ArchiveFile,
  cache: Cache,
  key: string,
  signal?: AbortSignal,
): Promise<Decoded> {
  const gz = await fetchFile(archive, file, signal);
  let decoded: Decoded;
  try {
    decoded = await decode(file.dataset, gz, file.rows, signal);
  } catch (error) {
    signal?.throwIfAborted();
    const { code, message } = error as NodeJS.ErrnoException;
    const what = code?.startsWith('Z_') ? `is no complete gzip: ${message}` : message;
    throw new Error(`${file.venue}/${file.date}/${file.name} ${what}`, { cause: error });
  }
  signal?.throwIfAborted();
  await cache.write(key, toArrow(file.dataset, decoded));
  return decoded;
}
