import { Console } from 'node:console';
import { Worker } from 'node:worker_threads';
import { install } from './clock.mjs';
import { Bulk, FromBox, hookNames, NO_HOOK, NO_MARKET, ToBox } from './codes.mjs';
import { CLOCK_AT, Control, floats, SHARED_BYTES, Shared, WorkerGone } from './control.mjs';
import { cut, describe } from './errors.mjs';
import { Feed } from './feeds.mjs';
import { Frame } from './frame.mjs';
import { anyOf, parse } from './reader.mjs';
import { generator } from './seeds.mjs';
import { Segment } from './segment.mjs';
import { load, writeSource } from './source.mjs';

const CUT = ' ... [cut]';

/** The life of a box: START, segments, END. Holds what outlives a segment. */
export class Run {
  /**
   * @param {number} fd of the control socket
   * @param {Awaited<ReturnType<typeof import('./reader.mjs').dial>>} answers
   * @param {Awaited<ReturnType<typeof import('./reader.mjs').dial>>} bulk
   * @param {string} work
   */
  constructor(fd, answers, bulk, work) {
    this.buffer = new SharedArrayBuffer(SHARED_BYTES);
    this.shared = new Int32Array(this.buffer);
    this.clock = new Float64Array(this.buffer, CLOCK_AT, 1);
    this.shared[Shared.hook] = NO_HOOK;
    this.shared[Shared.market] = NO_MARKET;
    this.control = new Control(fd, this.shared);
    this.answers = answers;
    this.bulk = bulk;
    this.folder = `${work.replace(/\/+$/, '')}/strategy`;
    this.frame = new Frame();
    this.hooksCalled = 0;
    this.commandsSent = 0;
    this.bytesLogged = 0;
  }

  /** Everything between START and END. Rejects with whatever the strategy throws. */
  async serve() {
    const told = await this.answers.next();
    if (told.type !== ToBox.start) throw new Error(`expected START, got control frame ${told.type}`);
    this.start = parse(told);
    this.params = Object.freeze(this.start.params);
    this.frame.feeds = this.start.feeds.map((feed) => new Feed(feed));
    writeSource(this.start.files, this.folder);
    this.takeOver();
    const { Strategy, methods } = await load(this.start.entry, this.folder);
    this.methods = methods;
    const mask = hookNames.reduce((sum, name, code) => sum + (methods.has(name) ? 2 ** code : 0), 0);
    this.control.send(FromBox.ready, new Uint8Array(new Uint32Array([mask]).buffer));
    this.watch();
    while (await this.nextSegment(Strategy));
    this.control.send(FromBox.end, floats(this.hooksCalled, this.commandsSent, this.bytesLogged));
  }

  /** Replaces the clock, the randomness and the console. */
  takeOver() {
    Error.stackTraceLimit = 50;
    install(() => this.clock[0]);
    this.seedLibraries('');
    const stream = { write: (text) => this.log(text.replace(/\n$/, '')) };
    const logging = new Console({ stdout: stream, stderr: stream, colorMode: false, ignoreErrors: false });
    for (const name of Object.keys(console)) {
      if (typeof logging[name] === 'function') console[name] = logging[name].bind(logging);
    }
  }

  seedLibraries(segment) {
    Math.random = generator(`${this.start.seed}/${segment}/math`);
  }

  watch() {
    const workerData = { fd: this.control.fd, buffer: this.buffer };
    new Worker(new URL('./beat.mjs', import.meta.url), { workerData }).unref();
  }

  /** Plays the next segment; false when there is none. */
  async nextSegment(Strategy) {
    let told;
    for (;;) {
      await anyOf(this.answers, this.bulk);
      if (this.answers.frames.length > 0) {
        const { type } = this.answers.shift();
        if (type !== ToBox.finish) throw new Error(`expected FINISH, got control frame ${type}`);
        return false;
      }
      const frame = this.bulk.shift();
      if (frame.type === Bulk.segment) {
        told = parse(frame);
        break;
      }
      // What else comes are rows after the last stop, sent ahead: nobody will run them.
    }
    this.clock[0] = told.start_ms;
    this.seedLibraries(told.name);
    await new Segment(this, told, new Strategy()).play();
    return true;
  }

  /** A LOG frame for each line. */
  log(text) {
    for (const line of text.split('\n')) {
      const bytes = cut(line, this.start.limits.log_line_bytes, CUT);
      this.bytesLogged += bytes.length;
      this.control.hold(FromBox.log, Buffer.concat([floats(this.clock[0]), bytes]));
    }
  }

  /** Tells the worker of an exception of the strategy. */
  failed(error) {
    if (error instanceof WorkerGone) return;
    const head = Buffer.alloc(16);
    head.writeDoubleLE(this.clock[0], 0);
    head.writeUInt16LE(this.shared[Shared.market], 8);
    head[10] = this.shared[Shared.hook];
    const text = describe(error, this.folder, this.start.limits.error_bytes);
    this.control.send(FromBox.failed, Buffer.concat([head, text]));
  }
}
