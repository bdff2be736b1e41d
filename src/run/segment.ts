import { Bulk, type Limits, type WireSegment } from '../../contract/index.ts';
import type { MarketSpec } from '../exchange/market.ts';
import { type Answer, Venue, type VenueOptions } from '../exchange/venue.ts';
import { Stream, type StreamOptions } from '../replay/stream.ts';
import { ProtocolViolation } from '../sandbox/sandbox.ts';

/** One market, or one session: what the box is told, the rows it is shown, the venue it trades at. */
export interface SegmentPlan {
  readonly wire: WireSegment;
  readonly stream: StreamOptions;
  readonly venue: Omit<VenueOptions, 'limits'>;
  readonly markets: readonly SegmentMarket[];
  /** What was met while the tapes were made, by name: gaps, crossed rows, mirrored prints. Grows during the replay. */
  readonly met: Readonly<Record<string, number>>;
}

/** What the report says of a market beside its result. */
export interface SegmentMarket {
  readonly spec: MarketSpec;
  readonly asset: string;
  readonly interval: string;
  readonly date: string;
}

const FRAMES_IN_WINDOW = 3;

/** Sends a bulk frame and answers its sequence number. */
export type SendBulk = (type: number, payload: Uint8Array) => number;

/**
 * One segment under way: how far the rows have gone, what was promised, where the strategy says it is. It keeps the
 * strategy's clock honest: never backwards, never past what it was promised or shown.
 */
export class Segment {
  readonly venue: Venue;
  readonly stream: Stream;
  now: number;
  private readonly start: number;
  private promise: number;
  /** Rows up to here have been sent. */
  private through: number;
  /** Rows up to here are done, as the box acknowledged. */
  private done: number;
  private readonly unacknowledged: { sequence: number; bytes: number; through: number }[] = [];
  private inFlight = 0;
  private readonly limits: Limits;
  private readonly lockstep: boolean;
  private readonly send: SendBulk;

  constructor(plan: SegmentPlan, limits: Limits, lockstep: boolean, send: SendBulk) {
    this.venue = new Venue({ ...plan.venue, limits });
    this.stream = new Stream(plan.stream);
    this.start = plan.wire.start_ms;
    this.now = this.start;
    this.promise = this.now;
    this.through = Number.NEGATIVE_INFINITY;
    this.done = this.now;
    this.limits = limits;
    this.lockstep = lockstep;
    this.send = send;
    send(Bulk.segment, Buffer.from(JSON.stringify(plan.wire)));
    if (lockstep) this.stepTo(this.now);
    else this.pump();
  }

  /** Whether the box has been told that nothing more comes. */
  get stopped(): boolean {
    return this.promise === Number.POSITIVE_INFINITY;
  }

  /** The box says where it is. */
  at(now: number): void {
    if (!(now >= this.now)) throw new ProtocolViolation(`time went backwards, from ${this.now} to ${now}`);
    // on_start runs at the segment's start, whatever rows of before are still on their way.
    const shown = Math.max(this.through, this.start);
    if (!(now <= this.promise && now <= shown))
      throw new ProtocolViolation(
        `time ${now} is beyond what was promised, ${Math.min(this.promise, shown)}`,
      );
    this.now = now;
  }

  /** The box has worked through a tick frame. */
  acknowledge(sequence: number): void {
    const first = this.unacknowledged.shift();
    if (first?.sequence !== sequence)
      throw new ProtocolViolation(`progress on frame ${sequence}, which was not due`);
    this.inFlight -= first.bytes;
    this.done = Math.max(this.done, first.through);
    if (!this.lockstep) this.pump();
  }

  /** What follows from the commands that were submitted, or from the box having reached the end of its promise. */
  answer(asked: boolean): Answer {
    // In lock-step nothing is promised beyond the next row, and that row leaves with the promise.
    const answer = this.venue.advance(this.now, asked, this.lockstep ? this.stream.nextMs : undefined);
    this.promise = answer.promise;
    if (this.lockstep) this.stepTo(this.promise);
    return answer;
  }

  /** Sends rows as far as the window allows: in bytes under way, and in replay time ahead of what is done. */
  private pump(): void {
    const { prefetch_bytes, prefetch_ms } = this.limits;
    for (;;) {
      const until = Math.max(this.done, this.now) + prefetch_ms;
      if (this.inFlight >= prefetch_bytes || this.through >= until) return;
      // Several frames to a window, so that the box has one to work on while the next is made.
      this.step(
        Math.min(until, Math.max(this.through, this.start) + Math.ceil(prefetch_ms / FRAMES_IN_WINDOW)),
      );
    }
  }

  private stepTo(until: number): void {
    while (this.through < until) this.step(until);
  }

  private step(until: number): void {
    const { records, frame } = this.stream.step(until);
    for (const record of records) this.send(Bulk.records, Buffer.from(JSON.stringify(record)));
    const sequence = this.send(Bulk.ticks, frame.payload);
    this.unacknowledged.push({ sequence, bytes: frame.payload.length, through: frame.through_ms });
    this.inFlight += frame.payload.length;
    this.through = frame.through_ms;
  }
}
