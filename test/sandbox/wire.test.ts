import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { encodeFrame } from '../../src/sandbox/frames.ts';
import { type Line, openWire, type Wire } from '../../src/sandbox/wire.ts';

const FRAME_BYTES = 4096;
const nothing = Buffer.alloc(0);
let root: string;
let wire: Wire;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'wire-test-'));
  wire = await openWire(root, FRAME_BYTES);
});
afterEach(async () => {
  await wire.close();
  await rm(root, { recursive: true });
});

async function box(): Promise<{ control: Socket; bulk: Socket; line: Line }> {
  const control = connect(join(wire.folder, 'control'));
  const bulk = connect(join(wire.folder, 'bulk'));
  return { control, bulk, line: await wire.connected };
}

/** Reads until `bytes` bytes have come. */
async function read(socket: Socket, bytes: number): Promise<Buffer> {
  let got = nothing as Buffer;
  while (got.length < bytes) got = Buffer.concat([got, (await once(socket, 'data'))[0]]);
  return got;
}

test('anybody may open the folder of the sockets, nobody else its parent', async () => {
  expect((await stat(wire.folder)).mode & 0o777).toBe(0o755);
  expect((await stat(join(wire.folder, '..'))).mode & 0o777).toBe(0o700);
  expect((await stat(join(wire.folder, 'bulk'))).mode & 0o666).toBe(0o666);
});

test('after the first connection there is nothing left to connect to', async () => {
  await box();
  expect(await readdir(wire.folder)).toEqual([]);
});

test('frames go both ways, numbered for each socket by itself', async () => {
  const { control, bulk, line } = await box();
  const heard: string[] = [];
  const all = new Promise<void>((resolve) => {
    line.receive((type, payload) => {
      heard.push(`${type} ${payload}`);
      if (heard.length === 2) resolve();
    });
  });
  line.control(1, Buffer.from('start'));
  line.bulk(4, Buffer.from('ticks'));
  line.bulk(4, Buffer.from('more'));
  control.write(encodeFrame(16, 0, Buffer.from('ready')));
  control.write(encodeFrame(18, 1, nothing));
  await all;
  expect(heard).toEqual(['16 ready', '18 ']);
  expect(await read(control, 21)).toEqual(encodeFrame(1, 0, Buffer.from('start')));
  expect(await read(bulk, 41)).toEqual(
    Buffer.concat([encodeFrame(4, 0, Buffer.from('ticks')), encodeFrame(4, 1, Buffer.from('more'))]),
  );
});

test('whatever a box says before it dies is heard before the hangup', async () => {
  const { control, bulk, line } = await box();
  let heard = 0;
  line.receive(() => {
    heard++;
  });
  for (let index = 0; index < 1000; index++) control.write(encodeFrame(18, index, Buffer.alloc(100)));
  control.end();
  bulk.destroy();
  await line.hangup;
  expect(heard).toBe(1000);
  expect(line.violation).toBe(null);
});

test('a box that closes only its bulk socket counts as gone', async () => {
  const { bulk, line } = await box();
  line.receive(() => {});
  bulk.destroy();
  await line.hangup;
});

test('a box that does not read makes the sender wait, and its death ends the wait', async () => {
  const { control, bulk, line } = await box();
  bulk.pause();
  line.receive(() => {});
  const frame = Buffer.alloc(FRAME_BYTES);
  let wait: Promise<void> | undefined;
  for (let sent = 0; !wait && sent < 10_000; sent++) wait = line.bulk(4, frame);
  expect(wait).toBeDefined();
  control.destroy();
  bulk.destroy();
  await wait;
  expect(line.bulk(4, frame)).toBe(undefined);
});

test('a sender that waited goes on when the box has read', async () => {
  const { bulk, line } = await box();
  const frame = Buffer.alloc(FRAME_BYTES);
  let bytes = 0;
  bulk.on('data', (chunk) => {
    bytes += chunk.length;
  });
  for (let sent = 0; sent < 2000; sent++) await line.bulk(4, frame);
  while (bytes < 2000 * (16 + FRAME_BYTES)) await once(bulk, 'data');
});

test.each([
  ['a malformed frame', encodeFrame(99, 0, nothing)],
  ['a frame over the limit', encodeFrame(19, 0, Buffer.alloc(FRAME_BYTES + 1))],
  ['a repeated frame', Buffer.concat([encodeFrame(18, 0, nothing), encodeFrame(18, 0, nothing)])],
])('%s ends the box and says why', async (_, bytes) => {
  const { control, line } = await box();
  line.receive(() => {});
  control.write(bytes);
  await line.hangup;
  expect(line.violation).toMatch(/frame/);
});

test('bytes on the bulk socket end the box', async () => {
  const { bulk, line } = await box();
  line.receive(() => {});
  bulk.write('hello');
  await line.hangup;
  expect(line.violation).toMatch(/bulk/);
});

test('a box that asks and asks but never reads an answer is cut off before it fills our memory', async () => {
  const { control, line } = await box();
  control.pause();
  line.receive(() => line.control(2, Buffer.alloc(FRAME_BYTES)));
  for (let index = 0; index < 1000; index++) control.write(encodeFrame(18, index, nothing));
  await line.hangup;
  expect(line.violation).toMatch(/does not read/);
});

test('a handler hears nothing more once the box is closed, even within one chunk', async () => {
  const { control, line } = await box();
  let heard = 0;
  line.receive(() => {
    heard++;
    void wire.close();
  });
  control.write(Buffer.concat([encodeFrame(18, 0, nothing), encodeFrame(18, 1, nothing)]));
  await line.hangup;
  expect(heard).toBe(1);
});

test('closing leaves no folder behind, connected or not, once or twice', async () => {
  await wire.close();
  await wire.close();
  expect(await readdir(root)).toEqual([]);
});

test('a folder too deep for a socket is refused with what to do, and leaves nothing', async () => {
  const deep = await mkdtemp(join(root, 'x'.repeat(100)));
  await expect(openWire(deep, FRAME_BYTES)).rejects.toThrow(/TMPDIR/);
  expect(await readdir(deep)).toEqual([]);
});
