import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A network between a client and a server that can fail as networks do: without a word. */
export interface Proxy {
  /** The server's address by way of this proxy. */
  readonly url: string;
  readonly port: number;
  /**
   * From now on every byte is lost, both ways, and every connection stays open. Those of today are lost for good, as
   * when a firewall forgets them; their clients have to notice by themselves.
   */
  cut(): void;
  /** New connections work again. */
  heal(): void;
  stop(): Promise<void>;
}

/** Stands before the TCP server of a URL, which must name its port. */
export async function startProxy(target: string): Promise<Proxy> {
  const { hostname, port: targetPort } = new URL(target);
  const sockets = new Set<Socket>();
  let dead = false;
  const lose = (socket: Socket) => socket.unpipe().removeAllListeners('data').resume();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    keep(client);
    if (dead) return void lose(client);
    const upstream = connect(Number(targetPort), hostname);
    keep(upstream);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.pipe(to);
      // An end is news, and none may pass while the network is cut.
      from.on('close', () => dead || to.destroy());
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String(port);
  return {
    url: target.endsWith('/') ? url.href : url.href.replace(/\/$/, ''),
    port,
    cut() {
      dead = true;
      for (const socket of sockets) lose(socket);
    },
    heal() {
      dead = false;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
