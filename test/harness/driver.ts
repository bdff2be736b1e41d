import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Bulk,
  EventKind,
  FromBox,
  HEADER_BYTES,
  hooks,
  ToBox,
  type WireMarket,
  type WireSegment,
  type WireStart,
} from '../../contract/index.ts';
import {
  answerPayload,
  type CommandFields,
  type EventFields,
  type Row,
  readCommands,
  ticksPayload,
} from './payload.ts';

/** The worker's side of the wire, by hand: real sockets, a real process, nothing from src/. */

export type Lang = 'python' | 'node';
type Sources = Record<Lang, string>;

const pythons = ['python3.14', 'python3.13', 'python3.12', 'python3.11', 'python3'];
const recent = 'import sys; sys.exit(sys.version_info < (3, 11))';
/** A Python that runs the harness; undefined where this machine has none. */
export const python = pythons.find((name) => {
  try {
    execFileSync(name, ['-c', recent], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
});

/** The languages that this machine can run. */
export const languages: readonly Lang[] = python ? ['python', 'node'] : ['node'];

const folder = (path: string) => new URL(`../../sandbox-images/${path}`, import.meta.url).pathname;
const programs: Record<Lang, [string, string[]]> = {
  python: [python ?? 'python3', ['-s', '-P', '-B', folder('python/harness/main.py')]],
  node: [process.execPath, [folder('node/harness/main.mjs')]],
};

export interface Frame {
  readonly type: number;
  readonly payload: Buffer;
}

export interface Log {
  readonly now: number;
  readonly text: string;
}

export interface Options {
  readonly language: Lang;
  readonly source: string;
  readonly start?: Partial<WireStart>;
  /** The arguments before the program's own, in place of the usual ones. */
  readonly python?: readonly string[];
}

export type Box = Awaited<ReturnType<typeof open>>;

const live = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of live) child.kill('SIGKILL');
});

