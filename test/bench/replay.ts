import { execution, LIMITS } from '../../contract/index.ts';
import type { DeltaRows, FeedRows, PrintRows, QuoteRows } from '../../src/archive/staged.ts';
import { Row, type Tape } from '../../src/exchange/tape.ts';
import { Venue } from '../../src/exchange/venue.ts';
import { rowsByMarket } from '../../src/replay/rows.ts';
import { Stream, type StreamMarket, type StreamSource } from '../../src/replay/stream.ts';
import { makeTape, type Part } from '../../src/replay/tape.ts';
import { plainMarket, request } from '../exchange/scenes.ts';

export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What the machine itself did in the same run. */
  readonly limit?: number;
  readonly limitName?: string;
}

const MILLION = 1_000_000;
const DAY_MS = 86_400_000;
const MARKET_MS = 300_000;

/** A plain generator: the same rows in every run. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

interface Columns {
  readonly rows: number;
  readonly markets: number;
  readonly seed: number;
}

/** Rows of one dataset of one day: event times as they come, each row in the market of its five minutes. */
function dayRows({ rows, markets, seed }: Columns): DeltaRows {
  const draw = random(seed);
  const names = Array.from({ length: markets }, (_, i) => `m${i}`);
  const made = {
    ...{ length: rows, markets: names, recv: new Float64Array(rows), event: new Float64Array(rows) },
    ...{ market: new Uint16Array(rows), outcome: new Uint8Array(rows), side: new Uint8Array(rows) },
    ...{ price: new Uint16Array(rows), size: new Float64Array(rows) },
  };
  const span = markets * MARKET_MS;
  let ts = 0;
  let middle = 50;
  for (let row = 0; row < rows; row++) {
    // Rows come in bursts: some share a millisecond, some wait.
    ts = Math.min(span - 1, ts + (draw() < 0.5 ? 0 : Math.round((4 * draw() * span) / rows)));
    if (row % 512 === 0) middle = Math.min(80, Math.max(20, middle + Math.round(2 * draw() - 1)));
    const side = draw() < 0.5 ? 0 : 1;
    const away = 1 + Math.floor(draw() * draw() * 12);
    made.recv[row] = ts + 25;
    made.event[row] = ts;
    made.market[row] = Math.min(markets - 1, Math.floor(ts / MARKET_MS));
    made.side[row] = side;
    made.price[row] = 100 * (side ? middle + away : middle - away);
    made.size[row] = draw() < 0.15 ? 0 : 10_000 * Math.ceil(500 * draw());
  }
  return made;
}

const partsOf = (rows: DeltaRows): Part<DeltaRows>[] => {
  const { of } = rowsByMarket(rows);
  return rows.markets.map((name) => ({ rows, at: of(name) }));
};

interface Day {
  readonly deltas: readonly Part<DeltaRows>[];
  readonly others: readonly Part<DeltaRows>[];
  readonly prints: readonly Part<PrintRows>[];
  readonly quotes: readonly Part<QuoteRows>[];
  readonly feeds: readonly FeedRows[];
}

/** Six sources of about as many rows each. */
function makeDay(rows: number, markets: number): Day {
  const columns = (seed: number): DeltaRows => dayRows({ rows, markets, seed });
  const feed = (seed: number): FeedRows => {
    const { recv, event, size } = columns(seed);
    return { length: rows, recv, event, value: size };
  };
  const quote = columns(4);
  const { price, ...base } = quote;
  const quoted: QuoteRows = { ...base, bid: price, ask: price.map((bid) => bid + 100) };
  const { of } = rowsByMarket(quoted);
  return {
    deltas: partsOf(columns(1)),
    others: partsOf(columns(2)),
    prints: partsOf(columns(3)),
    quotes: quoted.markets.map((name) => ({ rows: quoted, at: of(name) })),
    feeds: [feed(5), feed(6)],
  };
}

const marketAt = (index: number): StreamMarket => ({
  start_ms: index * MARKET_MS,
  end_ms: (index + 1) * MARKET_MS,
  strike: null,
});

function sources(day: Day, markets: readonly number[]): StreamSource[] {
  const own = markets.flatMap((from, market): StreamSource[] => [
    { kind: 'delta', market, part: day.deltas[from]! },
    { kind: 'delta', market, part: day.others[from]! },
    { kind: 'trade', market, part: day.prints[from]! },
    { kind: 'quote', market, part: day.quotes[from]! },
  ]);
  const [prices, twap] = day.feeds;
  return [...own, { kind: 'prices', feed: 0, rows: prices! }, { kind: 'twap60s', feed: 1, rows: twap! }];
}

/** Runs one segment into frames that are dropped; answers rows. */
function merge(day: Day, markets: readonly number[]): number {
  const list = markets.map(marketAt);
  const stream = new Stream({
    markets: list,
    sources: sources(day, markets),
    start_ms: list[0]!.start_ms,
    end_ms: list.at(-1)!.end_ms,
    warmup_ms: 0,
    feed_ms: 0,
    frame_rows: LIMITS.frame_rows,
  });
  let rows = 0;
  for (let through = 0; through < Number.POSITIVE_INFINITY; ) {
    const { frame } = stream.step(Number.POSITIVE_INFINITY);
    rows += frame.rows;
    through = frame.through_ms;
  }
  return rows;
}

