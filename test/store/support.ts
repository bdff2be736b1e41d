import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import type { FolderStore } from '../../src/store/folder.ts';
import { openFolderStore } from '../../src/store/folder.ts';
import { Refused } from '../../src/store/refused.ts';

export const SECRET = 'secret of the tests';

/** A folder's store with what serves its links. */
export async function openServed(folder: string): Promise<{ store: FolderStore; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    answer(store, request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const store = await openFolderStore(folder, { base_url, secret: SECRET });
  const close = async (): Promise<void> => {
    server.close();
    server.closeAllConnections();
    await store.close();
  };
  return { store, close };
}

async function answer(store: FolderStore, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const link = store.verify(request.method!, request.url!);
  if (!link.ok) {
    response.writeHead(403).end(link.reason);
  } else if (link.method === 'PUT') {
    const failure = await store.receive(link.key, link.bytes!, request).catch((error: unknown) => error);
    response.writeHead(failure instanceof Refused ? failure.status : failure ? 500 : 200).end();
  } else {
    const served = await store.serve(link, request.headers.range);
    response.writeHead(served?.status ?? 404, served?.headers);
    if (served?.body) await pipeline(served.body, response);
    else response.end();
  }
}

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
