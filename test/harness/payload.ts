import {
  COMMAND_BYTES,
  Command,
  EVENT_BYTES,
  Event,
  EventKind,
  NO_MARKET,
  tickLayout,
} from '../../contract/index.ts';

/** Payloads of the wire's binary frames, written and read field by field. */

export interface Row {
  ts: number;
  kind: number;
  price?: number;
  size?: number;
  lag?: number;
  market?: number;
  bid?: number;
  ask?: number;
  side?: number;
}

export type EventFields = Partial<Record<keyof typeof Event, number>>;
export type CommandFields = Record<keyof typeof Command, number> & { text: string };

export function ticksPayload(rows: readonly Row[], through: number, quotes: readonly number[]): Buffer {
  const n = rows.length;
  const at = tickLayout(n);
  const bytes = Buffer.alloc(at.quotes + quotes.length * 2);
  bytes.writeDoubleLE(through, 0);
  bytes.writeUInt32LE(n, 8);
  bytes.writeUInt32LE(quotes.length / 3, 12);
  for (const [i, row] of rows.entries()) {
    bytes.writeDoubleLE(row.ts, at.ts + 8 * i);
    bytes.writeDoubleLE(row.price ?? 0, at.price + 8 * i);
    bytes.writeDoubleLE(row.size ?? 0, at.size + 8 * i);
    bytes.writeUInt32LE(row.lag ?? 0, at.lag + 4 * i);
    bytes.writeUInt16LE(row.market ?? 0, at.market + 2 * i);
    bytes.writeUInt16LE(row.bid ?? 0, at.bid + 2 * i);
    bytes.writeUInt16LE(row.ask ?? 0, at.ask + 2 * i);
    bytes[at.kind + i] = row.kind;
    bytes[at.side + i] = row.side ?? 0;
  }
  for (const [i, value] of quotes.entries()) bytes.writeUInt16LE(value, at.quotes + 2 * i);
  return bytes;
}

export function answerPayload(promise: number, number: number, events: readonly EventFields[]): Buffer {
  const bytes = Buffer.alloc(16 + events.length * EVENT_BYTES);
  bytes.writeDoubleLE(promise, 0);
  bytes.writeUInt32LE(number, 8);
  bytes.writeUInt32LE(events.length, 12);
  for (const [i, event] of events.entries()) {
    const at = 16 + i * EVENT_BYTES;
    bytes.writeUInt16LE(NO_MARKET, at + Event.market);
    const fields = {
      event_ts: event.ts ?? 0,
      market: event.kind === EventKind.stop ? NO_MARKET : 0,
      ...event,
    };
    for (const [name, value] of Object.entries(fields) as [keyof typeof Event, number][]) {
      if (Event[name] < Event.number) bytes.writeDoubleLE(value, at + Event[name]);
      else if (name === 'number') bytes.writeUInt32LE(value, at + Event.number);
      else if (name === 'market') bytes.writeUInt16LE(value, at + Event.market);
      else bytes[at + Event[name]] = value;
    }
  }
  return bytes;
}

export function readCommands(payload: Buffer): CommandFields[] {
  const found: CommandFields[] = [];
  let at = 12;
  for (let left = payload.readUInt32LE(8); left > 0; left--) {
    const tag = payload[at + Command.tag]!;
    found.push({
      number: payload.readUInt32LE(at + Command.number),
      target: payload.readUInt32LE(at + Command.target),
      kind: payload[at + Command.kind]!,
      side: payload[at + Command.side]!,
      outcome: payload[at + Command.outcome]!,
      tif: payload[at + Command.tif]!,
      flags: payload[at + Command.flags]!,
      tag,
      market: payload.readUInt16LE(at + Command.market),
      size: payload.readDoubleLE(at + Command.size),
      limit: payload.readDoubleLE(at + Command.limit),
      expire: payload.readDoubleLE(at + Command.expire),
      text: payload.toString('utf8', at + COMMAND_BYTES, at + COMMAND_BYTES + tag),
    });
    at += COMMAND_BYTES + tag;
  }
  if (at !== payload.length) throw new Error(`a COMMANDS frame is ${payload.length - at} bytes too long`);
  return found;
}