/** Starts a harness and hands it START. Close it when done. */
export async function open({ language, source, start, python: flags }: Options) {
  const root = mkdtempSync(join(tmpdir(), 'harness-'));
  const work = join(root, 'work');
  mkdirSync(work);
  const accepted = [listen(join(root, 'control')), listen(join(root, 'bulk'))];
  const [program, args] = programs[language];
  const used = flags && language === 'python' ? [...flags, args.at(-1)!] : args;
  const env = { ...process.env, PYTHONHASHSEED: '0' };
  const child = spawn(program, [...used, root, work], { stdio: ['ignore', 'pipe', 'pipe'], env });
  live.add(child);
  let diagnostics = '';
  child.stdout.on('data', (chunk) => (diagnostics += chunk));
  child.stderr.on('data', (chunk) => (diagnostics += chunk));
  const exit = new Promise<number | null>((resolve) => child.on('close', resolve));
  const early = exit.then((code) => {
    throw new Error(`the harness ended with ${code} before it connected\n${diagnostics}`);
  });
  const [control, bulk] = (await Promise.race([Promise.all(accepted.map((one) => one.socket)), early])) as [
    Socket,
    Socket,
  ];
  early.catch(() => {});

  const frames: Frame[] = [];
  const logs: Log[] = [];
  const beats: { now: number; cpu: number; wall: number; market: number; hook: number }[] = [];
  let wake = () => {};
  let ended = false;
  let expected = 0;
  readFrames(control, (type, sequence, payload) => {
    if (sequence !== expected++) throw new Error(`frame ${sequence} came in place of ${expected - 1}`);
    if (type === FromBox.log) logs.push({ now: payload.readDoubleLE(0), text: payload.toString('utf8', 8) });
    else if (type === FromBox.beat) {
      const [now, cpu, wall] = [0, 8, 16].map((at) => payload.readDoubleLE(at)) as [number, number, number];
      beats.push({ now, cpu, wall, market: payload.readUInt16LE(24), hook: payload[26]! });
    } else frames.push({ type, payload });
    wake();
  });
  control.on('close', () => {
    ended = true;
    wake();
  });
  for (const socket of [control, bulk]) socket.on('error', () => {});

  const sequences = { control: 0, bulk: 0 };
  const write = (to: 'control' | 'bulk', type: number, payload: Uint8Array | string) => {
    const body = Buffer.from(payload as Uint8Array);
    const head = Buffer.alloc(HEADER_BYTES);
    head.writeUInt32LE(body.length, 0);
    head[4] = type;
    head.writeUInt32LE(sequences[to]++, 8);
    (to === 'control' ? control : bulk).write(Buffer.concat([head, body]));
    return sequences[to] - 1;
  };

  const box = {
    logs,
    beats,
    exit,
    diagnostics: () => diagnostics,
    /** The texts logged so far. */
    lines: () => logs.map((log) => log.text),
    control: (type: number, payload: Uint8Array | string = '') => write('control', type, payload),
    bulk: (type: number, payload: Uint8Array | string = '') => write('bulk', type, payload),
    answer: (promise: number, number = 0, events: readonly EventFields[] = []) =>
      write('control', ToBox.answer, answerPayload(promise, number, events)),
    segment: (told: Partial<WireSegment> = {}) =>
      write('bulk', Bulk.segment, JSON.stringify({ ...segment, ...told })),
    ticks: (rows: readonly Row[], through = Number.POSITIVE_INFINITY, quotes: readonly number[] = []) =>
      write('bulk', Bulk.ticks, ticksPayload(rows, through, quotes)),
    /** The next control frame that is neither a log nor a beat. */
    async next(): Promise<Frame> {
      while (frames.length === 0) {
        if (ended) throw new Error(`the harness hung up\n${diagnostics}`);
        await new Promise<void>((resolve) => (wake = resolve));
      }
      return frames.shift()!;
    },
    /** The next frame, which must be of this type; a failure of the strategy is shown as such. */
    async expect(type: number): Promise<Buffer> {
      const frame = await box.next();
      if (frame.type === type) return frame.payload;
      const told = frame.type === FromBox.failed ? `\n${frame.payload.toString('utf8', 16)}` : '';
      throw new Error(`expected frame ${type}, got ${frame.type}${told}`);
    },
    /** Stops reading control frames for a while. */
    pause: () => control.pause(),
    resume: () => control.resume(),
    hangUp() {
      control.destroy();
      bulk.destroy();
    },
    async close() {
      child.kill('SIGKILL');
      await exit;
      live.delete(child);
      control.destroy();
      bulk.destroy();
      for (const one of accepted) one.server.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
  const files = start?.files ?? [{ name: entryOf(language), content: source }];
  box.control(ToBox.start, JSON.stringify({ ...startOf(language), ...start, files }));
  return box;
}

export const entryOf = (language: Lang) => (language === 'python' ? 'strategy.py' : 'strategy.mjs');

const startOf = (language: Lang): WireStart => ({
  language: language === 'python' ? 'python@3.14' : 'nodejs@24',
  entry: entryOf(language),
  files: [],
  imports: [],
  params: {},
  seed: 7,
  feeds: [{ kind: 'prices', asset: 'BTC', interval: '', name: '', columns: [] }],
  depth: false,
  warmup_ms: 0,
  feed_ms: 0,
  limits: { frame_bytes: 262_144, log_line_bytes: 4096, error_bytes: 8192, tag_bytes: 64 },
});

export const T0 = 1_760_000_000_000;

export const market = (index: number, over: Partial<WireMarket> = {}): WireMarket => ({
  index,
  id: `m${index}`,
  asset: 'BTC',
  interval: '5m',
  start_ms: T0,
  end_ms: T0 + 300_000,
  settlement_feed: 'prices',
  tie: 'up',
  tick_size: 0.01,
  min_size: 5,
  fee: { curve: 'quadratic', rate: 0.07, taken_in: 'cash' },
  taker_delay_ms: 0,
  tradable: true,
  ...over,
});

export const segment: WireSegment = { name: 'm0', start_ms: T0, capital: 1000, markets: [market(0)] };

export interface Script extends Omit<Options, 'source'> {
  readonly sources: Sources;
  readonly segment?: Partial<WireSegment>;
  /** Rows; one frame, complete to the end of time, unless `feed` sends them. */
  readonly rows?: readonly Row[];
  readonly feed?: (box: Box) => void;
  /** Answers to commands; by default nothing happens, and the replay stops at `stop`. */
  readonly onCommands?: (commands: CommandFields[], now: number) => Answer;
  /** Answers to asks. */
  readonly onAsk?: (now: number) => Answer;
  /** When on_stop comes, unless an answer says otherwise. */
  readonly stop?: number;
}
export type Answer = { promise?: number; events?: readonly EventFields[] } | undefined;

export interface Played {
  readonly lines: string[];
  readonly logs: Log[];
  readonly frames: Frame[];
  readonly commands: CommandFields[];
  readonly asks: number[];
  readonly box: Box;
}

/** Plays one segment to its end and stops the harness; throws when the strategy fails. */
export async function play(script: Script): Promise<Played> {
  const { language, sources, stop = T0 + 300_001 } = script;
  const box = await open({ ...script, source: sources[language] });
  try {
    await box.expect(FromBox.ready);
    const played = await playSegment(box, script, stop);
    const failed = played.frames.find((frame) => frame.type === FromBox.failed);
    if (failed) throw new Error(`the strategy failed\n${readFailure(failed.payload).text}`);
    box.control(ToBox.finish);
    await box.expect(FromBox.end);
    if ((await box.exit) !== 0)
      throw new Error(`the harness exited with ${await box.exit}\n${box.diagnostics()}`);
    return played;
  } finally {
    await box.close();
  }
}

/** Plays one segment to its end or to the strategy's failure, the last of the frames. */
export async function playSegment(
  box: Box,
  script: Omit<Script, 'language' | 'sources'>,
  stop = T0 + 300_001,
) {
  const [frames, commands, asks]: [Frame[], CommandFields[], number[]] = [[], [], []];
  let stopSent = false;
  const answer = (number: number, told: Answer) => {
    const events = [...(told?.events ?? [])];
    const promise = told?.promise ?? Number.POSITIVE_INFINITY;
    if (!stopSent && promise > stop) {
      events.push({ ts: stop, kind: EventKind.stop });
      stopSent = true;
    }
    box.answer(promise, number, events);
  };
  box.segment(script.segment);
  if (script.feed) script.feed(box);
  else box.ticks(script.rows ?? []);
  for (;;) {
    const frame = await box.next();
    frames.push(frame);
    if (frame.type === FromBox.segment_done || frame.type === FromBox.failed) break;
    if (frame.type === FromBox.ask) {
      asks.push(frame.payload.readDoubleLE(0));
      answer(0, script.onAsk?.(asks.at(-1)!));
    } else if (frame.type === FromBox.commands) {
      const sent = readCommands(frame.payload);
      commands.push(...sent);
      answer(sent.at(-1)!.number, script.onCommands?.(sent, frame.payload.readDoubleLE(0)));
    }
  }
  return { lines: box.lines(), logs: box.logs, frames, commands, asks, box };
}

/** Starts a strategy that is expected to fail; what its FAILED frame says. */
export async function failure(script: Script) {
  const box = await open({ ...script, source: script.sources[script.language] });
  try {
    let last = await box.next();
    if (last.type === FromBox.ready) last = (await playSegment(box, script, script.stop)).frames.at(-1)!;
    if (last.type !== FromBox.failed) throw new Error('the strategy did not fail');
    return { ...readFailure(last.payload), exit: await box.exit, lines: box.lines() };
  } finally {
    await box.close();
  }
}

function readFailure(payload: Buffer) {
  const hook = payload[10]!;
  return {
    now: payload.readDoubleLE(0),
    market: payload.readUInt16LE(8),
    hook: hooks[hook]?.python ?? null,
    text: payload.toString('utf8', 16),
    bytes: payload.length - 16,
  };
}

function listen(path: string): { server: Server; socket: Promise<Socket> } {
  const server = createServer();
  const socket = new Promise<Socket>((resolve) => server.once('connection', resolve));
  server.listen(path);
  return { server, socket };
}

function readFrames(socket: Socket, take: (type: number, sequence: number, payload: Buffer) => void) {
  let rest = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= HEADER_BYTES && rest.length >= HEADER_BYTES + rest.readUInt32LE(0)) {
      const end = HEADER_BYTES + rest.readUInt32LE(0);
      take(rest[4]!, rest.readUInt32LE(8), rest.subarray(HEADER_BYTES, end));
      rest = rest.subarray(end);
    }
  });
}
