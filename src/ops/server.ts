import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import type { Readiness } from './preflight.ts';

export interface OpsServer {
  readonly port: number;
  close(): Promise<void>;
}

/** /live: this process answers. /ready: 200, or 503; with the checks that fail and why. /metrics: for Prometheus. */
export async function serveOps(
  { host, port }: { readonly host: string; readonly port: number },
  readiness: Readiness,
  registry: Registry,
): Promise<OpsServer> {
  const answer = async (path: string, response: ServerResponse): Promise<void> => {
    if (path === '/live') return send(response, 200, { live: true });
    if (path === '/ready') {
      const { ready, problems } = readiness.state();
      return send(response, ready ? 200 : 503, { ready, problems });
    }
    if (path !== '/metrics') return send(response, 404, { detail: 'There are /live, /ready and /metrics.' });
    const text = await registry.metrics();
    response.writeHead(200, { 'content-type': registry.contentType }).end(text);
  };
  const server = createServer((request, response) => {
    const [path] = request.url!.split('?');
    answer(path!, response).catch((error: Error) => send(response, 500, { detail: error.message }));
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(body)}\n`);
}
