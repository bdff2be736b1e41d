import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, link, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { Unreachable } from '../../contract/unreachable.ts';
import { checkKey } from './key.ts';
import { probeStore } from './probe.ts';
import { Refused } from './refused.ts';
import { type Served, serveFile } from './serve.ts';
import { type Link, sign, type Verdict, verify } from './signed.ts';
import type { ObjectStore, Signed } from './store.ts';

/** A store that needs somebody to serve its links: see signed.ts for the route. */
export interface FolderStore extends ObjectStore {
  readonly kind: 'folder';
  /** What the link of a request allows, if it is one of ours and still good. */
  verify(method: string, url: string): Verdict;
  /** Answers a verified GET, or a part of it: `range` as in the request's header. Null when there is no such object. */
  serve(link: Link, range?: string): Promise<Served | null>;
  /**
   * Stores a body of exactly `bytes` bytes under a key that is free, or nothing. Throws `Refused` when the body is of
   * another size, breaks off, or the key is taken (also by another upload that ends first).
   */
  receive(key: string, bytes: number, body: Readable): Promise<void>;
}

export interface FolderOptions {
  /** Where the api is reached, for links, such as https://host. */
  readonly base_url: string;
  /** Signs links; shared by all processes of the service. */
  readonly secret: string;
}

type Chunks = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** A temporary file that nobody has written to for so long belongs to a process that is gone. */
const STALE_MS = 3_600_000;
const SECRET = 16;
/** What a network's file system says when its server is away. */
const AWAY = new Set(['EIO', 'ESTALE', 'ENOTCONN', 'ETIMEDOUT', 'EHOSTDOWN']);
const FULL = new Set(['ENOSPC', 'EDQUOT']);

/**
 * Keeps objects as files, for any number of processes at once; makes the folder. Throws an Error when it cannot be used.
 */
export async function openFolderStore(folder: string, options: FolderOptions): Promise<FolderStore> {
  const { secret } = options;
  if (secret.length < SECRET)
    throw new Error(`the secret that signs links is shorter than ${SECRET} characters`);
  const base_url = options.base_url.replace(/\/+$/, '');
  const files = await openFiles(resolve(folder));
  const signed = (expires_s: number, link: Omit<Link, 'expires_ms'>, headers: Signed['headers']): Signed => {
    checkKey(link.key);
    const expires_ms = Date.now() + expires_s * 1000;
    return { url: sign(secret, base_url, { ...link, expires_ms }), headers, expires_in: expires_s };
  };
  const store: Omit<FolderStore, 'probe'> = {
    kind: 'folder',
    async put(key, body) {
      if ((await files.size(key)) !== null) return;
      await files.write(key, 'file' in body ? chunksOf(body.file) : [body]);
    },
    async get(key) {
      return (await files.open(key))?.createReadStream() ?? null;
    },
    head: (key) => files.size(key),
    remove: (key) => files.remove(key),
    async signGet(key, expires_s, filename) {
      return signed(expires_s, { method: 'GET', key, bytes: null, filename }, {});
    },
    async signPut(key, bytes, expires_s) {
      const headers = { 'content-length': String(bytes) };
      return signed(expires_s, { method: 'PUT', key, bytes, filename: null }, headers);
    },
    verify: (method, url) => verify(secret, method, url, Date.now()),
    async serve({ key, filename }, range) {
      const file = await files.open(key);
      return file && serveFile(file, key, filename ?? 'object', range);
    },
    async receive(key, bytes, body) {
      try {
        if ((await files.size(key)) !== null) throw new Refused('taken');
        if (!(await files.write(key, counted(body, bytes)))) throw new Refused('taken');
      } finally {
        // What is left of a refused body would keep its connection stuck.
        body.on('error', () => {}).resume();
      }
    },
    async close() {},
  };
  return { ...store, probe: () => probeStore(store, `the folder ${folder}`) };
}

