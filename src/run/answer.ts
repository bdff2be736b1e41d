import { EVENT_BYTES, Event, EventKind, reasons } from '../../contract/index.ts';
import type { PrivateEvent } from '../exchange/journal.ts';
import type { Answer } from '../exchange/venue.ts';

const reasonCodes = new Map(reasons.map((reason, code) => [reason, code]));
const outcomes = { up: 1, down: 2, split: 3 } as const;

/** The ANSWER payload to command `number`; 0 answers an ASK. */
export function encodeAnswer({ events, promise }: Answer, number: number): Buffer {
  const payload = Buffer.alloc(16 + events.length * EVENT_BYTES);
  payload.writeDoubleLE(promise, 0);
  payload.writeUInt32LE(number, 8);
  payload.writeUInt32LE(events.length, 12);
  let at = 16;
  for (const event of events) {
    writeEvent(payload, at, event);
    at += EVENT_BYTES;
  }
  return payload;
}

function writeEvent(payload: Buffer, at: number, event: PrivateEvent): void {
  payload.writeDoubleLE(event.ts, at + Event.ts);
  payload.writeDoubleLE(event.event_ts, at + Event.event_ts);
  payload.writeDoubleLE(event.price, at + Event.price);
  payload.writeDoubleLE(event.size, at + Event.size);
  payload.writeDoubleLE(event.remaining, at + Event.remaining);
  payload.writeDoubleLE(event.fee, at + Event.fee);
  payload.writeDoubleLE(event.cash, at + Event.cash);
  payload.writeDoubleLE(event.available, at + Event.available);
  payload.writeDoubleLE(event.up, at + Event.up);
  payload.writeDoubleLE(event.up_locked, at + Event.up_locked);
  payload.writeDoubleLE(event.down, at + Event.down);
  payload.writeDoubleLE(event.down_locked, at + Event.down_locked);
  payload.writeUInt32LE(event.number, at + Event.number);
  payload.writeUInt16LE(event.market, at + Event.market);
  payload[at + Event.kind] = EventKind[event.kind];
  payload[at + Event.reason] = reasonCodes.get(event.reason) ?? 0;
  payload[at + Event.outcome] = event.outcome === null ? 0 : outcomes[event.outcome];
  payload[at + Event.side] = event.side === null ? 0 : event.side === 'buy' ? 1 : 2;
  payload[at + Event.liquidity] = event.liquidity === null ? 0 : event.liquidity === 'maker' ? 1 : 2;
}
