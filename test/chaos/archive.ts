import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { SYNTHETIC } from '../run/runs.ts';

/** The archive of fixtures on a web server that can be slow or away. */
export interface ArchiveServer {
  readonly url: string;
  /** From now on nobody gets an answer; resolves when somebody asked. */
  hold(): Promise<void>;
  /** From now on everybody is sent away. */
  refuse(): void;
  /** All is well again, also for those who wait. */
  serve(): void;
  stop(): Promise<void>;
}

/** On the web nobody can list a folder. */
const DAYS = ['2026-10-14', '2026-10-15'];

export async function startArchive(): Promise<ArchiveServer> {
  let mode: 'serve' | 'hold' | 'refuse' = 'serve';
  let asked = () => {};
  const held: (() => void)[] = [];
  const answer = (path: string, response: ServerResponse) => {
    if (path === '/venue_a/index.json') return void response.end(JSON.stringify({ days: DAYS }));
    const file = createReadStream(join(SYNTHETIC, path));
    file.on('error', () => response.writeHead(404).end()).pipe(response);
  };
  const server = createServer(({ url }, response) => {
    if (mode === 'serve') return answer(url!, response);
    if (mode === 'refuse') return void response.destroy();
    held.push(() => answer(url!, response));
    asked();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    hold() {
      mode = 'hold';
      return new Promise((resolve) => {
        asked = resolve;
      });
    },
    refuse() {
      mode = 'refuse';
    },
    serve() {
      mode = 'serve';
      for (const go of held.splice(0)) go();
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