/** Files by key below `root`, each written once. */
async function openFiles(root: string) {
  const temp = join(root, 'temp');
  const objects = join(root, 'objects');
  try {
    // Sources of customers: nobody else's to read.
    await mkdir(temp, { recursive: true, mode: 0o700 });
    await mkdir(objects, { recursive: true, mode: 0o700 });
    await removeStale(temp);
  } catch (error) {
    throw new Error(`cannot keep objects in ${root}: ${(error as Error).message}. Choose another folder.`, {
      cause: error,
    });
  }

  const pathOf = (key: string): string => {
    checkKey(key);
    // No key has a plus: so `a` and `a/b` can both be there.
    return join(objects, key.replaceAll('/', '+/'));
  };
  const fault = async (key: string, error: unknown): Promise<Error> => {
    if (error instanceof Refused) return error;
    const { code, message } = error as NodeJS.ErrnoException;
    const there = await access(temp).then(
      () => true,
      () => false,
    );
    if (!there || AWAY.has(code!)) return new Unreachable(`the folder of objects ${root}`, error);
    const advice = FULL.has(code!) ? ' The disk is full: make room there.' : '';
    return new Error(`cannot access the object ${key} in ${root}: ${message}.${advice}`, { cause: error });
  };
  const orNull = async <T>(key: string, found: Promise<T>): Promise<T | null> => {
    try {
      return await found;
    } catch (error) {
      // Where the folder itself is gone, nobody knows what is not there.
      const known = await fault(key, error);
      if ((error as NodeJS.ErrnoException).code === 'ENOENT' && !(known instanceof Unreachable)) return null;
      throw known;
    }
  };

  return {
    open: async (key: string) => orNull(key, open(pathOf(key))),
    size: async (key: string) => (await orNull(key, stat(pathOf(key))))?.size ?? null,
    remove: async (key: string) => void (await orNull(key, rm(pathOf(key)))),
    /** Writes a file as a whole or not at all. False when it is there already. */
    async write(key: string, chunks: Chunks): Promise<boolean> {
      const path = pathOf(key);
      const whole = join(temp, randomUUID());
      try {
        await writeSynced(whole, chunks);
        await mkdir(dirname(path), { recursive: true });
        // Unlike a rename, a link never takes the place of another.
        const first = await link(whole, path).then(
          () => true,
          (error: NodeJS.ErrnoException) => {
            if (error.code === 'EEXIST') return false;
            throw error;
          },
        );
        await syncFolders(dirname(path), root);
        return first;
      } catch (error) {
        throw await fault(key, error);
      } finally {
        await rm(whole, { force: true }).catch(() => {});
      }
    },
  };
}

async function writeSynced(path: string, chunks: Chunks): Promise<void> {
  const file = await open(path, 'wx');
  try {
    await file.writeFile(chunks as AsyncIterable<Uint8Array>);
    await file.datasync();
  } finally {
    await file.close();
  }
}

/** Makes names last through a power cut, from `folder` up to `root`: any of them may be new. */
async function syncFolders(folder: string, root: string): Promise<void> {
  const file = await open(folder);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
  if (folder !== root) await syncFolders(dirname(folder), root);
}

async function removeStale(temp: string): Promise<void> {
  for (const name of await readdir(temp)) {
    const path = join(temp, name);
    const found = await stat(path).catch(() => null);
    if (found && found.mtimeMs < Date.now() - STALE_MS) await rm(path, { force: true });
  }
}

/** Opens the file only when it is read: no error of it comes before somebody listens. */
async function* chunksOf(file: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(file);
}

async function* counted(body: Readable, bytes: number): AsyncGenerator<Uint8Array> {
  let left = bytes;
  try {
    for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
      left -= chunk.length;
      if (left < 0) break;
      yield chunk;
    }
  } catch {
    // It broke off.
    throw new Refused('too_short');
  }
  if (left !== 0) throw new Refused(left < 0 ? 'too_long' : 'too_short');
}
