import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Run } from '../../contract/api.ts';
import { type Client, NoAnswer, openClient, pause, reasonOf, type ServerOptions } from './client.ts';
import { Mistake } from './failure.ts';

/** A line that brings nothing for so long is taken for dead. */
const STALL_MS = 20_000;
/** In a row, without a byte between them. */
const ATTEMPTS = 5;

export interface FetchOptions extends ServerOptions {
  readonly out?: string;
}

/** `backtest fetch`. */
export async function fetchCommand(id: string, options: FetchOptions): Promise<void> {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(id))
    throw new Mistake(`"${id}" is no id of a run: npx backtest status lists them`);
  const client = openClient(options);
  const path = await download(client, await client.run(id), options.out ?? join('out', `${id}.zip`));
  process.stdout.write(`${path}\n`);
}

/**
 * Fetches a run's archive into `file`, which appears only when all of it is there and its sha256 is right. What an
 * earlier attempt has left in `file`.part is gone on with. Throws a Mistake where the run has no archive.
 */
export async function download(client: Client, run: Run, file: string): Promise<string> {
  const { run_id, status, report, archive_available, archive_bytes } = run;
  if (!archive_available || report === null || archive_bytes === null)
    throw new Mistake(
      `${run_id} has no report to fetch: it is ${status}. npx backtest status ${run_id} says more.`,
    );
  const sha256 = report.archive_sha256;
  if ((await sizeOf(file)) === archive_bytes && (await digestOf(file)) === sha256) return file;

  await mkdir(dirname(file), { recursive: true });
  const part = `${file}.part`;
  await fill(client, run_id, part, archive_bytes);
  const found = await digestOf(part);
  if (found !== sha256) {
    await rm(part);
    throw new Error(
      `What came of ${run_id} is damaged: its sha256 is ${found}, not ${sha256}. It was removed; fetch it again.`,
    );
  }
  await rename(part, file);
  return file;
}

/** Brings `part` to its full size, by as many links and connections as that takes. */
async function fill(client: Client, id: string, part: string, bytes: number): Promise<void> {
  if ((await sizeOf(part)) > bytes) await rm(part);
  for (let attempt = 1; ; attempt++) {
    const before = await sizeOf(part);
    if (before === bytes) return;
    // A new one each time: the last may have run out.
    const problem = await more(await client.archive(id), part, before, bytes);
    const after = await sizeOf(part);
    if (after === bytes) return;
    if (after > before) attempt = 0;
    else if (attempt === ATTEMPTS)
      throw new NoAnswer(
        `The archive of ${id} cannot be fetched: ${problem}. ${after} of ${bytes} bytes lie in ${part}; the same command goes on from there.`,
      );
    await pause(Math.max(attempt, 1));
  }
}

/** Appends what one connection brings. Returns why that ended. */
async function more(url: string, part: string, from: number, bytes: number): Promise<string> {
  const stalled = new AbortController();
  const stop = () => stalled.abort(new Error(`nothing came for ${STALL_MS / 1000} s`));
  let timer = setTimeout(stop, STALL_MS);
  try {
    const headers = { 'accept-encoding': 'identity', ...(from > 0 && { range: `bytes=${from}-` }) };
    const response = await fetch(url, { headers, signal: stalled.signal });
    const whole = response.status === 200;
    if ((!whole && response.status !== 206) || response.body === null) {
      await response.body?.cancel();
      return `the link was answered with ${response.status}`;
    }
    // A server that sends all of it again has not heard of ranges.
    const file = await open(part, whole ? 'w' : 'a');
    try {
      let size = whole ? 0 : from;
      for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
        clearTimeout(timer);
        timer = setTimeout(stop, STALL_MS);
        size += chunk.length;
        if (size > bytes) return `more than its ${bytes} bytes came`;
        await file.write(chunk);
      }
    } finally {
      await file.close();
    }
    return 'the connection ended early';
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    // A file that cannot be written is no matter of the line.
    if (path !== undefined || code === 'ENOSPC') throw error;
    return reasonOf(error);
  } finally {
    clearTimeout(timer);
  }
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => null))?.size ?? 0;
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
