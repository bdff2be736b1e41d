import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Files by key in one folder, shared by any number of processes; the ones used longest ago go first. A key is
 * `<sha256>-<number>.arrow`.
 */
export interface Cache {
  readonly folder: string;
  /** The bytes of a file; null if it is not there. */
  read(key: string): Promise<Buffer | null>;
  /** Writes a file as a whole or not at all, then makes room. Throws if the disk is full, say. */
  write(key: string, chunks: AsyncIterable<Uint8Array>): Promise<void>;
  remove(key: string): Promise<void>;
}

/** A temporary file that nobody has written to for so long belongs to a process that is gone. */
const STALE_MS = 3_600_000;
/** One call reads or writes at most so much: the system's limit is 2 GiB. */
const SLICE_BYTES = 1 << 30;
const TEMP = '.tmp';
/** Nothing else is ever removed: somebody may name a folder with files of their own. */
const OWN = /^[0-9a-f]{64}-\d+\.arrow(\.[0-9a-f-]+\.tmp)?$/;

/** Opens a cache, making its folder. `max_bytes` bounds all files of the cache together. */
export async function openCache(folder: string, max_bytes: number): Promise<Cache> {
  try {
    await mkdir(folder, { recursive: true });
    await removeStale(folder);
  } catch (error) {
    throw new Error(`cannot use ${folder} as a cache: ${(error as Error).message}. Choose another folder.`, {
      cause: error,
    });
  }
  return {
    folder,
    read: (key) => readAndTouch(join(folder, key)),
    async write(key, chunks) {
      await writeWhole(folder, key, chunks);
      await evict(folder, max_bytes);
    },
    remove: (key) => rm(join(folder, key), { force: true }),
  };
}

async function readAndTouch(path: string): Promise<Buffer | null> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (file === null) return null;
  try {
    const { size } = await file.stat();
    const bytes = Buffer.allocUnsafeSlow(size);
    let at = 0;
    while (at < size) {
      const { bytesRead } = await file.read(bytes, at, Math.min(SLICE_BYTES, size - at), at);
      if (bytesRead === 0) break;
      at += bytesRead;
    }
    const now = new Date();
    // It may have been evicted meanwhile, or the folder be read-only.
    await utimes(path, now, now).catch(() => {});
    return bytes.subarray(0, at);
  } finally {
    await file.close();
  }
}

async function writeWhole(folder: string, key: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const temp = join(folder, `${key}.${randomUUID()}${TEMP}`);
  try {
    const file = await open(temp, 'wx');
    try {
      for await (const chunk of chunks) {
        for (let at = 0; at < chunk.length; ) {
          const { bytesWritten } = await file.write(chunk, at, Math.min(SLICE_BYTES, chunk.length - at));
          at += bytesWritten;
        }
      }
      // Else a power cut could leave the name without the bytes.
      await file.datasync();
    } finally {
      await file.close();
    }
    await rename(temp, join(folder, key));
  } catch (error) {
    await rm(temp, { force: true }).catch(() => {});
    const { message } = error as Error;
    throw new Error(
      `cannot write to the cache ${folder}: ${message}. Make room there, or choose another folder.`,
      { cause: error },
    );
  }
}

async function evict(folder: string, max_bytes: number): Promise<void> {
  const files = (await list(folder)).filter((file) => !file.path.endsWith(TEMP));
  let bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  for (const file of files.sort((a, b) => a.used_ms - b.used_ms)) {
    if (bytes <= max_bytes) return;
    await rm(file.path, { force: true });
    bytes -= file.bytes;
  }
}

async function removeStale(folder: string): Promise<void> {
  for (const file of await list(folder)) {
    if (file.path.endsWith(TEMP) && file.used_ms < Date.now() - STALE_MS)
      await rm(file.path, { force: true });
  }
}

async function list(folder: string): Promise<{ path: string; bytes: number; used_ms: number }[]> {
  const paths = (await readdir(folder)).filter((name) => OWN.test(name)).map((name) => join(folder, name));
  const stats = await Promise.all(paths.map((path) => stat(path).catch(() => null)));
  return paths.flatMap((path, i) => {
    const found = stats[i];
    return found?.isFile() ? [{ path, bytes: found.size, used_ms: found.mtimeMs }] : [];
  });
}
