import fc from 'fast-check';
import { expect, test } from 'vitest';
import { tail, unframe } from '../../src/sandbox/diagnostics.ts';

test('of any output the last bytes are kept', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'grapheme-ascii', maxLength: 30 })),
      fc.integer({ min: 1, max: 40 }),
      (texts, bytes) => {
        const kept = tail(bytes);
        for (const text of texts) kept.write(Buffer.from(text));
        expect(kept.text()).toBe(texts.join('').slice(-bytes));
        expect(kept.total).toBe(texts.join('').length);
      },
    ),
  );
});

test("the engine's framing comes off, however its stream was cut", () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 20 })),
      fc.integer({ min: 1, max: 30 }),
      (writes, step) => {
        const stream = Buffer.concat(
          writes.flatMap((bytes, index) => {
            const header = Buffer.from([1 + (index % 2), 0, 0, 0, 0, 0, 0, 0]);
            header.writeUInt32BE(bytes.length, 4);
            return [header, Buffer.from(bytes)];
          }),
        );
        const got: Buffer[] = [];
        const push = unframe((chunk) => got.push(Buffer.from(chunk)));
        for (let at = 0; at < stream.length; at += step) push(stream.subarray(at, at + step));
        expect(Buffer.concat(got)).toEqual(Buffer.concat(writes.map((bytes) => Buffer.from(bytes))));
      },
    ),
  );
});

test('a million one-byte writes in one chunk cost no stack', () => {
  const chunk = Buffer.alloc(9_000_000);
  for (let at = 0; at < chunk.length; at += 9) chunk.set([1, 0, 0, 0, 0, 0, 0, 1, 120], at);
  const kept = tail(10);
  unframe(kept.write)(chunk);
  expect(kept.total).toBe(1_000_000);
  expect(kept.text()).toBe('xxxxxxxxxx');
});
