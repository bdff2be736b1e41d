import { Bulk, Kind, type Limits, SILENT, tickLayout, type WireSegment } from '../../contract/index.ts';
import type { Request } from '../../src/exchange/order.ts';
import type { Answer } from '../../src/exchange/venue.ts';
import { encodeAnswer } from '../../src/run/answer.ts';
import { Segment, type SegmentPlan } from '../../src/run/segment.ts';

/** What a strategy under test may do in a hook. */
export interface PaperContext {
  readonly now: number;
  order(request: Partial<Request>): number;
  timer(delay: number): void;
}

/** Called for everything that a strategy sees, with a line that says all of it. */
export type PaperStrategy = (line: string, ctx: PaperContext) => void;

interface Agenda {
  readonly ms: number;
  readonly rank: number;
  readonly order: number;
  readonly what: string;
  readonly stop: boolean;
}

/**
 * The box's side of a segment in a few plain loops: sorted lists, one row at a time, nothing clever. Answers what
 * the strategy saw, line by line.
 */
export function playSegment(
  plan: SegmentPlan,
  limits: Limits,
  lockstep: boolean,
  strategy: PaperStrategy,
  tap: (payload: Uint8Array, answer?: Answer) => void = () => {},
): { seen: string[]; segment: Segment; asks: number } {
  const frames: { type: number; payload: Uint8Array; sequence: number }[] = [];
  let sequence = 0;
  const segment = new Segment(plan, limits, lockstep, (type, payload) => {
    tap(payload);
    frames.push({ type, payload, sequence });
    return sequence++;
  });
  const seen: string[] = [];
  let agenda: Agenda[] = [];
  let rows: { ts: number; line: string; silent: boolean; hook: boolean }[] = [];
  let frame = -1;
  let now = plan.wire.start_ms;
  let promise = now;
  let through = Number.NEGATIVE_INFINITY;
  let commands: Request[] = [];
  let number = 0;
  let order = 0;
  let asks = 0;

  const add = (ms: number, rank: number, what: string, stop = false): void => {
    agenda.push({ ms, rank, order: order++, what, stop });
    agenda.sort((a, b) => a.ms - b.ms || a.rank - b.rank || a.order - b.order);
  };
  const ctx: PaperContext = {
    get now() {
      return now;
    },
    order(request) {
      commands.push({ ...blank, ...request, number: ++number });
      return number;
    },
    timer: (delay) => add(now + Math.max(1, Math.floor(delay)), 0, `timer ${now}`),
  };
  const take = (answer: Answer): void => {
    tap(encodeAnswer(answer, 0), answer);
    const { events, promise: next } = answer;
    for (const event of events) {
      if (event.ts >= next) throw new Error('an event at or after the promise');
      if (event.ts < now) throw new Error(`an event at ${event.ts}, told at ${now}`);
      add(
        event.ts,
        event.kind === 'settle' ? 3 : event.kind === 'stop' ? 4 : 1,
        JSON.stringify(event),
        event.kind === 'stop',
      );
    }
    if (next < now) throw new Error('a promise in the past');
    promise = next;
  };
  const call = (line: string): void => {
    seen.push(`${now} ${line}`);
    strategy(line, ctx);
    if (commands.length === 0) return;
    segment.at(now);
    segment.venue.submit(now, commands);
    commands = [];
    take(segment.answer(false));
  };
  const ask = (): void => {
    asks++;
    const before = promise;
    segment.at(promise);
    now = Math.max(now, promise);
    take(segment.answer(true));
    if (promise <= before) throw new Error('an answer that promises nothing new');
  };

  const told = JSON.parse(Buffer.from(frames.shift()!.payload).toString()) as WireSegment;
  for (const market of told.markets) add(market.end_ms, 2, `close ${market.id}`);
  call('start');
  for (let steps = 0; ; steps++) {
    if (steps > 100_000)
      throw new Error(`the segment does not end: now ${now}, promise ${promise}, through ${through}`);
    const head = agenda[0];
    const limit = Math.min(promise, head?.ms ?? Number.POSITIVE_INFINITY);
    if (rows.length > 0 && rows[0]!.ts <= limit) {
      const row = rows.shift()!;
      now = Math.max(now, row.ts);
      if (row.hook) call(row.line);
      continue;
    }
    if (rows.length === 0 && frame >= 0) {
      segment.acknowledge(frame);
      frame = -1;
      continue;
    }
    if (rows.length === 0 && through < limit && frames.length > 0) {
      const got = frames.shift()!;
      if (got.type !== Bulk.ticks) continue;
      frame = got.sequence;
      ({ through, rows } = decode(got.payload, plan));
      continue;
    }
    if (rows.length === 0 && through < limit && through < promise && lockstep === false)
      throw new Error('no rows, and none under way');
    if (head && (head.ms < promise || (head.ms === promise && head.rank === 0)) && through >= head.ms) {
      agenda = agenda.slice(1);
      now = Math.max(now, head.ms);
      if (head.stop) {
        seen.push(`${now} stop`);
        return { seen, segment, asks };
      }
      call(head.what);
    } else ask();
  }
}

const blank: Request = {
  number: 0,
  kind: 'order',
  market: 0,
  side: 'buy',
  outcome: 'up',
  tif: 'gtc',
  post_only: false,
  reduce_only: false,
  limit: null,
  size: 1,
  by_amount: false,
  expire_ms: 0,
  target: 0,
  tag: '',
};

function decode(
  payload: Uint8Array,
  plan: SegmentPlan,
): { through: number; rows: { ts: number; line: string; silent: boolean; hook: boolean }[] } {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  const n = view.getUint32(8, true);
  const at = tickLayout(n);
  const rows = Array.from({ length: n }, (_, i) => {
    const kind = view.getUint8(at.kind + i);
    const ts = view.getFloat64(at.ts + 8 * i, true);
    const fields = [
      kind,
      view.getUint16(at.market + 2 * i, true),
      view.getFloat64(at.price + 8 * i, true),
      view.getFloat64(at.size + 8 * i, true),
      view.getUint32(at.lag + 4 * i, true),
      view.getUint16(at.bid + 2 * i, true),
      view.getUint16(at.ask + 2 * i, true),
      view.getUint8(at.side + i),
    ];
    const silent = kind >= SILENT || ts < plan.wire.start_ms;
    return { ts, line: `row ${fields.join(' ')}`, silent, hook: !silent && kind !== Kind.depth_part };
  });
  return { through: view.getFloat64(0, true), rows };
}
