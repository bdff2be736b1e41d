import type { FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { attachment, contentType } from './download.ts';

/** How to answer a GET or HEAD. */
export interface Served {
  readonly status: 200 | 206 | 416;
  readonly headers: Readonly<Record<string, string>>;
  /** Ends or is destroyed with the reply; null with 416. */
  readonly body: Readable | null;
}

/** Answers with a file or the part of it that `range` asks for. Closes the file with the body. */
export async function serveFile(
  file: FileHandle,
  key: string,
  filename: string,
  range: string | undefined,
): Promise<Served> {
  const { size, mtimeMs } = await file.stat();
  const headers = {
    'accept-ranges': 'bytes',
    'cache-control': 'private',
    'content-disposition': attachment(filename),
    'content-type': contentType(key),
    etag: `"${size.toString(36)}-${Math.floor(mtimeMs).toString(36)}"`,
    // It may be anybody's upload, and comes from the api's own origin.
    'x-content-type-options': 'nosniff',
  };
  const part = parseRange(range, size);
  if (part === null) {
    return {
      status: 200,
      headers: { ...headers, 'content-length': String(size) },
      body: file.createReadStream(),
    };
  }
  if (part.first > part.last) {
    await file.close();
    const unsatisfied = { 'content-range': `bytes */${size}`, 'content-length': '0' };
    return { status: 416, headers: unsatisfied, body: null };
  }
  return {
    status: 206,
    headers: {
      ...headers,
      'content-length': String(part.last - part.first + 1),
      'content-range': `bytes ${part.first}-${part.last}/${size}`,
    },
    body: file.createReadStream({ start: part.first, end: part.last }),
  };
}

/** Null: the whole, as for several ranges and for what is no range. Where nothing is left, `first` is above `last`. */
function parseRange(range: string | undefined, size: number): { first: number; last: number } | null {
  const [, from, to] = /^bytes=(\d*)-(\d*)$/.exec(range ?? '') ?? [];
  if (from === undefined || (from === '' && to === '')) return null;
  if (from === '') return { first: Math.max(size - Number(to), 0), last: size - 1 };
  if (to !== '' && Number(to) < Number(from)) return null;
  return { first: Number(from), last: Math.min(to === '' ? Infinity : Number(to), size - 1) };
}
