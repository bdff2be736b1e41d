import { FromBox, hooks, NO_MARKET, type Place, ToBox, type UnitResult } from '../../contract/index.ts';
import { type Box, type Exit, type LimitHit, ProtocolViolation, type Raised } from '../sandbox/sandbox.ts';
import { verdict } from '../sandbox/verdict.ts';
import { Watch } from '../sandbox/watch.ts';
import { encodeAnswer } from './answer.ts';
import { readCommands } from './commands.ts';
import { Output } from './output.ts';
import { joined, segmentResult } from './result.ts';
import { Segment, type SegmentPlan } from './segment.ts';
import type { UnitOptions, UnitOutcome, UnitPlan } from './unit.ts';

const NO_PLACE: Place = { hook: null, market: null, ts_ms: null };

/** What is said between the worker and one box, and what comes of it. Nothing the box says is believed unchecked. */
export class Conversation {
  exit: Exit | null = null;
  private readonly began = Date.now();
  ended = false;
  private readonly plan: UnitPlan;
  private readonly box: Box;
  private readonly options: UnitOptions;
  private readonly watch: Watch;
  private segment: Segment | null = null;
  private market: string | null = null;
  private segmentPlan: SegmentPlan | null = null;
  private bulkFrames = 0;
  private nextCommand = 1;
  private ready = false;
  private raised: Raised | null = null;
  private limit: LimitHit | null = null;
  private place: Place = NO_PLACE;
  private orders = 0;
  private ticks = 0;
  private segmentsDone = 0;
  private readonly output: Output;
  private readonly results: UnitResult[] = [];
  private wake: () => void = () => {};
  private over = false;
  private fault: unknown = null;

  constructor(plan: UnitPlan, box: Box, options: UnitOptions) {
    this.plan = plan;
    this.box = box;
    this.options = options;
    this.output = new Output(options.limits);
    this.watch = new Watch(
      options.limits,
      plan.market_days,
      () => box.cpuMs(),
      (hit) => this.hit(hit),
    );
    box.receive((type, payload) => this.hear(type, payload));
    void box.hangup.then(() => this.stop());
  }

  async run(): Promise<void> {
    this.box.control(ToBox.start, Buffer.from(JSON.stringify(this.plan.start)));
    await this.until(() => this.ready);
    for (const make of this.plan.segments) {
      if (this.over) return;
      const plan = make();
      this.segmentPlan = plan;
      this.market = this.plan.perMarket ? plan.wire.name : null;
      const done = this.segmentsDone + 1;
      this.watch.expect();
      this.segment = new Segment(plan, this.options.limits, this.options.lockstep, (type, payload) => {
        void this.box.bulk(type, payload);
        return this.bulkFrames++;
      });
      await this.until(() => this.segmentsDone === done);
    }
    if (this.over) return;
    this.box.control(ToBox.finish, Buffer.alloc(0));
    await this.until(() => this.ended);
  }

  /** Nothing more is to be expected of the box. */
  stop(): void {
    this.over = true;
    this.wake();
  }

  overdue(): void {
    this.hit({ limit: 'stalled', value: this.options.deadline_ms - this.began });
  }

  close(): void {
    this.watch.close();
  }

  /** What became of the strategy. Throws what went wrong on our side. */
  outcome(): UnitOutcome {
    if (this.fault !== null) throw this.fault;
    const failure = verdict(
      {
        ...(this.exit ?? { exit_code: null, signal: null, oom: false, diagnostics: '' }),
        ended: this.ended,
        raised: this.raised,
        limit: this.limit,
        violation: this.box.violation,
        place: this.lastPlace(),
      },
      this.options.limits,
    );
    if (failure)
      return {
        ok: false,
        failure: { ...failure, last_logs: this.output.logs.slice(-20).map((line) => line.text) },
      };
    return {
      ok: true,
      ticks: this.ticks,
      result: { ...joined(this.results), logs: this.output.logs, forecasts: this.output.forecasts },
    };
  }

  private lastPlace(): Place {
    const now = this.segment ? this.segment.now : null;
    return {
      hook: this.place.hook,
      market: this.place.market ?? this.market,
      ts_ms: this.place.ts_ms ?? now,
    };
  }

