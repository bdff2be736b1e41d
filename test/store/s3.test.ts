import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { Unreachable } from '../../contract/unreachable.ts';
import { openS3Store } from '../../src/store/s3.ts';
import type { ObjectStore } from '../../src/store/store.ts';

let server: Server;
let connections = 0;
afterEach(async () => {
  server.close();
});

/** A store whose server does what no sound one does: `answer` gets each request, by its bare socket. */
async function openAt(
  answer: (socket: Socket, request: string) => void,
  request_ms = 200,
): Promise<ObjectStore> {
  connections = 0;
  server = createServer((socket) => {
    connections++;
    socket.on('error', () => {}).on('data', (data) => answer(socket, String(data)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
  const options = { bucket: 'backtest', prefix: 'fleet/', region: 'us-east-1', endpoint, credentials };
  return openS3Store(options, { connect_ms: 200, request_ms, sockets: 2 });
}

const reply = (status: string, length = 0, body = ''): string =>
  `HTTP/1.1 ${status}\r\ncontent-length: ${length}\r\nconnection: close\r\n\r\n${body}`;

test('a server that takes requests and never answers is Unreachable', async () => {
  const store = await openAt(() => {});
  await expect(store.head('a')).rejects.toThrow(Unreachable);
  await expect(store.get('a')).rejects.toThrow(Unreachable);
  await expect(store.put('a', Buffer.from('a'))).rejects.toThrow(Unreachable);
  await store.close();
});

test.each([
  ['breaks off', (socket: Socket) => socket.end(reply('200 OK', 100, 'the start'))],
  ['falls silent', (socket: Socket) => socket.write(reply('200 OK', 100, 'the start'))],
])('a download that %s ends as Unreachable, not as a short object', async (_, answer) => {
  const store = await openAt(answer);
  const stream = await store.get('a');
  await expect(buffer(stream!)).rejects.toThrow(Unreachable);
  await store.close();
});

test('downloads that are left in the middle give their connections back', async () => {
  const answer = reply('200 OK', 1_000_000, 'the start');
  const store = await openAt((socket) => socket.write(answer), 10_000);
  for (let at = 0; at < 6; at++) {
    const stream = await store.get('a');
    if (at % 2) await once(stream!, 'readable');
    stream!.destroy();
  }
  await store.close();
});

test('a server that is busy for a moment is asked again', async () => {
  const store = await openAt((socket) => {
    socket.end(connections < 3 ? reply('503 Slow Down') : reply('200 OK', 7));
  });
  expect(await store.head('a')).toBe(7);
  await store.close();
});

test('a server that stays busy is Unreachable', async () => {
  const store = await openAt((socket) => socket.end(reply('503 Slow Down')));
  await expect(store.head('a')).rejects.toThrow(Unreachable);
  await store.close();
});

test('an answer that was lost does not make a put fail that arrived', async () => {
  const store = await openAt((socket, request) => {
    if (request.startsWith('HEAD')) socket.end(reply('404 Not Found'));
    else if (request.startsWith('PUT /backtest/fleet/a?') && connections === 2) socket.destroy();
    else socket.end(reply('412 Precondition Failed'));
  });
  await store.put('a', Buffer.from('a'));
  expect(connections).toBe(3);
  await store.close();
});

test('a refusal is not asked again, and says what to mend', async () => {
  const store = await openAt((socket) => socket.end(reply('403 Forbidden')));
  const refusal = await store.head('a').catch((error: Error) => error);
  expect(refusal).not.toBeInstanceOf(Unreachable);
  expect((refusal as Error).message).toMatch(/^the bucket backtest at http:.* refuses: .*list the bucket\.$/);
  expect(connections).toBe(1);
  await store.close();
});

test('a bucket that is not there is not taken for an object that is not', async () => {
  const body = '<Error><Code>NoSuchBucket</Code><Message>none</Message></Error>';
  const store = await openAt((socket) => socket.end(reply('404 Not Found', body.length, body)));
  await expect(store.get('a')).rejects.toThrow(
    /NoSuchBucket: none Create the bucket, or name another one\.$/,
  );
  await store.close();
});
