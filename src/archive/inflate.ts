import type { TransformOptions } from 'node:stream';
import { createGunzip, type ZlibOptions } from 'node:zlib';

const CHUNK_BYTES = 1 << 20;
/** Inflating runs on a thread of its own; this is how far it may be ahead of whoever reads. */
const AHEAD_BYTES = 4 * CHUNK_BYTES;
const LONGEST_LINE_BYTES = 16 * CHUNK_BYTES;
const NEWLINE = 10;

/** What a gzip holds, in chunks. Throws where it is damaged or cut short. */
export async function* inflate(gz: Buffer, signal?: AbortSignal): AsyncGenerator<Buffer> {
  const options: ZlibOptions & TransformOptions = { chunkSize: CHUNK_BYTES, highWaterMark: AHEAD_BYTES };
  const gunzip = createGunzip(options);
  gunzip.end(gz);
  try {
    for await (const chunk of gunzip) {
      signal?.throwIfAborted();
      yield chunk;
    }
  } finally {
    gunzip.destroy();
  }
}

/**
 * Cuts chunks into blocks of whole lines: every block ends with a line break. A line that lies across chunks is a
 * block of its own, so that the others stay where they are.
 */
export async function* lineBlocks(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  for await (const chunk of chunks) {
    const first = chunk.indexOf(NEWLINE);
    if (first >= 0) {
      const last = chunk.lastIndexOf(NEWLINE);
      yield Buffer.concat([...rest, chunk.subarray(0, first + 1)]);
      if (last > first) yield chunk.subarray(first + 1, last + 1);
      rest = [chunk.subarray(last + 1)];
      restBytes = 0;
    } else {
      rest.push(chunk);
    }
    restBytes += rest.at(-1)!.length;
    if (restBytes > LONGEST_LINE_BYTES)
      throw new Error(`it has a line of more than ${LONGEST_LINE_BYTES} bytes`);
  }
  if (restBytes > 0) yield Buffer.concat([...rest, Buffer.from('\n')]);
}
