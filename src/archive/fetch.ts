import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const ATTEMPTS = 4;
/** The first pause between attempts; each further one is twice as long. */
const PAUSE_MS = 200;
/** How long a server may be silent. */
const SILENCE_MS = 30_000;

/** A failure that another attempt may not meet. */
class Transient extends Error {}

export const isRemote = (location: string): boolean => /^https?:\/\//.test(location);

/** What stands at a path of the archive; null if nothing does. Network troubles are tried again a few times. */
export async function readBytes(
  location: string,
  path: string,
  signal?: AbortSignal,
): Promise<Buffer | null> {
  signal?.throwIfAborted();
  if (!isRemote(location)) return readLocal(join(location, path), signal);
  const url = `${location}/${path}`;
  for (let attempt = 1; ; attempt++) {
    try {
      return await download(url, signal);
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof Transient)) throw error;
      if (attempt === ATTEMPTS) {
        throw new Error(`cannot read ${url} after ${ATTEMPTS} attempts: ${error.message}`, { cause: error });
      }
    }
    await sleep(PAUSE_MS * 2 ** (attempt - 1), undefined, signal ? { signal } : {});
  }
}

async function readLocal(path: string, signal?: AbortSignal): Promise<Buffer | null> {
  try {
    return await readFile(path, signal ? { signal } : {});
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error;
  }
}

async function download(url: string, signal?: AbortSignal): Promise<Buffer | null> {
  const silence = new AbortController();
  const alarm = setTimeout(() => silence.abort(), SILENCE_MS);
  try {
    // Some servers would send a .gz as gzip-encoded content, which fetch would inflate.
    const response = await fetch(url, {
      headers: { 'accept-encoding': 'identity' },
      signal: signal ? AbortSignal.any([signal, silence.signal]) : silence.signal,
    });
    if (response.status !== 200) await response.body?.cancel();
    if (response.status === 404) return null;
    if (isTransient(response.status)) throw new Transient(`the server answered ${response.status}`);
    if (response.status !== 200)
      throw new Error(`cannot read ${url}: the server answered ${response.status}`);
    const chunks: Uint8Array[] = [];
    for await (const chunk of response.body ?? []) {
      chunks.push(chunk);
      alarm.refresh();
    }
    return Buffer.concat(chunks);
  } catch (error) {
    if (silence.signal.aborted) throw new Transient(`the server was silent for ${SILENCE_MS / 1000} s`);
    if (error instanceof TypeError) throw new Transient(reasonOf(error), { cause: error });
    throw error;
  } finally {
    clearTimeout(alarm);
  }
}

const isTransient = (status: number): boolean => status === 408 || status === 429 || status >= 500;

/** fetch says only `fetch failed` or `terminated`; why stands in the cause. */
function reasonOf(error: TypeError): string {
  const { cause } = error;
  return cause instanceof Error && cause.message ? cause.message : error.message;
}
