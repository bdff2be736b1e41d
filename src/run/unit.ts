import type { Language } from '../../contract/index.ts';
import {
  type Failure,
  FromBox,
  hooks,
  type Limits,
  type LogLine,
  type MarketResult,
  NO_MARKET,
  type Place,
  ToBox,
  type UnitResult,
  type WireStart,
} from '../../contract/index.ts';
import { type Box, type LimitHit, ProtocolViolation, type Raised, type Sandbox } from '../sandbox/sandbox.ts';
import { verdict } from '../sandbox/verdict.ts';
import { Watch } from '../sandbox/watch.ts';
import { encodeAnswer } from './answer.ts';
import { readCommands } from './commands.ts';
import { Segment, type SegmentPlan } from './segment.ts';

/** One process' worth of work: its segments run one after another, each made when its turn comes. */
export interface UnitPlan {
  readonly name: string;
  readonly language: Language;
  readonly start: WireStart;
  readonly segments: readonly (() => SegmentPlan)[];
  readonly market_days: number;
  /** Whether a log line or forecast names its segment's market. */
  readonly perMarket: boolean;
}

export interface UnitOptions {
  readonly sandbox: Sandbox;
  readonly limits: Limits;
  readonly lockstep: boolean;
  readonly signal: AbortSignal;
  /** Wall-clock time after which any reaper may remove the box. */
  readonly deadline_ms: number;
  /** Called now and then: segments done, tick rows shown so far. */
  readonly onProgress: (segments: number, ticks: number) => void;
}

export type UnitOutcome =
  | { readonly ok: true; readonly result: UnitResult; readonly ticks: number }
  | { readonly ok: false; readonly failure: Failure };

const NO_PLACE: Place = { hook: null, market: null, ts_ms: null };

/** Runs a unit in a fresh box. A fault of ours is thrown; what became of the strategy is returned. */
export async function runUnit(plan: UnitPlan, options: UnitOptions): Promise<UnitOutcome> {
  options.signal.throwIfAborted();
  const { sandbox, limits, deadline_ms } = options;
  const box = await sandbox.open({ name: plan.name, language: plan.language, limits, deadline_ms });
  const conversation = new Conversation(plan, box, options);
  const abort = (): void => conversation.stop();
  options.signal.addEventListener('abort', abort);
  // The backstop for a box that says harmless things for ever.
  const overdue = setTimeout(() => conversation.overdue(), deadline_ms - Date.now()).unref();
  try {
    await conversation.run();
  } finally {
    clearTimeout(overdue);
    options.signal.removeEventListener('abort', abort);
    conversation.close();
    conversation.exit = await box.close(conversation.ended ? 2_000 : 0);
  }
  options.signal.throwIfAborted();
  return conversation.outcome();
}

/** What is said between the worker and one box, and what comes of it. Nothing the box says is believed unchecked. */
class Conversation {
  exit: Awaited<ReturnType<Box['close']>> | null = null;
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
  private logBytes = 0;
  private orders = 0;
  private ticks = 0;
  private segmentsDone = 0;
  private readonly logs: LogLine[] = [];
  private readonly forecasts: { ts_ms: number; market: string; p_up: number }[] = [];
  private readonly results: UnitResult[] = [];
  private wake: () => void = () => {};
  private over = false;

  constructor(plan: UnitPlan, box: Box, options: UnitOptions) {
    this.plan = plan;
    this.box = box;
    this.options = options;
    this.watch = new Watch(
      options.limits,
      plan.market_days,
      () => box.cpuMs(),
      (hit) => this.hit(hit),
    );
    box.receive((type, payload) => this.frame(type, payload));
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

  outcome(): UnitOutcome {
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
      return { ok: false, failure: { ...failure, last_logs: this.logs.slice(-20).map((line) => line.text) } };
    return { ok: true, ticks: this.ticks, result: this.assemble() };
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
        this.log(payload);
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
        this.forecast(payload);
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

  private log(payload: Buffer): void {
    if (payload.length < 8) throw new ProtocolViolation('a log frame too short');
    const { limits } = this.options;
    if (payload.length - 8 > limits.log_line_bytes)
      throw new ProtocolViolation('a log line beyond its bound');
    this.logBytes += payload.length - 8;
    if (this.logBytes > limits.log_bytes) {
      this.hit({ limit: 'logs', value: limits.log_bytes });
      return;
    }
    const ts_ms = payload.readDoubleLE(0);
    const text = payload.toString('utf8', 8).replace(/[\r\n]+/g, ' ');
    this.logs.push({ ts_ms: Number.isFinite(ts_ms) ? ts_ms : 0, market: this.market ?? '', text });
  }

  private forecast(payload: Buffer): void {
    need(payload, 24);
    const { limits } = this.options;
    const ts_ms = payload.readDoubleLE(0);
    const p_up = payload.readDoubleLE(8);
    const market = this.segmentPlan?.markets[payload.readUInt16LE(16)];
    if (this.forecasts.length >= limits.forecasts) {
      this.hit({ limit: 'forecasts', value: limits.forecasts });
      return;
    }
    if (market && Number.isFinite(ts_ms) && p_up >= 0 && p_up <= 1)
      this.forecasts.push({ ts_ms, market: market.spec.id, p_up });
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

  private assemble(): UnitResult {
    const counts: Record<string, number> = {};
    for (const result of this.results)
      for (const [name, by] of Object.entries(result.counts)) counts[name] = (counts[name] ?? 0) + by;
    return {
      markets: this.results.flatMap((result) => result.markets),
      orders: this.results.flatMap((result) => result.orders),
      fills: this.results.flatMap((result) => result.fills),
      marks: this.results.flatMap((result) => result.marks),
      logs: this.logs,
      forecasts: this.forecasts,
      counts,
    };
  }
}

function need(payload: Buffer, bytes: number): void {
  if (payload.length !== bytes)
    throw new ProtocolViolation(`a frame of ${payload.length} bytes where ${bytes} were due`);
}

/** What one finished segment came to. */
function segmentResult(plan: SegmentPlan, segment: Segment): UnitResult {
  const { venue, stream } = segment;
  const { orders, pnl } = venue.finish(segment.now);
  const markets: MarketResult[] = plan.markets.flatMap(({ spec, asset, interval, date }, market) => {
    if (!spec.tradable) return [];
    const position = venue.portfolio.positions[market]!;
    return [
      {
        market: spec.id,
        asset,
        interval,
        date,
        start_ms: spec.start_ms,
        end_ms: spec.end_ms,
        outcome: spec.outcome,
        ticks: plan.markets.length === 1 ? stream.ticks : stream.ticksOf[market]!,
        orders: position.orders,
        fills: position.fills,
        fees: position.fees,
        pnl: pnl(market),
      },
    ];
  });
  const { fills, marks } = venue.journal;
  return {
    markets,
    orders,
    fills,
    marks,
    logs: [],
    forecasts: [],
    counts: { ...venue.journal.counts, ...plan.met },
  };
}
