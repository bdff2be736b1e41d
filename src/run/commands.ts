import {
  COMMAND_BYTES,
  Command,
  CommandFlag,
  CommandKind,
  type Limits,
  NO_MARKET,
  tifs,
} from '../../contract/index.ts';
import type { Request } from '../exchange/order.ts';
import { ProtocolViolation } from '../sandbox/sandbox.ts';

const kinds = new Map<number, Request['kind']>([
  [CommandKind.order, 'order'],
  [CommandKind.cancel, 'cancel'],
  [CommandKind.cancel_all, 'cancel_all'],
  [CommandKind.merge, 'merge'],
  [CommandKind.split, 'split'],
]);
const text = new TextDecoder('utf-8', { fatal: false });

/** What a hook asked for: when, and what, numbered on from `first`. */
export interface Commands {
  readonly now: number;
  readonly requests: readonly Request[];
}

/**
 * Reads a COMMANDS payload. Values are not judged here: any float is a legal size, the exchange rejects what makes no
 * sense. Throws ProtocolViolation where the bytes are no commands, or numbers do not go up by one.
 */
export function readCommands(payload: Buffer, first: number, limits: Pick<Limits, 'tag_bytes'>): Commands {
  if (payload.length < 12) throw new ProtocolViolation('a commands frame too short for its header');
  const now = payload.readDoubleLE(0);
  const count = payload.readUInt32LE(8);
  const requests: Request[] = [];
  let at = 12;
  for (let i = 0; i < count; i++) {
    if (at + COMMAND_BYTES > payload.length)
      throw new ProtocolViolation('a commands frame shorter than its count');
    const tagBytes = payload[at + Command.tag]!;
    const end = at + COMMAND_BYTES + tagBytes;
    if (tagBytes > limits.tag_bytes || end > payload.length)
      throw new ProtocolViolation('a tag beyond its bound');
    requests.push(readCommand(payload, at, end));
    if (requests[i]!.number !== first + i)
      throw new ProtocolViolation(`command number ${requests[i]!.number} where ${first + i} was due`);
    at = end;
  }
  if (count === 0 || at !== payload.length)
    throw new ProtocolViolation('a commands frame of another length than its count says');
  return { now, requests };
}

function readCommand(payload: Buffer, at: number, end: number): Request {
  const kind = kinds.get(payload[at + Command.kind]!);
  if (!kind) throw new ProtocolViolation(`a command of unknown kind ${payload[at + Command.kind]}`);
  const flags = payload[at + Command.flags]!;
  const market = payload.readUInt16LE(at + Command.market);
  const side = payload[at + Command.side]!;
  const outcome = payload[at + Command.outcome]!;
  return {
    number: payload.readUInt32LE(at + Command.number),
    kind,
    market: market === NO_MARKET ? -1 : market,
    side: side === 1 ? 'buy' : side === 2 ? 'sell' : null,
    outcome: outcome === 1 ? 'up' : outcome === 2 ? 'down' : null,
    tif: tifs[payload[at + Command.tif]! - 1] ?? null,
    post_only: (flags & CommandFlag.post_only) !== 0,
    reduce_only: (flags & CommandFlag.reduce_only) !== 0,
    limit: (flags & CommandFlag.limit) !== 0 ? payload.readDoubleLE(at + Command.limit) : null,
    size: payload.readDoubleLE(at + Command.size),
    by_amount: (flags & CommandFlag.amount) !== 0,
    expire_ms: payload.readDoubleLE(at + Command.expire),
    target: payload.readUInt32LE(at + Command.target),
    tag: text.decode(payload.subarray(at + COMMAND_BYTES, end)),
  };
}
