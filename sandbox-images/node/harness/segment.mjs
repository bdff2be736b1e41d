import { Account } from './account.mjs';
import { Agenda, Rank } from './agenda.mjs';
import {
  Bulk,
  EVENT_BYTES,
  EventKind,
  FromBox,
  Hook,
  hookNames,
  hookOfKind,
  Kind,
  NO_MARKET,
  SILENT,
  ToBox,
} from './codes.mjs';
import { Context } from './context.mjs';
import { StrategyError } from './errors.mjs';
import { parse } from './reader.mjs';
import { RowLoop } from './rowloop.mjs';
import { generator } from './seeds.mjs';
import { World } from './world.mjs';

/** One segment of the replay: which thing comes next, and the hook it calls. `run` is what outlives a segment. */
export class Segment {
  constructor(run, told, strategy) {
    this.run = run;
    this.strategy = strategy;
    this.frame = run.frame;
    this.frame.reset();
    this.world = new World(run, told);
    this.account = new Account(told.capital);
    this.hooks = hookNames.map((name) => (run.methods.has(name) ? strategy[name] : null));
    this.ctx = new Context(this, this.world, this.account, generator(`${run.start.seed}/${told.name}/ctx`));
    this.agenda = new Agenda();
    this.promise = this.world.startMs;
    /** True: the row loop must stop and look around. */
    this.signal = false;
    this.commands = [];
    this.timers = new Map();
    this.timerCount = 0;
    this.arrivals = 0;
    /** Rows of the frame that are done. */
    this.position = 0;
    this.progressed = true;
    this.payload = null;
    this.loop = new RowLoop(this);
    for (const market of this.world.all) this.agenda.add(market.endMs, Rank.close, market._index, market);
  }

  /** From onStart to onStop. */
  async play() {
    this.call(Hook.onStart, NO_MARKET);
    if (!(await this.settleCommands())) await this.ask();
    for (;;) {
      const head = this.agenda.head;
      const limit = head ? Math.min(this.promise, head.ms) : this.promise;
      if (this.rows(limit)) {
        await this.settleCommands();
      } else if (this.position === this.frame.n && this.frame.through < limit) {
        this.takeBulk(this.run.bulk.frames.length > 0 ? this.run.bulk.shift() : await this.run.bulk.next());
      } else if (head && (head.ms < this.promise || (head.rank === Rank.timer && head.ms === this.promise))) {
        this.agenda.pop();
        if (head.rank === Rank.stop) {
          this.world.at(head.ms);
          this.call(Hook.onStop, NO_MARKET);
          this.finish();
          return;
        }
        this.deliver(head);
        if (this.signal || this.world.offence) await this.settleCommands();
      } else {
        await this.ask();
      }
    }
  }

  /** Runs the rows up to and including `limit` ms. True: a hook wants attention first. */
  rows(limit) {
    if (this.position < this.frame.n) {
      const end = this.frame.after(limit, this.position);
      if (end > this.position) this.position = this.loop.run(this.position, end);
    }
    if (this.position === this.frame.n && !this.progressed && this.commands.length === 0) this.progress();
    return this.signal || this.world.offence !== null;
  }

  /** A row that changes what is known beyond quotes and feeds; it counts even when silent or without a hook. */
  rareRow(i) {
    const { frame, world } = this;
    const kind = frame.kind[i] & ~SILENT;
    const tsMs = frame.ts[i];
    const eventTsMs = tsMs - frame.lag[i];
    const market = world.byIndex[frame.market[i]];
    let told = market;
    if (kind === Kind.kline || kind === Kind.series) {
      told = frame.feeds[frame.market[i]].take(tsMs, eventTsMs);
    } else if (kind === Kind.market_open) {
      world.show(market);
    } else if (kind === Kind.strike) {
      market.strike = frame.price[i];
    } else {
      market.tickSize = frame.price[i];
      const outcome = frame.side[i] & 2 ? 'down' : 'up';
      told = { market, outcome, oldTickSize: frame.size[i], newTickSize: frame.price[i], tsMs, eventTsMs };
    }
    const hook = this.hooks[hookOfKind[kind]];
    if (!hook || frame.kind[i] & SILENT) return;
    this.run.hooksCalled++;
    world.enterRow(i);
    this.returned(hook.call(this.strategy, this.ctx, told));
  }

  /** One timer, private event or market close. */
  deliver({ ms, rank, what }) {
    const { world } = this;
    if (rank === Rank.timer) {
      if (!this.timers.delete(what.id)) return;
      world.at(ms);
      this.call(Hook.onTimer, NO_MARKET, what);
    } else if (rank === Rank.close) {
      world.at(ms);
      world.shut(what);
      this.call(Hook.onMarketClose, what._index, what);
    } else {
      world.at(ms);
      const [hook, told] = this.account.apply(what, world.byIndex[what.market] ?? null);
      this.call(hook, what.market, told);
    }
  }

