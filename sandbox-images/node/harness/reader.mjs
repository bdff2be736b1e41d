import { connect } from 'node:net';
import { HEADER_BYTES } from './codes.mjs';
import { WorkerGone } from './control.mjs';

/** How many frames may wait before the socket is left alone. */
const AHEAD = 3;
/** Bytes a read may bring. */
const READ_BYTES = 256 * 1024;
/** Payloads of this size and more live in buffers that are used again. */
const POOLED_BYTES = 16 * 1024;

/** Connects to one of the worker's sockets. */
export function dial(path) {
  return new Promise((resolve, reject) => {
    const reader = new Reader();
    const onread = {
      buffer: Buffer.allocUnsafeSlow(READ_BYTES),
      callback: (n, bytes) => reader.take(bytes, n),
    };
    const socket = connect({ path, onread });
    reader.socket = socket;
    socket.once('connect', () => resolve(reader));
    socket.once('error', reject);
    socket.on('error', () => reader.end());
    socket.on('close', () => reader.end());
  });
}

/** Cuts a socket's bytes into frames, in order. Each payload begins a buffer, so that columns are read in place. */
class Reader {
  frames = [];
  ended = false;
  wake = () => {};
  #header = Buffer.alloc(HEADER_BYTES);
  #headerBytes = 0;
  #payload = null;
  #payloadBytes = 0;
  #spare = [];

  end() {
    this.ended = true;
    this.wake();
  }

  /** Takes the first `n` bytes. False: enough for now. */
  take(bytes, n) {
    for (let at = 0; at < n; ) {
      if (!this.#payload) {
        const got = bytes.copy(this.#header, this.#headerBytes, at, n);
        this.#headerBytes += got;
        at += got;
        if (this.#headerBytes < HEADER_BYTES) break;
        this.#payload = this.#buffer(this.#header.readUInt32LE(0));
        this.#payloadBytes = 0;
      }
      const got = bytes.copy(this.#payload, this.#payloadBytes, at, n);
      this.#payloadBytes += got;
      at += got;
      if (this.#payloadBytes === this.#payload.length) this.#push();
    }
    return this.frames.length < AHEAD;
  }

  #push() {
    this.frames.push({
      type: this.#header[4],
      sequence: this.#header.readUInt32LE(8),
      payload: this.#payload,
    });
    this.#payload = null;
    this.#headerBytes = 0;
    this.wake();
  }

  #buffer(bytes) {
    const fit = this.#spare.findIndex((spare) => spare.length >= bytes);
    if (fit < 0) return Buffer.allocUnsafeSlow(bytes);
    return this.#spare.splice(fit, 1)[0].subarray(0, bytes);
  }

  /** Takes back a payload that nobody reads any more. */
  recycle(payload) {
    if (payload.buffer.byteLength < POOLED_BYTES || this.#spare.length > AHEAD) return;
    this.#spare.push(Buffer.from(payload.buffer));
  }

  /** The next frame. Throws WorkerGone when there is none to come. */
  async next() {
    await anyOf(this);
    return this.shift();
  }

  /** The next frame, which is here already. */
  shift() {
    const frame = this.frames.shift();
    this.socket.resume();
    return frame;
  }
}

/** Resolves when one of the readers has a frame. Throws WorkerGone when none has and one has ended. */
export async function anyOf(...readers) {
  while (readers.every((reader) => reader.frames.length === 0)) {
    if (readers.some((reader) => reader.ended)) throw new WorkerGone();
    await new Promise((resolve) => {
      for (const reader of readers) reader.wake = resolve;
    });
  }
}

/** The JSON of a frame. */
export const parse = (frame) => JSON.parse(frame.payload.toString('utf8'));
