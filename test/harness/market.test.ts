import { describe, expect, test } from 'vitest';
import { Bulk, Kind, SILENT } from '../../contract/index.ts';
import { failure, languages, market, play, T0 } from './driver.ts';
import type { Row } from './payload.ts';

const { depth, depth_part: part } = Kind;
const BUY = 0;
const SELL = 1;
const DOWN = 2;
const SNAPSHOT = 4;

describe.each(languages)('%s: books and feeds', (language) => {
  test('best prices are those after the current row, in either outcome, of any market, at any time', async () => {
    const sources = {
      python: `
class Strategy:
    def on_book(self, ctx, change):
        ctx.log(change.outcome, change.side, change.price, change.best_bid, change.best_ask, self.show(ctx))
    def on_trade(self, ctx, trade): ctx.log('trade', self.show(ctx))
    def on_timer(self, ctx, timer): ctx.log('timer', self.show(ctx))
    def on_start(self, ctx):
        ctx.timer(5)
        ctx.timer(15)
        ctx.timer(400_000)
    def show(self, ctx):
        books = [ctx.book(m, o) for m in ('m0', 'm1') for o in ('up', 'down')]
        return '|'.join(f'{b.best_bid} {b.best_ask} {b.mid}' for b in books)
`,
      node: `
const f = (x) => (x === null ? 'None' : x);
export class Strategy {
  onBook(ctx, c) { ctx.log(c.outcome, c.side, c.price, f(c.bestBid), f(c.bestAsk), this.show(ctx)); }
  onTrade(ctx, trade) { ctx.log('trade', this.show(ctx)); }
  onTimer(ctx, timer) { ctx.log('timer', this.show(ctx)); }
  onStart(ctx) {
    ctx.timer(5);
    ctx.timer(15);
    ctx.timer(400_000);
  }
  show(ctx) {
    const books = ['m0', 'm1'].flatMap((m) => ['up', 'down'].map((o) => ctx.book(m, o)));
    return books.map((b) => [f(b.bestBid), f(b.bestAsk), f(b.mid)].join(' ')).join('|');
  }
}`,
    };
    const { lines } = await play({
      language,
      sources,
      segment: { markets: [market(0), market(1)] },
      stop: T0 + 500_000,
      feed: (box) => {
        const first: Row[] = [
          { ts: T0, kind: depth, bid: 4000, ask: 4200, price: 0.42, size: 1, side: SELL },
          { ts: T0 + 1, kind: depth, market: 1, bid: 0, ask: 3000, price: 0.7, size: 1, side: BUY | DOWN },
          { ts: T0 + 9, kind: Kind.prices, market: 0, bid: 4000, ask: 4200, price: 99 },
        ];
        const second: Row[] = [
          { ts: T0 + 10, kind: Kind.trade, market: 1, bid: 2000, ask: 3000 },
          { ts: T0 + 16, kind: depth | SILENT, bid: 4100, ask: 4200 },
          { ts: T0 + 20, kind: depth | SILENT, market: 1, bid: 2100, ask: 3000 },
        ];
        box.ticks(first, T0 + 9, [0, 3900, 4200, 1, 0, 2900]);
        box.ticks(second, Number.POSITIVE_INFINITY, [0, 4000, 4200, 1, 0, 3000]);
      },
    });
    const up = '0.4 0.42 0.41|0.58 0.6 0.59';
    expect(lines).toEqual([
      `up sell 0.42 0.4 0.42 ${up}|None 0.29 None|0.71 None None`,
      `down buy 0.7 0.7 None ${up}|None 0.3 None|0.7 None None`,
      `timer ${up}|None 0.3 None|0.7 None None`,
      `trade ${up}|0.2 0.3 0.25|0.7 0.8 0.75`,
      `timer ${up}|0.2 0.3 0.25|0.7 0.8 0.75`,
      'timer 0.41 0.42 0.415|0.58 0.59 0.585|0.21 0.3 0.255|0.7 0.79 0.745',
    ]);
  });

  test('whole books join both outcomes, follow silent rows, and tell what one archive row changed', async () => {
    const sources = {
      python: `
class Strategy:
    def __init__(self): self.kept = None
    def on_book(self, ctx, change):
        show = lambda levels: ' '.join(f'{p}:{s}' for p, s in levels)
        up, down = ctx.book(change.market, 'up'), ctx.book(change.market, 'down')
        ctx.log(show(up.levels('buy')), '|', show(up.levels('sell')), '|', show(down.levels('buy', 1)), '|', show(down.levels('sell')))
        ctx.log(change.snapshot, ' '.join(f'{side} {p}:{s}' for side, p, s in change.levels), change.event_ts_ms)
        self.kept = self.kept or change.copy()
    def on_stop(self, ctx): ctx.log(self.kept.price, self.kept.size, self.kept.ts_ms, len(self.kept.levels))
`,
      node: `
const n = (x) => (Number.isInteger(x) ? x.toFixed(1) : String(x));
const show = (levels) => levels.map(([p, s]) => n(p) + ':' + n(s)).join(' ');
export class Strategy {
  kept = null;
  onBook(ctx, change) {
    const [up, down] = [ctx.book(change.market, 'up'), ctx.book(change.market, 'down')];
    ctx.log(show(up.levels('buy')), '|', show(up.levels('sell')), '|', show(down.levels('buy', 1)), '|', show(down.levels('sell')));
    const levels = change.levels.map(([side, p, s]) => side + ' ' + n(p) + ':' + n(s)).join(' ');
    ctx.log(change.snapshot ? 'True' : 'False', levels, change.eventTsMs);
    this.kept ??= change.copy();
  }
  onStop(ctx) { ctx.log(this.kept.price, n(this.kept.size), this.kept.tsMs, this.kept.levels.length); }
}`,
    };
    const { lines } = await play({
      language,
      sources,
      start: { depth: true },
      feed: (box) => {
        box.ticks([{ ts: T0 - 5, kind: depth | SILENT, price: 0.39, size: 7.5, side: BUY }], T0 - 5);
        box.ticks([
          { ts: T0 + 1, kind: part, price: 0.4, size: 10.5, side: BUY | SNAPSHOT },
          { ts: T0 + 1, kind: part, price: 0.42, size: 3.5, side: SELL | SNAPSHOT },
          { ts: T0 + 1, kind: depth, price: 0.43, size: 4.5, side: SELL | SNAPSHOT, lag: 3 },
          // A bid for down at 0.57 is an ask for up at 0.43.
          { ts: T0 + 2, kind: depth, price: 0.57, size: 6.5, side: BUY | DOWN },
          { ts: T0 + 3, kind: depth, price: 0.61, size: 0, side: SELL | DOWN },
          { ts: T0 + 4, kind: Kind.depth_same },
        ]);
      },
    });
    expect(lines).toEqual([
      '0.4:10.5 0.39:7.5 | 0.42:3.5 0.43:4.5 | 0.58:3.5 | 0.6:10.5 0.61:7.5',
      `True buy 0.4:10.5 sell 0.42:3.5 sell 0.43:4.5 ${T0 - 2}`,
      '0.4:10.5 0.39:7.5 | 0.42:3.5 0.43:6.5 | 0.58:3.5 | 0.6:10.5 0.61:7.5',
      `False buy 0.57:6.5 ${T0 + 2}`,
      '0.4:10.5 | 0.42:3.5 0.43:6.5 | 0.58:3.5 | 0.6:10.5',
      `False sell 0.61:0.0 ${T0 + 3}`,
      '0.4:10.5 | 0.42:3.5 0.43:6.5 | 0.58:3.5 | 0.6:10.5',
      `False  ${T0 + 4}`,
      `0.43 4.5 ${T0 + 1} 3`,
    ]);
  });

  test('levels without whole books is an error that says how to get them', async () => {
    const sources = {
      python: `
class Strategy:
    def on_start(self, ctx): getattr(ctx.book('m0', 'up'), 'lev' + 'els')('buy')
`,
      node: `export class Strategy { onStart(ctx) { ctx.book('m0', 'up')['lev' + 'els']('buy'); } }`,
    };
    const { text, hook } = await failure({ language, sources });
    expect(hook).toBe('on_start');
    expect(text).toContain('book.levels');
  });

  test('prices and history hold what was seen so far, warm-up included, across frames', async () => {
    const sources = {
      python: `
class Strategy:
    def on_start(self, ctx): ctx.log(ctx.price('BTC'), len(ctx.history('BTC', 'klines', 1e9).ts_ms))
    def on_price(self, ctx, tick):
        seen = ctx.history('BTC', 'prices', 1000)
        ctx.log(tick.value, ctx.price('BTC'), ctx.price('BTC', 'twap30s'), [t - ctx.now_ms for t in seen.ts_ms], seen.value)
    def on_kline(self, ctx, kline):
        seen = ctx.history('BTC', 'klines', 3_600_000, '1m')
        ctx.log(kline.open_ms, kline.volume, seen.open, seen.high, seen.low, seen.close)
    def on_series(self, ctx, row):
        seen = ctx.history(None, 'weather', 3_600_000)
        ctx.log(row.time_ms, row.values['temp'], seen.time_ms, seen.values['temp'], seen.values['rain'])
`,
      node: `
const f = (x) => (Array.isArray(x) ? '[' + x.map(f).join(', ') + ']' : x === null ? 'None' : String(x));
export class Strategy {
  onStart(ctx) { ctx.log(f(ctx.price('BTC')), ctx.history('BTC', 'klines', 1e9).tsMs.length); }
  onPrice(ctx, tick) {
    const seen = ctx.history('BTC', 'prices', 1000);
    ctx.log(tick.value, f(ctx.price('BTC')), f(ctx.price('BTC', 'twap30s')), f(seen.tsMs.map((t) => t - ctx.nowMs)), f(seen.value));
  }
  onKline(ctx, kline) {
    const seen = ctx.history('BTC', 'klines', 3_600_000, '1m');
    ctx.log(kline.openMs, kline.volume, f(seen.open), f(seen.high), f(seen.low), f(seen.close));
  }
  onSeries(ctx, row) {
    const seen = ctx.history(null, 'weather', 3_600_000);
    ctx.log(row.timeMs, row.values.temp, f(seen.timeMs), f(seen.values.temp), f(seen.values.rain));
  }
}`,
    };
    const feed = { asset: 'BTC', interval: '', name: '', columns: [] };
    const kline = [T0, 1.5, 2.5, 0.5, 1.25, 10.5];
    const { lines } = await play({
      language,
      sources,
      start: {
        feeds: [
          { ...feed, kind: 'prices' },
          { ...feed, kind: 'kline', interval: '5m' },
          { ...feed, kind: 'kline', interval: '1m' },
          { ...feed, kind: 'series', asset: '', name: 'weather', columns: ['temp', 'rain'] },
          { ...feed, kind: 'twap30s' },
        ],
      },
      feed: (box) => {
        box.bulk(
          Bulk.records,
          JSON.stringify({ kind: 'kline', feed: 2, rows: [[T0 - 60_000, 9.5, 9.5, 9.5, 9.5, 9.5], kline] }),
        );
        box.bulk(Bulk.records, JSON.stringify({ kind: 'series', feed: 3, rows: [[T0 - 7, 21.5, null]] }));
        const silent = SILENT;
        box.ticks(
          [
            { ts: T0 - 999, kind: Kind.prices | silent, price: 98.5 },
            { ts: T0 - 995, kind: Kind.prices | silent, price: 99.5 },
            { ts: T0 - 9, kind: Kind.kline | silent, market: 2 },
            { ts: T0 - 8, kind: Kind.twap30s | silent, market: 4, price: 97.5 },
          ],
          T0 - 5,
        );
        box.ticks([
          { ts: T0 + 2, kind: Kind.prices, price: 100.5 },
          { ts: T0 + 2, kind: Kind.prices, price: 101.5 },
          { ts: T0 + 3, kind: Kind.kline, market: 2 },
          { ts: T0 + 3, kind: Kind.series, market: 3 },
        ]);
      },
    });
    expect(lines).toEqual([
      'None 0',
      '100.5 100.5 97.5 [-997, 0] [99.5, 100.5]',
      '101.5 101.5 97.5 [-997, 0, 0] [99.5, 100.5, 101.5]',
      `${T0} 10.5 [9.5, 1.5] [9.5, 2.5] [9.5, 0.5] [9.5, 1.25]`,
      `${T0 - 7} 21.5 [${T0 - 7}] [21.5] [None]`,
    ]);
  });

  test('asking for a feed that was not declared names those that were', async () => {
    const sources = {
      python: "class Strategy:\n    def on_start(self, ctx): ctx.price('ETH')\n",
      node: "export class Strategy { onStart(ctx) { ctx.price('ETH'); } }",
    };
    const { text } = await failure({ language, sources });
    expect(text).toContain('no feed ETH prices; declared: BTC prices');
  });
});