  call(code, market, ...told) {
    const hook = this.hooks[code];
    if (!hook) return;
    this.world.enter(code, market);
    this.run.hooksCalled++;
    this.returned(hook.call(this.strategy, this.ctx, ...told));
    this.world.leave();
  }

  /** A hook's result is of no use, but a promise would be a hook that runs when its time is over. */
  returned(result) {
    if (result === undefined || result === null) return;
    const iterator =
      typeof result === 'object' &&
      Symbol.toStringTag in result &&
      /Generator/.test(result[Symbol.toStringTag]);
    if (typeof result.then !== 'function' && !iterator) return;
    if (!iterator) result.then(undefined, () => {});
    throw new StrategyError(
      'a hook must be a plain function: this one is async or a generator, so it did not run to its end',
    );
  }

  // Talking to the worker.

  /** Sends what the hook asked for and waits for the answer. False when there was nothing. */
  async settleCommands() {
    this.signal = false;
    if (this.world.offence) throw this.world.offence;
    if (this.commands.length === 0) return false;
    const commands = this.commands;
    this.commands = [];
    const { now } = this.world;
    const limit = this.run.start.limits.frame_bytes;
    for (let done = 0; done < commands.length; ) {
      const head = Buffer.alloc(12);
      const parts = [head];
      let size = head.length;
      while (done < commands.length && size + commands[done].length <= limit) {
        size += commands[done].length;
        parts.push(commands[done++]);
      }
      head.writeDoubleLE(now, 0);
      head.writeUInt32LE(parts.length - 1, 8);
      this.run.control.send(FromBox.commands, Buffer.concat(parts));
      await this.takeAnswer(this.run.commandsSent - (commands.length - done));
    }
    return true;
  }

  async ask() {
    if (this.promise === Infinity)
      throw new Error('the worker promised that nothing comes, and sent no stop');
    this.run.control.sendTime(FromBox.ask, this.promise);
    await this.takeAnswer(0);
  }

  async takeAnswer(number) {
    const { type, payload } = await this.run.answers.next();
    if (type !== ToBox.answer) throw new Error(`expected an answer, got control frame ${type}`);
    const answered = payload.readUInt32LE(8);
    if (answered !== number) throw new Error(`expected the answer to command ${number}, got ${answered}`);
    this.promise = payload.readDoubleLE(0);
    for (let at = 16; at + EVENT_BYTES <= payload.length; at += EVENT_BYTES) {
      const event = readEvent(payload, at);
      const rank =
        event.kind === EventKind.settle
          ? Rank.settle
          : event.kind === EventKind.stop
            ? Rank.stop
            : Rank.private;
      this.agenda.add(event.ts, rank, this.arrivals++, event);
    }
  }

  takeBulk(told) {
    if (told.type === Bulk.ticks) {
      this.world.turn(told);
      this.loop.endRows();
      if (this.payload) this.run.bulk.recycle(this.payload);
      this.payload = told.payload;
      this.position = 0;
      this.progressed = false;
    } else if (told.type === Bulk.records) {
      const { feed, rows } = parse(told);
      this.frame.feeds[feed].expect(rows);
    } else {
      throw new Error(`unexpected bulk frame ${told.type} within a segment`);
    }
  }

  progress() {
    this.progressed = true;
    this.run.control.progress(this.frame.sequence, this.world.now);
  }

  finish() {
    if (this.world.offence) throw this.world.offence;
    this.loop.endRows();
    this.run.control.sendTime(FromBox.segment_done, this.world.now);
  }

  // What ctx does through the segment.

  nextNumber() {
    return ++this.run.commandsSent;
  }

  command(packed) {
    this.commands.push(packed);
    this.signal = true;
  }

  setTimer(delay, tag) {
    const id = ++this.timerCount;
    if (delay < Infinity) {
      const ms = this.world.now + Math.max(1, Math.floor(delay));
      const timer = { id, tag, tsMs: ms, eventTsMs: ms, market: null };
      this.timers.set(id, timer);
      this.agenda.add(ms, Rank.timer, id, timer);
      this.signal = true;
    }
    return id;
  }

  cancelTimer(id) {
    return this.timers.delete(id);
  }
}

/** The fields of an EVENT record, as contract/wire.ts names them. */
function readEvent(payload, at) {
  const f64 = (offset) => payload.readDoubleLE(at + offset);
  return {
    ts: f64(0),
    event_ts: f64(8),
    price: f64(16),
    size: f64(24),
    remaining: f64(32),
    fee: f64(40),
    cash: f64(48),
    available: f64(56),
    up: f64(64),
    up_locked: f64(72),
    down: f64(80),
    down_locked: f64(88),
    number: payload.readUInt32LE(at + 96),
    market: payload.readUInt16LE(at + 100),
    kind: payload[at + 102],
    reason: payload[at + 103],
    outcome: payload[at + 104],
    side: payload[at + 105],
    liquidity: payload[at + 106],
  };
}
