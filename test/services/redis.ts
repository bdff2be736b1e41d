import { once } from 'node:events';
import { connect } from 'node:net';
import { freePort, newFolder, type Service, startService } from './service.ts';

export interface Redis extends Service {
  readonly url: string;
  /** FLUSHALL: all is gone, its script cache too. */
  flush(): Promise<void>;
}

/** A Redis server, by default as the queue wants it. */
export async function startRedis({ appendonly = true, policy = 'noeviction' } = {}): Promise<Redis> {
  const [folder, port] = [newFolder('redis'), await freePort()];
  const settings = {
    bind: '127.0.0.1',
    port,
    dir: folder,
    save: '',
    appendonly: appendonly ? 'yes' : 'no',
    appendfsync: 'everysec',
    'maxmemory-policy': policy,
  };
  const service = await startService({
    name: 'Redis',
    folder,
    command: [
      'redis-server',
      ...Object.entries(settings).flatMap(([key, value]) => [`--${key}`, String(value)]),
    ],
    quit: 'SIGTERM',
    ready: async () => (await ask(port, 'PING').catch(() => '')) === '+PONG',
  });
  return {
    ...service,
    url: `redis://127.0.0.1:${port}`,
    async flush() {
      for (const line of ['FLUSHALL', 'SCRIPT FLUSH']) await ask(port, line);
    },
  };
}

/** The first line of the server's answer to one command. */
async function ask(port: number, line: string): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  socket.on('error', () => {});
  try {
    await once(socket, 'connect');
    socket.write(`${line}\r\n`);
    const [answer] = await once(socket, 'data');
    return answer.split('\r\n')[0];
  } finally {
    socket.destroy();
  }
}
