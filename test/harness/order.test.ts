import { describe, expect, test } from 'vitest';
import { EventKind, FromBox, Kind, NO_MARKET, SILENT } from '../../contract/index.ts';
import { languages, market, open, play, playSegment, T0 } from './driver.ts';
import type { Row } from './payload.ts';

/** Logs the name and the time of every hook. */
const narrator = {
  python: `
class Strategy:
    def on_start(self, ctx):
        ctx.log('start', ctx.now_ms)
        ctx.timer(5, 'a')
        ctx.timer(5, 'b')
    def on_market_open(self, ctx, market): ctx.log('open', ctx.now_ms, market.id)
    def on_strike(self, ctx, market): ctx.log('strike', ctx.now_ms, market.strike)
    def on_price(self, ctx, tick): ctx.log('price', ctx.now_ms, tick.asset, tick.feed)
    def on_book(self, ctx, change): ctx.log('book', ctx.now_ms, change.market.id)
    def on_trade(self, ctx, trade): ctx.log('trade', ctx.now_ms, trade.side, trade.outcome)
    def on_quote(self, ctx, quote): ctx.log('quote', ctx.now_ms, quote.bid, quote.ask is None)
    def on_tick_size(self, ctx, change): ctx.log('tick_size', ctx.now_ms, change.old_tick_size, change.market.tick_size)
    def on_kline(self, ctx, kline): ctx.log('kline', ctx.now_ms, kline.close, kline.interval)
    def on_series(self, ctx, row): ctx.log('series', ctx.now_ms, row.name, row.values['temp'])
    def on_timer(self, ctx, timer): ctx.log('timer', ctx.now_ms, timer.tag)
    def on_order(self, ctx, update): ctx.log('order', ctx.now_ms, update.status)
    def on_fill(self, ctx, fill): ctx.log('fill', ctx.now_ms)
    def on_market_close(self, ctx, market): ctx.log('close', ctx.now_ms, market.id)
    def on_settle(self, ctx, settlement): ctx.log('settle', ctx.now_ms, settlement.outcome)
    def on_stop(self, ctx): ctx.log('stop', ctx.now_ms)
`,
  node: `
export class Strategy {
  onStart(ctx) {
    ctx.log('start', ctx.nowMs);
    ctx.timer(5, 'a');
    ctx.timer(5, 'b');
  }
  onMarketOpen(ctx, market) { ctx.log('open', ctx.nowMs, market.id); }
  onStrike(ctx, market) { ctx.log('strike', ctx.nowMs, market.strike); }
  onPrice(ctx, tick) { ctx.log('price', ctx.nowMs, tick.asset, tick.feed); }
  onBook(ctx, change) { ctx.log('book', ctx.nowMs, change.market.id); }
  onTrade(ctx, trade) { ctx.log('trade', ctx.nowMs, trade.side, trade.outcome); }
  onQuote(ctx, quote) { ctx.log('quote', ctx.nowMs, quote.bid, quote.ask === null ? 'True' : 'False'); }
  onTickSize(ctx, change) { ctx.log('tick_size', ctx.nowMs, change.oldTickSize, change.market.tickSize); }
  onKline(ctx, kline) { ctx.log('kline', ctx.nowMs, kline.close, kline.interval); }
  onSeries(ctx, row) { ctx.log('series', ctx.nowMs, row.name, row.values.temp); }
  onTimer(ctx, timer) { ctx.log('timer', ctx.nowMs, timer.tag); }
  onOrder(ctx, update) { ctx.log('order', ctx.nowMs, update.status); }
  onFill(ctx, fill) { ctx.log('fill', ctx.nowMs); }
  onMarketClose(ctx, market) { ctx.log('close', ctx.nowMs, market.id); }
  onSettle(ctx, settlement) { ctx.log('settle', ctx.nowMs, settlement.outcome); }
  onStop(ctx) { ctx.log('stop', ctx.nowMs); }
}`,
};

const feed = { asset: 'BTC', interval: '', name: '', columns: [] };
const feeds = [
  { ...feed, kind: 'prices' as const },
  { ...feed, kind: 'kline' as const, interval: '1m' },
  { ...feed, kind: 'series' as const, asset: '', name: 'weather', columns: ['temp'] },
];

