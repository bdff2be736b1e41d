import { HEADER_BYTES } from '../../contract/wire.ts';
import { ProtocolViolation } from './sandbox.ts';

/** Writes a frame's header in front of its payload of `payload_bytes`. */
export function writeHeader(target: Buffer, type: number, payload_bytes: number, sequence: number): void {
  target.writeUInt32LE(payload_bytes, 0);
  target.writeUInt32LE(type, 4);
  target.writeUInt32LE(sequence, 8);
  target.writeUInt32LE(0, 12);
}

/** One frame in one piece; the payload is copied. */
export function encodeFrame(type: number, sequence: number, payload: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + payload.length);
  writeHeader(frame, type, payload.length, sequence);
  frame.set(payload, HEADER_BYTES);
  return frame;
}

/**
 * Cuts a stream of untrusted bytes into frames. The returned function takes the next chunk, however the stream was
 * cut, and calls `deliver` for each frame that is complete; the payload is valid during that call only. It holds no
 * more than one frame beside the chunk, and throws ProtocolViolation at the first bad header: the stream is
 * worth nothing after that.
 */
export function frameParser(
  types: ReadonlySet<number>,
  frame_bytes: number,
  deliver: (type: number, payload: Buffer) => void,
): (chunk: Buffer) => void {
  let sequence = 0;
  // The frame that earlier chunks began: its first `held` bytes.
  let hold = Buffer.allocUnsafe(HEADER_BYTES);
  let held = 0;

  /** Checks a header before a byte of its payload is kept; returns the length of the whole frame. */
  function frameLength(bytes: Buffer, at: number): number {
    const length = bytes.readUInt32LE(at);
    if (length > frame_bytes)
      throw new ProtocolViolation(`a frame of ${length} bytes, over ${frame_bytes} bytes`);
    const type = bytes.readUInt32LE(at + 4);
    if (!types.has(type)) throw new ProtocolViolation(`a frame of unknown type ${type}`);
    const given = bytes.readUInt32LE(at + 8);
    if (given !== sequence) throw new ProtocolViolation(`frame number ${given} where ${sequence} was due`);
    if (bytes.readUInt32LE(at + 12) !== 0) throw new ProtocolViolation('a frame header with stray bytes');
    return HEADER_BYTES + length;
  }

  function emit(bytes: Buffer, at: number, end: number): void {
    sequence = (sequence + 1) >>> 0;
    deliver(bytes[at + 4], bytes.subarray(at + HEADER_BYTES, end));
  }

  /** Moves bytes of the chunk to `hold` until it has `wanted`; returns where the rest of the chunk begins. */
  function keep(chunk: Buffer, at: number, wanted: number): number {
    if (hold.length < wanted) hold = Buffer.concat([hold.subarray(0, held)], wanted);
    const copied = chunk.copy(hold, held, at, at + wanted - held);
    held += copied;
    return at + copied;
  }

  return (chunk) => {
    let at = 0;
    while (at < chunk.length) {
      if (held === 0 && chunk.length - at >= HEADER_BYTES) {
        const end = at + frameLength(chunk, at);
        if (end <= chunk.length) {
          emit(chunk, at, end);
          at = end;
          continue;
        }
      }
      if (held < HEADER_BYTES) at = keep(chunk, at, HEADER_BYTES);
      if (held < HEADER_BYTES) return;
      const length = frameLength(hold, 0);
      at = keep(chunk, at, length);
      if (held < length) return;
      held = 0;
      emit(hold, 0, length);
    }
  };
}
