import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { freePort } from '../services/service.ts';
import { type Ended, folder, start } from './support.ts';

/** `backtest serve` as a child process, over the archive that comes along. */
export interface Serving {
  readonly url: string;
  /** What it printed once it was ready. */
  readonly said: string;
  readonly data: string;
  readonly key: string;
  /** For commands that talk to it. */
  readonly env: Readonly<Record<string, string>>;
  /** Asks it to stop. */
  stop(): Promise<Ended>;
  kill(): Promise<void>;
}

interface Wanted {
  readonly data?: string;
  readonly port?: number;
  readonly env?: Readonly<Record<string, string>>;
}

const started = new Set<() => Promise<unknown>>();
afterAll(() => Promise.all([...started].map((kill) => kill())));

/** Throws with what it said where it does not start. */
export async function serving({
  data = join(folder(), 'data'),
  port,
  env = {},
}: Wanted = {}): Promise<Serving> {
  const free = port ?? (await freePort());
  const args = ['serve', '--data', data, '--port', String(free), '--sandbox', 'process', '--slots', '2'];
  const { child, ended } = start(args, { env });
  const signal = (name: NodeJS.Signals): Promise<Ended> => {
    child.kill(name);
    return ended;
  };
  started.add(() => signal('SIGKILL'));
  let said = '';
  const ready = new Promise<void>((resolve) => {
    child.stdout!.on('data', (text: string) => {
      said += text;
      if (said.includes('--watch\n')) resolve();
    });
  });
  const end = await Promise.race([ready, ended]);
  if (end) throw new Error(`serve ended with ${end.code}: ${end.stderr}`);
  const url = `http://127.0.0.1:${free}`;
  const key = readFileSync(join(data, 'key'), 'utf8').trim();
  return {
    url,
    said,
    data,
    key,
    env: { BACKTEST_SERVER: url, BACKTEST_KEY: key },
    stop: () => signal('SIGTERM'),
    kill: async () => void (await signal('SIGKILL')),
  };
}

/**
 * What a meddler does to a request: answer it itself, or let only so many bytes of its answer through and cut the
 * connection, at once or when `until` says so.
 */
export type Meddling =
  | { readonly status: number; readonly headers?: Record<string, string> }
  | { readonly bytes: number; readonly until?: () => Promise<unknown> };

/** A bad network, or a worse load balancer, before a server. */
export interface Meddler {
  readonly url: string;
  /** Paths of what came, with the Range that was asked for. */
  readonly seen: { readonly path: string; readonly range: string | undefined }[];
  /** Decides on each request; null lets it pass. */
  meddle: (path: string) => Meddling | null;
}

export async function meddler(target: string): Promise<Meddler> {
  const meddling: Meddler = { url: '', seen: [], meddle: () => null };
  const server = createServer((request, response) => {
    const path = request.url!;
    meddling.seen.push({ path, range: request.headers.range });
    const wanted = meddling.meddle(path);
    if (wanted !== null && 'status' in wanted) {
      request.resume();
      response.writeHead(wanted.status, wanted.headers).end('{"error":"meddled"}');
    } else pass(target, request, response, wanted ?? { bytes: Number.POSITIVE_INFINITY });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return Object.assign(meddling, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

function pass(
  target: string,
  request: IncomingMessage,
  response: ServerResponse,
  { bytes, until }: Extract<Meddling, { bytes: number }>,
): void {
  const { method, headers } = request;
  const onward = send(`${target}${request.url}`, { method: method!, headers }, (answer) => {
    if (bytes > 0) response.writeHead(answer.statusCode!, answer.headers);
    let left = bytes;
    answer.on('data', (chunk: Buffer) => {
      if (left > 0) response.write(chunk.subarray(0, left));
      left -= chunk.length;
    });
    answer.on('end', async () => {
      if (left >= 0) return response.end();
      await until?.();
      response.destroy();
    });
  });
  onward.on('error', () => response.destroy());
  request.pipe(onward);
}
