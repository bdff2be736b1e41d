import fc from 'fast-check';
import { expect, test } from 'vitest';
import { COMMAND_BYTES, Command, CommandFlag, CommandKind, LIMITS } from '../../contract/index.ts';
import { readCommands } from '../../src/run/commands.ts';
import { ProtocolViolation } from '../../src/sandbox/sandbox.ts';

/** A COMMANDS payload of one order with a tag. */
function order(tag = 'tag', number = 1): Buffer {
  const payload = Buffer.alloc(12 + COMMAND_BYTES + tag.length);
  payload.writeDoubleLE(1_000, 0);
  payload.writeUInt32LE(1, 8);
  const record = payload.subarray(12);
  record.writeUInt32LE(number, Command.number);
  record[Command.kind] = CommandKind.order;
  record[Command.side] = 2;
  record[Command.outcome] = 1;
  record[Command.tif] = 4;
  record[Command.flags] = CommandFlag.limit | CommandFlag.reduce_only;
  record[Command.tag] = tag.length;
  record.writeUInt16LE(3, Command.market);
  record.writeDoubleLE(Number.NaN, Command.size);
  record.writeDoubleLE(0.45, Command.limit);
  record.write(tag, COMMAND_BYTES);
  return payload;
}

test('an order is read as it was written, whatever its numbers', () => {
  const { now, requests } = readCommands(order(), 1, LIMITS);
  expect(now).toBe(1_000);
  expect(requests).toMatchObject([
    {
      kind: 'order',
      side: 'sell',
      outcome: 'up',
      tif: 'fok',
      market: 3,
      limit: 0.45,
      size: Number.NaN,
      reduce_only: true,
      post_only: false,
      tag: 'tag',
    },
  ]);
});

test('a number out of turn, a missing byte, a byte too many and a tag too long are breaches of the protocol', () => {
  const good = order();
  expect(() => readCommands(good, 2, LIMITS)).toThrow(ProtocolViolation);
  expect(() => readCommands(good.subarray(0, -1), 1, LIMITS)).toThrow(ProtocolViolation);
  expect(() => readCommands(Buffer.concat([good, Buffer.alloc(1)]), 1, LIMITS)).toThrow(ProtocolViolation);
  expect(() => readCommands(order('x'.repeat(65)), 1, LIMITS)).toThrow(ProtocolViolation);
});

test('no bytes make it throw anything else', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.tuple(fc.nat(order().length - 1), fc.nat(255)).map(([at, value]) => {
      const payload = order();
      payload[at] = value;
      return payload;
    }),
  );
  fc.assert(
    fc.property(bytes, (payload) => {
      try {
        readCommands(Buffer.from(payload), 1, LIMITS);
      } catch (error) {
        expect(error).toBeInstanceOf(ProtocolViolation);
      }
    }),
    { numRuns: 3_000 },
  );
});
