import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { serveOps } from '../../src/ops/server.ts';

test('no request line, however odd, ends the process that is asked', async () => {
  const ops = await serveOps(
    { host: '127.0.0.1', port: 0 },
    { state: () => ({ ready: true, problems: {} }) },
    new Registry(),
  );
  const status = async (target: string) => {
    const socket = connect(ops.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(`GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
    return (await text(socket)).slice(9, 12);
  };
  for (const odd of ['//', '//live', 'http://[', '*', '/%', '/\\'])
    expect([odd, await status(odd)]).toEqual([odd, '404']);
  expect(await status('/live?from=probe')).toBe('200');
  await ops.close();
});
