import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { FromBox, HEADER_BYTES } from '../../contract/wire.ts';
import { makeFolder, removeFolder } from './folder.ts';
import { encodeFrame, frameParser, writeHeader } from './frames.ts';
import { type Box, ProtocolViolation } from './sandbox.ts';

const FROM_BOX: ReadonlySet<number> = new Set(Object.values(FromBox));
/** How many bytes may wait in this process before `bulk` asks for patience. */
const BULK_WAITING_BYTES = 512 * 1024;
/** Answers that a box asked for and does not read; an honest one waits for each. */
const CONTROL_WAITING_FRAMES = 4;
/** What a dead box has sent is read for as long as more of it comes within this time. */
const DRAIN_MS = 500;
/** The shortest limit among our systems, that of macOS. */
const SOCKET_PATH_BYTES = 103;

/** The host's end of a box that has connected: the part of `Box` that talks. */
export interface Line extends Pick<Box, 'receive' | 'control' | 'bulk' | 'hangup' | 'violation'> {
  /** The box is known to be dead: hang up once everything that it sent has been read. */
  gone(): void;
}

/** Two sockets in a folder, waiting for one box. */
export interface Wire {
  /** Absolute path of what the box gets to see, read-only. */
  readonly folder: string;
  /** Resolves when the box has connected to both sockets; never rejects. */
  readonly connected: Promise<Line>;
  /** Hangs up and removes the folder. Idempotent. */
  close(): Promise<void>;
}

/**
 * Makes a folder under `root`, which must exist, and listens in it. The folder's parent is closed to other users of
 * the machine, so that the sockets can be open to all: a bind mount of the folder is the only way in.
 */
export async function openWire(root: string, frame_bytes: number): Promise<Wire> {
  const parent = await makeFolder(root);
  const folder = join(parent, 'wire');
  const servers = [createServer(), createServer({ highWaterMark: BULK_WAITING_BYTES })] as const;
  const sockets: Socket[] = [];
  const close = async () => {
    for (const server of servers) server.close();
    for (const socket of sockets) socket.destroy();
    await removeFolder(parent);
  };
  try {
    await mkdir(folder, { mode: 0o755 });
    const accepted = servers.map((server) => acceptOne(server, sockets));
    await listen(servers[0], join(folder, 'control'));
    await listen(servers[1], join(folder, 'bulk'));
    const connected = Promise.all(accepted).then(([control, bulk]) => lineOver(control, bulk, frame_bytes));
    return { folder, connected, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function listen(server: Server, path: string): Promise<void> {
  if (Buffer.byteLength(path) > SOCKET_PATH_BYTES)
    throw new Error(`The path ${path} is too long for a socket. Set TMPDIR to a shorter folder.`);
  server.listen({ path, readableAll: true, writableAll: true });
  await once(server, 'listening');
}

/** Takes one connection; closing the server also takes the socket's name away. */
function acceptOne(server: Server, sockets: Socket[]): Promise<Socket> {
  server.maxConnections = 1;
  return new Promise((resolve) => {
    server.once('connection', (socket) => {
      server.close();
      sockets.push(socket);
      socket.on('error', () => {}); // 'close' follows, and says enough
      resolve(socket);
    });
  });
}

function lineOver(control: Socket, bulk: Socket, frame_bytes: number): Line {
  let violation: string | null = null;
  let sent = 0;
  let streamed = 0;
  let drained: Promise<void> | undefined;
  let wake = () => {};

  function fail(what: string): void {
    violation ??= what;
    control.destroy();
    bulk.destroy();
  }

  let hangUp: () => void;
  const hangup = new Promise<void>((resolve) => {
    hangUp = resolve;
  });
  // 'end' comes after the last frame was delivered; 'close' alone where the socket broke.
  control.once('end', () => hangUp());
  control.once('close', () => hangUp());

  function gone(): void {
    const { bytesRead } = control;
    setTimeout(() => (control.bytesRead === bytesRead ? hangUp() : gone()), DRAIN_MS).unref();
  }
  const wakeUp = () => {
    drained = undefined;
    wake();
  };
  bulk.on('drain', wakeUp);
  bulk.once('close', wakeUp);
  bulk.once('close', gone);
  bulk.on('data', () => fail('bytes on the bulk socket, which the box only reads'));

  return {
    hangup,
    gone,
    get violation() {
      return violation;
    },
    receive(handler) {
      const push = frameParser(FROM_BOX, frame_bytes, (type, payload) => {
        // A handler may have closed the box in the middle of a chunk.
        if (!control.destroyed) handler(type, payload);
      });
      control.on('data', (chunk) => {
        try {
          push(chunk as Buffer);
        } catch (error) {
          if (!(error instanceof ProtocolViolation)) throw error;
          fail(error.message);
        }
      });
    },
    control(type, payload) {
      if (!control.writable) return;
      if (control.writableLength > CONTROL_WAITING_FRAMES * frame_bytes) {
        fail('it does not read the answers that it asks for');
        return;
      }
      control.write(encodeFrame(type, sent++, payload));
    },
    bulk(type, payload) {
      if (!bulk.writable) return undefined;
      const header = Buffer.allocUnsafe(HEADER_BYTES);
      writeHeader(header, type, payload.length, streamed++);
      bulk.cork();
      bulk.write(header);
      bulk.write(payload);
      bulk.uncork();
      if (bulk.writableLength < BULK_WAITING_BYTES) return undefined;
      drained ??= new Promise((resolve) => {
        wake = resolve;
      });
      return drained;
    },
  };
}
