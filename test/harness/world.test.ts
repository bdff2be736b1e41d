import { describe, expect, test } from 'vitest';
import { Kind } from '../../contract/index.ts';
import { languages, play, T0 } from './driver.ts';

const trades = [5, 1234].map((ms) => ({ ts: T0 + ms, kind: Kind.trade }));
const at = (ms: number) => new Date(T0 + ms).toISOString().slice(0, 23);

describe.each(languages)('%s: the clock and chance', (language) => {
  test('every clock of the language tells replay time, to the millisecond', async () => {
    const sources = {
      python: `
import datetime as d, time
from datetime import date, datetime
from time import time as clock
class Strategy:
    def on_trade(self, ctx, trade):
        assert clock() == time.monotonic() == time.perf_counter() == ctx.now_ms / 1000
        assert time.time_ns() == time.monotonic_ns() == time.perf_counter_ns() == ctx.now_ms * 1_000_000
        assert datetime.utcnow() == datetime.now() == datetime.today() == d.datetime.now(d.timezone.utc).replace(tzinfo=None)
        assert date.today() == datetime.now().date() == d.date(*time.gmtime()[:3])
        assert isinstance(datetime.now(), date) and isinstance(d.datetime(2020, 1, 1) + d.timedelta(1), datetime)
        ctx.log(datetime.now().isoformat(timespec='milliseconds'))
`,
      node: `
import { hrtime } from 'node:process';
import { performance as other } from 'node:perf_hooks';
const same = (...values) => { if (new Set(values).size !== 1) throw new Error(values.join()); };
export class Strategy {
  onTrade(ctx, trade) {
    const [s, ns] = hrtime();
    same(Date.now(), ctx.nowMs, performance.timeOrigin + other.now(), new Date().getTime(), s * 1000 + ns / 1e6);
    same(process.hrtime.bigint(), BigInt(ctx.nowMs) * 1000000n);
    same(Date(), new Date().toString());
    same(true, new Date(0) instanceof Date, new Date(2020, 0, 1).constructor === Date, Date.UTC(2020, 0) > 0);
    ctx.log(new Date().toISOString().slice(0, 23));
  }
}`,
    };
    const { lines, logs } = await play({ language, sources, rows: trades });
    expect(lines).toEqual([at(5), at(1234)]);
    expect(logs.map((log) => log.now - T0)).toEqual([5, 1234]);
  });

  test('ctx.random gives the sequence that seed and segment name decide, the same in every language', async () => {
    const sources = {
      python:
        'class Strategy:\n    def on_start(self, ctx): ctx.log(*[repr(ctx.random()) for _ in range(3)])\n',
      node: 'export class Strategy { onStart(ctx) { ctx.log(ctx.random(), ctx.random(), ctx.random()); } }',
    };
    const draw = async (seed: number, name: string) =>
      (await play({ language, sources, start: { seed }, segment: { name } })).lines[0];
    expect(await draw(7, 'm0')).toBe('0.7248036305714176 0.8330398505723235 0.17239154716897387');
    expect(await draw(8, 'm0')).not.toBe(await draw(7, 'm1'));
  });

  test('the language’s own randomness comes from the seed, anew in each segment', async () => {
    const sources = {
      python: `
import random
class Strategy:
    def on_start(self, ctx): ctx.log(random.random(), random.gauss(0, 1), hash('a') % 7, list({'up', 'down', 'x'}))
`,
      node: `export class Strategy { onStart(ctx) { ctx.log(Math.random(), Math.random() !== ctx.random()); } }`,
    };
    const lines = await Promise.all(
      [7, 7, 8].map(async (seed) => (await play({ language, sources, start: { seed } })).lines[0]),
    );
    expect(lines[0]).toBe(lines[1]);
    expect(lines[0]).not.toBe(lines[2]);
  });
});

test.runIf(languages.includes('python'))(
  'python started without a fixed hash seed fixes it by itself',
  async () => {
    const sources = {
      python: "class Strategy:\n    def on_start(self, ctx): ctx.log(hash('up'))\n",
      node: '',
    };
    const started = (python: string[]) => play({ language: 'python', sources, python });
    const [isolated, plain] = await Promise.all([started(['-I', '-u']), started(['-s', '-P'])]);
    expect(isolated.lines).toEqual(plain.lines);
  },
);

test.runIf(languages.includes('python'))(
  'numpy draws from the seed too, with and without a generator of one’s own',
  async () => {
    const source = `
try:
    import numpy as np
except ImportError:
    np = None
class Strategy:
    def on_start(self, ctx):
        if np is None: return ctx.log('no numpy here')
        ctx.log(np.random.random(), np.random.default_rng().random(), np.random.default_rng().random())
        ctx.log(np.random.default_rng(seed=5).random())
`;
    const draw = async (seed: number) => {
      const start = { seed, imports: ['numpy'] };
      return (await play({ language: 'python', sources: { python: source, node: '' }, start })).lines;
    };
    const [once, again, other] = await Promise.all([draw(7), draw(7), draw(8)]);
    expect(again).toEqual(once);
    if (once![0] === 'no numpy here') return;
    expect(other![0]).not.toBe(once![0]);
    expect(new Set(once![0]!.split(' ')).size).toBe(3);
    expect(other![1]).toBe(once![1]);
  },
);

test.runIf(languages.includes('python'))('pandas tells replay time where it has a clock', async () => {
  const source = `
try:
    import pandas as pd
except ImportError:
    pd = None
class Strategy:
    def on_trade(self, ctx, trade):
        if pd is None: return ctx.log('no pandas here')
        stamp = pd.Timestamp
        assert stamp.now() == stamp.today() == stamp.utcnow().tz_localize(None) == stamp.now('Asia/Tokyo').tz_convert(None)
        ctx.log(stamp.now().isoformat()[:23])
`;
  const start = { imports: ['pandas'] };
  const { lines } = await play({
    language: 'python',
    sources: { python: source, node: '' },
    start,
    rows: trades,
  });
  expect(lines[0]).toMatch(new RegExp(`^(no pandas here|${at(5)})$`));
});
