import { connect } from 'node:net';
import { HEADER_BYTES } from './codes.mjs';
import { WorkerGone } from './control.mjs';

/** How many frames may wait before the socket is left alone. */
const AHEAD = 3;

/** Connects to one of the worker's sockets. */
export function dial(path) {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('connect', () => resolve(socket));
    socket.once('error', reject);
  });
}

/** Cuts a socket's bytes into frames, in order. Each payload has a buffer of its own, so columns are read in place. */
export class Reader {
  constructor(socket) {
    this.socket = socket;
    this.frames = [];
    this.header = Buffer.alloc(HEADER_BYTES);
    this.headerBytes = 0;
    this.payload = null;
    this.payloadBytes = 0;
    this.ended = false;
    this.wake = () => {};
    socket.on('data', (chunk) => this.take(chunk));
    socket.on('error', () => this.end());
    socket.on('close', () => this.end());
  }

  end() {
    this.ended = true;
    this.wake();
  }

  take(chunk) {
    for (let at = 0; at < chunk.length; ) {
      if (!this.payload) {
        const n = Math.min(HEADER_BYTES - this.headerBytes, chunk.length - at);
        chunk.copy(this.header, this.headerBytes, at, at + n);
        this.headerBytes += n;
        at += n;
        if (this.headerBytes < HEADER_BYTES) return;
        this.payload = Buffer.allocUnsafeSlow(this.header.readUInt32LE(0));
        this.payloadBytes = 0;
      }
      const n = Math.min(this.payload.length - this.payloadBytes, chunk.length - at);
      chunk.copy(this.payload, this.payloadBytes, at, at + n);
      this.payloadBytes += n;
      at += n;
      if (this.payloadBytes === this.payload.length) this.push();
    }
  }

  push() {
    this.frames.push({ type: this.header[4], sequence: this.header.readUInt32LE(8), payload: this.payload });
    this.payload = null;
    this.headerBytes = 0;
    if (this.frames.length >= AHEAD) this.socket.pause();
    this.wake();
  }

  /** The next frame. Throws WorkerGone when there is none to come. */
  async next() {
    while (this.frames.length === 0) await anyOf(this);
    return this.shift();
  }

  /** The next frame if it is here already. */
  shift() {
    const frame = this.frames.shift();
    if (this.frames.length < AHEAD && this.socket.isPaused()) this.socket.resume();
    return frame;
  }
}

/** Resolves when one of the readers may have a frame. Throws WorkerGone when one without a frame has ended. */
export async function anyOf(...readers) {
  if (readers.some((reader) => reader.frames.length > 0)) return;
  if (readers.some((reader) => reader.ended)) throw new WorkerGone();
  await new Promise((resolve) => {
    for (const reader of readers) reader.wake = resolve;
  });
}

/** The JSON of a frame. */
export const parse = (frame) => JSON.parse(frame.payload.toString('utf8'));