/** Rows a second of processor time in millions, the best of three: neighbours on the machine count for little. */
function rate(run: () => number): number {
  let best = 0;
  for (let turn = 0; turn < 3; turn++) {
    const start = process.cpuUsage();
    const rows = run();
    const { user, system } = process.cpuUsage(start);
    best = Math.max(best, rows / (user + system));
  }
  return best;
}

function mergeFigures(print: (row: Figure) => void): void {
  const markets = DAY_MS / MARKET_MS;
  const day = makeDay(MILLION, markets);
  const bytes = new Uint8Array(36 * MILLION);
  const copy = new Uint8Array(bytes.length);
  const limit = rate(() => {
    for (let turn = 0; turn < 10; turn++) copy.set(bytes);
    return 10 * MILLION;
  });
  const all = Array.from({ length: markets }, (_, i) => i);
  const limits = { limit, limitName: 'memcpy of as many bytes' };
  const unit = 'M rows/s';
  const market = rate(() => all.reduce((rows, one) => rows + merge(day, [one]), 0));
  print({ name: 'merge into frames, market mode', value: market, unit, ...limits });
  print({ name: 'merge into frames, session mode', value: rate(() => merge(day, all)), unit, ...limits });
  const tapes = rate(() => {
    let rows = 0;
    for (const one of all) {
      const parts = {
        tickSizes: [],
        snapshots: [],
        deltas: [day.deltas[one]!, day.others[one]!],
        prints: [day.prints[one]!],
      };
      rows += makeTape(parts, (one + 1) * MARKET_MS, 100, LIMITS.gap_ms, () => {}).length;
    }
    return rows;
  });
  print({ name: 'rows into tapes', value: tapes, unit });
}

/** One market of so many depth rows and prints around a middle that stands still, so that resting orders rest. */
function busyTape(rows: number): Tape {
  const draw = random(9);
  const tape = {
    ...{ length: rows, ts: new Float64Array(rows), kind: new Uint8Array(rows) },
    ...{ price: new Uint16Array(rows), size: new Float64Array(rows), gaps: new Float64Array(0) },
  };
  for (let row = 0; row < rows; row++) {
    const kind =
      draw() < 0.01 ? (draw() < 0.5 ? Row.hitsBid : Row.hitsAsk) : draw() < 0.5 ? Row.bid : Row.ask;
    const below = kind === Row.bid || kind === Row.hitsBid;
    const away = kind <= Row.ask ? 1 + Math.floor(10 * draw()) : 1;
    tape.ts[row] = 1000 + Math.floor(row / 10);
    tape.kind[row] = kind;
    tape.price[row] = 5000 + (below ? -100 : 100) * away;
    tape.size[row] = 10_000 * Math.ceil(500 * draw());
  }
  return tape;
}

function passFigures(print: (row: Figure) => void): void {
  const rows = 2 * MILLION;
  const tape = busyTape(rows);
  const levels = [new Float64Array(10_001), new Float64Array(10_001)];
  const limit = rate(() => {
    for (let row = 0; row < rows; row++) levels[tape.kind[row]! & 1]![tape.price[row]!] = tape.size[row]!;
    return rows;
  });
  const end_ms = tape.ts[rows - 1]! + 1000;
  for (const resting of [0, 5, 50]) {
    const value = rate(() => {
      const venue = new Venue({
        execution: execution.parse({ latency_ms: { feed: 0, entry: 0, cancel: 0, response: 0 } }),
        ...{
          limits: LIMITS,
          seed: 1,
          capital: 1e12,
          portfolio: 0,
          markets: [plainMarket(tape, { end_ms, settle_ms: end_ms })],
        },
      });
      // Behind the best levels, where rows touch the queues and few prints reach.
      const orders = Array.from({ length: Math.max(1, resting) }, (_, i) =>
        request({ number: i + 1, limit: resting === 0 ? 0.01 : 0.48 - 0.01 * (i % 8), size: 1000 }),
      );
      venue.submit(900, resting === 0 ? [{ ...orders[0]!, tif: 'ioc' }] : orders);
      venue.advance(900, false);
      for (let promise = 900; promise < Number.POSITIVE_INFINITY; )
        ({ promise } = venue.advance(promise, true));
      if (resting === 0) venue.markets[0]!.pass(end_ms, { offer: () => 0, tick: () => {} });
      return rows;
    });
    print({
      name: `exchange, ${resting} orders resting`,
      value,
      unit: 'M rows/s',
      limit,
      limitName: 'bare stores',
    });
  }
}

/** Rows through the replay and the exchange, each beside what the machine does at most with as much data. */
export async function bench(print: (row: Figure) => void): Promise<void> {
  mergeFigures(print);
  passFigures(print);
}
