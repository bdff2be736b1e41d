import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeFrame, frameParser } from '../../src/sandbox/frames.ts';
import { ProtocolViolation } from '../../src/sandbox/sandbox.ts';

const TYPES = new Set([16, 17, 25]);
const MOST = 64;
type Seen = { type: number; payload: string };

/** The plain reading of the rules: all the bytes at once, one frame after the other. */
function oracle(bytes: Buffer): { seen: Seen[]; bad: boolean } {
  const seen: Seen[] = [];
  for (let at = 0; bytes.length - at >= 16; ) {
    const length = bytes.readUInt32LE(at);
    const zero = bytes[at + 5] + bytes.readUInt16LE(at + 6) + bytes.readUInt32LE(at + 12);
    const lawful = length <= MOST && TYPES.has(bytes[at + 4]) && zero === 0;
    if (!lawful || bytes.readUInt32LE(at + 8) !== seen.length) return { seen, bad: true };
    if (bytes.length - at - 16 < length) break;
    seen.push({ type: bytes[at + 4], payload: bytes.toString('hex', at + 16, at + 16 + length) });
    at += 16 + length;
  }
  return { seen, bad: false };
}

function parse(bytes: Buffer, cuts: readonly number[]): { seen: Seen[]; bad: boolean } {
  const seen: Seen[] = [];
  const push = frameParser(TYPES, MOST, (type, payload) =>
    seen.push({ type, payload: payload.toString('hex') }),
  );
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  try {
    let at = 0;
    for (const end of ends) {
      push(bytes.subarray(at, end));
      at = end;
    }
  } catch (error) {
    if (!(error instanceof ProtocolViolation)) throw error;
    return { seen, bad: true };
  }
  return { seen, bad: false };
}

const frames = fc
  .array(fc.record({ type: fc.constantFrom(...TYPES), payload: fc.uint8Array({ maxLength: MOST }) }), {
    maxLength: 12,
  })
  .map((list) => list.map(({ type, payload }, index) => encodeFrame(type, index, payload)));
const cuts = fc.array(fc.nat({ max: 2000 }), { maxLength: 60 });

test('lawful frames arrive whole and in order, however the stream was cut', () => {
  fc.assert(
    fc.property(frames, cuts, (list, where) => {
      const bytes = Buffer.concat(list);
      const { seen, bad } = parse(bytes, where);
      expect(bad).toBe(false);
      expect(seen).toHaveLength(list.length);
      expect(seen).toEqual(oracle(bytes).seen);
    }),
  );
});

test('a stream with any one byte changed, cut off or in another order is read as the rules say', () => {
  const damage = fc.oneof(
    fc.record({ flip: fc.nat({ max: 1000 }), by: fc.integer({ min: 1, max: 255 }) }),
    fc.record({ truncate: fc.nat({ max: 1000 }) }),
    fc.record({ swap: fc.nat({ max: 11 }) }),
    fc.record({ repeat: fc.nat({ max: 11 }) }),
  );
  fc.assert(
    fc.property(frames, damage, cuts, (list, how, where) => {
      if ('swap' in how && how.swap + 1 < list.length) list.push(...list.splice(how.swap, 1));
      if ('repeat' in how && how.repeat < list.length) list.push(list[how.repeat]);
      let bytes = Buffer.concat(list);
      if ('flip' in how && how.flip < bytes.length) bytes[how.flip] ^= how.by;
      if ('truncate' in how) bytes = bytes.subarray(0, how.truncate);
      expect(parse(bytes, where)).toEqual(oracle(bytes));
    }),
    { numRuns: 400 },
  );
});

test('random bytes are refused as soon as a header stands, and never crash the parser', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), cuts, (bytes, where) => {
      expect(parse(Buffer.from(bytes), where)).toEqual(oracle(Buffer.from(bytes)));
    }),
  );
});

test('a header that promises four gigabytes is refused before anything is kept for it', () => {
  const push = frameParser(TYPES, MOST, () => {});
  const header = encodeFrame(16, 0, Buffer.alloc(0));
  header.writeUInt32LE(0xffffffff, 0);
  push(header.subarray(0, 15));
  expect(() => push(header.subarray(15))).toThrow(ProtocolViolation);
});

test('two hundred thousand empty frames at once, then a frame byte by byte, are read without recursion', () => {
  let count = 0;
  const push = frameParser(TYPES, MOST, () => {
    count++;
  });
  const many = Buffer.concat(
    Array.from({ length: 200_000 }, (_, index) => encodeFrame(17, index, Buffer.alloc(0))),
  );
  push(many);
  for (const byte of encodeFrame(17, 200_000, Buffer.alloc(MOST))) push(Buffer.of(byte));
  expect(count).toBe(200_001);
});
