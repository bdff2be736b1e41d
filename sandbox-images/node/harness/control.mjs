import { writeSync } from 'node:fs';
import { FromBox, HEADER_BYTES } from './codes.mjs';

/**
 * What the main thread and the watchdog share: a lock and the sequence of control frames, as both write them on one
 * socket, and where the strategy is.
 */
export const SHARED_BYTES = 64;
export const Shared = { lock: 0, sequence: 1, serial: 2, hook: 3, market: 4, wait: 5 };
/** Offset of the replay clock, a float64 in ms. */
export const CLOCK_AT = 32;

/**
 * Writes frames on the control socket, whole and in order, from any thread. Blocks while the socket is full.
 * @param {number} fd
 * @param {Int32Array} shared
 * @param {[type: number, payload: Uint8Array][]} frames
 */
export function writeFrames(fd, shared, frames) {
  const bytes = Buffer.alloc(frames.reduce((sum, [, payload]) => sum + HEADER_BYTES + payload.length, 0));
  while (Atomics.compareExchange(shared, Shared.lock, 0, 1) !== 0) Atomics.wait(shared, Shared.lock, 1, 10);
  try {
    let at = 0;
    for (const [type, payload] of frames) {
      bytes.writeUInt32LE(payload.length, at);
      bytes[at + 4] = type;
      bytes.writeUInt32LE(shared[Shared.sequence]++ >>> 0, at + 8);
      bytes.set(payload, at + HEADER_BYTES);
      at += HEADER_BYTES + payload.length;
    }
    for (let done = 0; done < bytes.length; ) {
      try {
        done += writeSync(fd, bytes, done);
      } catch (error) {
        if (error.code !== 'EAGAIN') throw new WorkerGone();
        // The socket is full; nothing tells a thread that may not return to its event loop when it is not.
        Atomics.wait(shared, Shared.wait, 0, 1);
      }
    }
  } finally {
    Atomics.store(shared, Shared.lock, 0);
    Atomics.notify(shared, Shared.lock);
  }
}

/** The other side hung up: nothing is left to do. */
export class WorkerGone extends Error {}

const HELD_BYTES = 65536;

/** The main thread's way to write control frames. */
export class Control {
  constructor(fd, shared) {
    this.fd = fd;
    this.shared = shared;
    this.held = [];
    this.heldBytes = 0;
  }

  /** Sends what was held back, then this frame. */
  send(type, payload = new Uint8Array(0)) {
    this.held.push([type, payload]);
    this.flush();
  }

  /** Keeps a frame that nobody waits for until the next `send`, so that it costs no call of its own. */
  hold(type, payload) {
    this.held.push([type, payload]);
    this.heldBytes += payload.length + HEADER_BYTES;
    if (this.heldBytes > HELD_BYTES) this.flush();
  }

  flush() {
    const frames = this.held;
    this.held = [];
    this.heldBytes = 0;
    if (frames.length > 0) writeFrames(this.fd, this.shared, frames);
  }

  /** A frame that holds the clock and nothing else. */
  sendTime(type, ms) {
    this.send(type, floats(ms));
  }

  progress(sequence, ms) {
    const payload = Buffer.alloc(16);
    payload.writeUInt32LE(sequence, 0);
    payload.writeDoubleLE(ms, 8);
    this.send(FromBox.progress, payload);
  }
}

/** Little-endian float64s. */
export function floats(...values) {
  return new Uint8Array(new Float64Array(values).buffer);
}