describe.each(languages)('%s: what comes in which order', (language) => {
  test('within one millisecond: rows, timers in the order they were set, private events, closes, settlements, stop', async () => {
    const at = T0 + 5;
    const book = { market: 0, price: 0.5, size: 1.5 };
    const rows: Row[] = [
      { ts: T0 - 9, kind: Kind.depth | SILENT, ...book },
      { ts: T0, kind: Kind.market_open },
      { ts: at, kind: Kind.tick_size, price: 0.001, size: 0.01 },
      { ts: at, kind: Kind.depth_part, ...book },
      { ts: at, kind: Kind.depth, ...book },
      { ts: at, kind: Kind.depth_same },
      { ts: at, kind: Kind.trade, price: 0.5, size: 1.5, side: 3 },
      { ts: at, kind: Kind.prices, market: 0, price: 100.5 },
      { ts: at, kind: Kind.quote, price: 0.25, size: Number.NaN },
      { ts: at, kind: Kind.kline, market: 1, price: 1.5 },
      { ts: at, kind: Kind.series, market: 2 },
      { ts: at, kind: Kind.strike, price: 100.5 },
      { ts: at + 1, kind: Kind.depth, market: 1, price: 0.5, size: 1.5 },
    ];
    const events = [
      { ts: at, kind: EventKind.stop },
      { ts: at, kind: EventKind.settle, outcome: 2, price: 99.5 },
      { ts: at, kind: EventKind.fill, outcome: 1, side: 1 },
      { ts: at, kind: EventKind.accepted },
    ];
    const { lines, frames } = await play({
      language,
      sources: narrator,
      start: { feeds },
      segment: { markets: [market(1, { end_ms: at }), market(0, { end_ms: at })] },
      feed: (box) => {
        box.bulk(3, JSON.stringify({ kind: 'kline', feed: 1, rows: [[T0, 1.5, 2.5, 0.5, 1.5, 10.5]] }));
        box.bulk(3, JSON.stringify({ kind: 'series', feed: 2, rows: [[T0, 21.5]] }));
        box.ticks(rows);
      },
      stop: Number.POSITIVE_INFINITY,
      onAsk: () => ({ events }),
    });
    const hooks = lines.map((line) => line.split(' '));
    expect(hooks.map(([name, ts, ...rest]) => `${name} ${Number(ts) - T0} ${rest.join(' ')}`.trim())).toEqual(
      [
        'start 0',
        'open 0 m0',
        'tick_size 5 0.01 0.001',
        'book 5 m0',
        'book 5 m0',
        'trade 5 sell down',
        'price 5 BTC prices',
        'quote 5 0.25 True',
        'kline 5 1.5 1m',
        'series 5 weather 21.5',
        'strike 5 100.5',
        'timer 5 a',
        'timer 5 b',
        'fill 5',
        'order 5 accepted',
        'close 5 m0',
        'close 5 m1',
        'settle 5 down',
        'stop 5',
      ],
    );
    expect(frames.map((frame) => frame.type)).toEqual([FromBox.ask, FromBox.segment_done]);
  });

  test('rows and timers run up to and with the promise, private events and closes only before it', async () => {
    const rows = [1, 5, 6].map((ms) => ({ ts: T0 + ms, kind: Kind.trade }));
    const { lines, asks, logs } = await play({
      language,
      sources: narrator,
      segment: { markets: [market(0, { end_ms: T0 + 5 })] },
      rows,
      onAsk: (now) =>
        now === T0
          ? { promise: T0 + 5 }
          : { events: [{ ts: T0 + 5, kind: EventKind.fill, outcome: 1, side: 1 }] },
      stop: T0 + 9,
    });
    expect(asks).toEqual([T0, T0 + 5]);
    expect(lines.map((line) => line.split(' ')[0])).toEqual([
      'start',
      'trade',
      'trade',
      'timer',
      'timer',
      'fill',
      'close',
      'trade',
      'stop',
    ]);
    expect(logs.map((log) => log.now - T0)).toEqual([0, 1, 5, 5, 5, 5, 5, 6, 9]);
  });

  test('a timer waits for rows that are still to come, and says so by waiting, not by guessing', async () => {
    const box = await open({ language, source: narrator[language] });
    try {
      await box.expect(FromBox.ready);
      box.segment();
      await box.expect(FromBox.ask);
      box.answer(T0 + 100);
      box.ticks([{ ts: T0 + 4, kind: Kind.trade }], T0 + 4);
      await box.expect(FromBox.progress);
      expect(box.lines().map((line) => line.split(' ')[0])).toEqual(['start', 'trade']);
      box.ticks([], T0 + 100);
      await box.expect(FromBox.progress);
      await box.expect(FromBox.ask);
      expect(box.lines().at(-1)).toBe(`timer ${T0 + 5} b`);
    } finally {
      await box.close();
    }
  });

  test('a market is known from its open on, and listed until its close', async () => {
    const sources = {
      python: `
class Strategy:
    def on_start(self, ctx): ctx.log(len(ctx.markets), ctx.market('m7') is None)
    def on_market_open(self, ctx, market): ctx.log([one.id for one in ctx.markets], ctx.market(market.id) is market)
    def on_market_close(self, ctx, market): ctx.log('close', market.id, len(ctx.markets), ctx.remaining_ms('m0'))
`,
      node: `
export class Strategy {
  onStart(ctx) { ctx.log(ctx.markets.length, ctx.market('m7') === null ? 'True' : 'False'); }
  onMarketOpen(ctx, market) {
    ctx.log(ctx.markets.map((one) => one.id), ctx.market(market.id) === market ? 'True' : 'False');
  }
  onMarketClose(ctx, market) { ctx.log('close', market.id, ctx.markets.length, ctx.remainingMs('m0')); }
}`,
    };
    const { lines } = await play({
      language,
      sources,
      segment: { markets: [market(0), market(7, { start_ms: T0 + 11, end_ms: T0 + 20 })] },
      rows: [{ ts: T0 + 11, kind: Kind.market_open, market: 7 }],
    });
    expect(lines.map((line) => line.replaceAll(' ', ''))).toEqual([
      '1True',
      "['m0','m7']True",
      'closem71299980',
      'closem000',
    ]);
  });

  test('a segment starts anew: strategy, clock, timers, positions and order numbers', async () => {
    const sources = {
      python: `
import random
class Strategy:
    def __init__(self): self.rows = 0
    def on_start(self, ctx):
        ctx.log(ctx.now_ms, ctx.cash, ctx.position('m0', 'up').shares, ctx.random(), random.random())
    def on_trade(self, ctx, trade):
        self.rows += 1
        ctx.log(self.rows, ctx.buy(trade.market, 'up', size=5, limit=0.5))
    def on_timer(self, ctx, timer): ctx.log('late')
`,
      node: `
export class Strategy {
  rows = 0;
  onStart(ctx) { ctx.log(ctx.nowMs, ctx.cash.toFixed(1), ctx.position('m0', 'up').shares.toFixed(1), ctx.random(), Math.random()); }
  onTrade(ctx, trade) {
    this.rows++;
    ctx.log(this.rows, ctx.buy({ market: trade.market, outcome: 'up', size: 5, limit: 0.5 }));
  }
  onTimer(ctx) { ctx.log('late'); }
}`,
    };
    const box = await open({ language, source: sources[language] });
    try {
      await box.expect(FromBox.ready);
      const script = {
        rows: [{ ts: T0, kind: Kind.trade }],
        onCommands: () => ({ events: [{ ts: T0 + 3, kind: EventKind.fill, cash: -2_500_000, up: 50_000 }] }),
      };
      const first = (await playSegment(box, script)).lines.slice();
      // The tail of a segment that nobody waited for must not run in the next one.
      box.ticks([{ ts: T0 + 1, kind: Kind.trade }]);
      const second = (
        await playSegment(box, {
          ...script,
          segment: { start_ms: T0 - 50, markets: [market(0, { start_ms: T0 - 50 })] },
        })
      ).lines.slice(first.length);
      expect(first).toEqual([expect.stringMatching(`^${T0} 1000.0 0.0 0\\.\\d+ 0\\.\\d+$`), '1 m0#1']);
      expect(second).toEqual([first[0]!.replace(String(T0), String(T0 - 50)), '1 m0#1']);
    } finally {
      await box.close();
    }
  });

  test('a market that was kept from another segment is no market: it does not stand for the one in its place', async () => {
    const sources = {
      python: `
kept = []
class Strategy:
    def on_start(self, ctx):
        kept.extend(ctx.markets)
        ctx.buy(kept[0], 'up', size=5)
    def on_stop(self, ctx):
        try: ctx.log(ctx.position(kept[0], 'up').shares)
        except Exception as error: ctx.log(error)
`,
      node: `
const kept = [];
export class Strategy {
  onStart(ctx) {
    kept.push(...ctx.markets);
    ctx.buy({ market: kept[0], outcome: 'up', size: 5 });
  }
  onStop(ctx) {
    try { ctx.log(ctx.position(kept[0], 'up').shares.toFixed(1)); } catch (error) { ctx.log(error.message); }
  }
}`,
    };
    const box = await open({ language, source: sources[language] });
    try {
      await box.expect(FromBox.ready);
      const first = await playSegment(box, {});
      const second = await playSegment(box, { segment: { name: 'm1', markets: [market(0, { id: 'm1' })] } });
      expect([...first.commands, ...second.commands].map((one) => one.market)).toEqual([0, NO_MARKET]);
      expect(box.lines()).toEqual(['0.0', expect.stringMatching(/^no market .*m0/)]);
    } finally {
      await box.close();
    }
  });
});
