import { createHash } from 'node:crypto';
import { fromArrow, toArrow } from './arrow.ts';
import type { Cache } from './cache.ts';
import type { Archive, ArchiveFile } from './catalogue.ts';
import { DECODER_VERSION, type Decoded, decode } from './decode.ts';
import { readBytes } from './fetch.ts';
import type { Staged } from './staged.ts';

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

/**
 * The bytes of a file of the archive, which match its sha256. Where they do not, they are read once more before it
 * is a fault.
 */
async function fetchFile(archive: Archive, file: ArchiveFile, signal?: AbortSignal): Promise<Buffer> {
  const path = `${file.venue}/${file.date}/${file.name}`;
  let digest = '';
  for (let attempt = 0; attempt < 2; attempt++) {
    const bytes = await readBytes(archive.location, path, signal);
    if (bytes === null) {
      throw new Error(
        `${path} stands in its index.json but not in the archive ${archive.location}: fetch it again, or run npx backtest archive index`,
      );
    }
    digest = createHash('sha256').update(bytes).digest('hex');
    if (digest === file.sha256) return bytes;
  }
  throw new Error(
    `${path} does not match its sha256 in index.json (expected ${file.sha256}, got ${digest}): run npx backtest archive index if the file is right, else fetch it again`,
  );
}
