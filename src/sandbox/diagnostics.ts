/** Keeps the last `bytes` bytes of what is written to it; never allocates after it was made. */
export interface Tail {
  write(chunk: Buffer): void;
  /** How many bytes were written in all. */
  readonly total: number;
  text(): string;
}

export function tail(bytes: number): Tail {
  const ring = Buffer.alloc(bytes);
  let total = 0;
  return {
    write(chunk) {
      const last = chunk.subarray(Math.max(0, chunk.length - bytes));
      const at = (total + chunk.length - last.length) % bytes;
      const first = last.copy(ring, at);
      last.copy(ring, 0, first);
      total += chunk.length;
    },
    get total() {
      return total;
    },
    text() {
      if (total <= bytes) return ring.toString('utf8', 0, total);
      const at = total % bytes;
      return Buffer.concat([ring.subarray(at), ring.subarray(0, at)]).toString('utf8');
    },
  };
}

/**
 * Takes the engine's framing (u8 stream, three zeros, u32 big-endian length) off the output of a container and passes
 * on what was written. A loop over states: a container that writes single bytes costs no stack and no memory.
 */
export function unframe(write: (chunk: Buffer) => void): (chunk: Buffer) => void {
  const header = Buffer.alloc(8);
  let held = 0;
  let left = 0;
  return (chunk) => {
    let at = 0;
    while (at < chunk.length) {
      if (left > 0) {
        const end = Math.min(chunk.length, at + left);
        write(chunk.subarray(at, end));
        left -= end - at;
        at = end;
      } else {
        const copied = chunk.copy(header, held, at, at + 8 - held);
        held += copied;
        at += copied;
        if (held < 8) return;
        held = 0;
        left = header.readUInt32BE(4);
      }
    }
  };
}