  private async until(done: () => boolean): Promise<void> {
    while (!done() && !this.over) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  private hit(limit: LimitHit): void {
    this.limit ??= limit;
    this.stop();
  }

  private limited(hit: LimitHit | null): void {
    if (hit) this.hit(hit);
  }

  /** A bug of ours that a frame brought to light must not take the worker down with it. */
  private hear(type: number, payload: Buffer): void {
    try {
      this.frame(type, payload);
    } catch (error) {
      if (error instanceof ProtocolViolation) throw error;
      this.fault = error;
      this.stop();
    }
  }

  private frame(type: number, payload: Buffer): void {
    if (this.over) return;
    this.watch.heard();
    switch (type) {
      case FromBox.ready:
        this.becomeReady();
        break;
      case FromBox.beat:
        this.beat(payload);
        break;
      case FromBox.failed:
        this.failed(payload);
        break;
      case FromBox.log:
        this.limited(this.output.log(payload, this.market ?? ''));
        break;
      case FromBox.end:
        this.end();
        break;
      default:
        if (!this.segment) throw new ProtocolViolation(`frame ${type} outside of a segment`);
        this.talk(this.segment, type, payload);
    }
  }

  /** Frames that belong to the segment under way. */
  private talk(segment: Segment, type: number, payload: Buffer): void {
    switch (type) {
      case FromBox.ask:
        need(payload, 8);
        segment.at(payload.readDoubleLE(0));
        this.answer(segment, true, 0);
        break;
      case FromBox.commands:
        this.commands(segment, payload);
        break;
      case FromBox.progress:
        need(payload, 16);
        segment.acknowledge(payload.readUInt32LE(0));
        this.options.onProgress(this.segmentsDone, this.ticks + segment.stream.ticks);
        break;
      case FromBox.forecast:
        need(payload, 24);
        // Dated like a command: not before what was seen already.
        segment.at(payload.readDoubleLE(0));
        this.limited(this.output.forecast(payload, (market) => this.segmentPlan?.markets[market]?.spec.id));
        break;
      case FromBox.segment_done:
        need(payload, 8);
        segment.at(payload.readDoubleLE(0));
        this.segmentDone(segment);
        break;
      default:
        throw new ProtocolViolation(`frame ${type} is not the box's to send`);
    }
  }

  private becomeReady(): void {
    if (this.ready) throw new ProtocolViolation('a second READY');
    this.ready = true;
    this.watch.started();
    this.wake();
  }

  private beat(payload: Buffer): void {
    need(payload, 32);
    this.place = this.placeAt(payload.readDoubleLE(0), payload.readUInt16LE(24), payload[26]!);
    this.watch.beat(payload.readDoubleLE(8), payload.readDoubleLE(16));
  }

  private answer(segment: Segment, asked: boolean, number: number): void {
    this.box.control(ToBox.answer, encodeAnswer(segment.answer(asked), number));
  }

  private commands(segment: Segment, payload: Buffer): void {
    const { limits } = this.options;
    const { now, requests } = readCommands(payload, this.nextCommand, limits);
    segment.at(now);
    this.nextCommand += requests.length;
    this.orders += requests.length;
    if (this.orders > limits.orders) {
      this.hit({ limit: 'orders', value: limits.orders });
      return;
    }
    segment.venue.submit(now, requests);
    this.answer(segment, false, this.nextCommand - 1);
  }

  private segmentDone(segment: Segment): void {
    if (!segment.stopped) throw new ProtocolViolation('a segment ended before its stop was told');
    this.results.push(segmentResult(this.segmentPlan!, segment));
    this.ticks += segment.stream.ticks;
    this.segment = null;
    this.segmentsDone++;
    this.options.onProgress(this.segmentsDone, this.ticks);
    this.wake();
  }

  private end(): void {
    if (this.segmentsDone !== this.plan.segments.length)
      throw new ProtocolViolation('END before the work was done');
    this.ended = true;
    this.wake();
  }

  private failed(payload: Buffer): void {
    if (payload.length < 16) throw new ProtocolViolation('a failure frame too short');
    const { limits } = this.options;
    this.raised = {
      place: this.placeAt(payload.readDoubleLE(0), payload.readUInt16LE(8), payload[10]!),
      traceback: payload.toString('utf8', 16, Math.min(payload.length, 16 + limits.error_bytes)),
    };
    this.stop();
  }

  private placeAt(ts: number, market: number, hook: number): Place {
    const name = hooks[hook];
    return {
      hook: name ? (this.plan.language === 'python@3.14' ? name.python : name.node) : null,
      market:
        market === NO_MARKET ? this.market : (this.segmentPlan?.markets[market]?.spec.id ?? this.market),
      ts_ms: Number.isFinite(ts) && ts > 0 ? ts : null,
    };
  }
}

function need(payload: Buffer, bytes: number): void {
  if (payload.length !== bytes)
    throw new ProtocolViolation(`a frame of ${payload.length} bytes where ${bytes} were due`);
}
