import { describe, expect, test } from 'vitest';
import {
  CommandFlag,
  CommandKind,
  EventKind,
  FromBox,
  Kind,
  NO_MARKET,
  reasons,
} from '../../contract/index.ts';
import { languages, market, play, T0 } from './driver.ts';

const trade = [{ ts: T0 + 10, kind: Kind.trade, bid: 4000, ask: 4200 }];

describe.each(languages)('%s: orders and what becomes of them', (language) => {
  test('what a strategy asks for is what the worker reads, bad words included', async () => {
    const sources = {
      python: `
class Strategy:
    def on_start(self, ctx):
        market = ctx.markets[0]
        ids = [
            ctx.buy(market, 'up', size=10, limit=0.5, tif='gtd', expire_at_ms=ctx.now_ms + 60_000, tag='first'),
            ctx.sell('m0', 'down', size=5.25, limit=0.61, post_only=True, reduce_only=True),
            ctx.buy('m0', 'up', amount=20, tif='fak'),
            ctx.buy('nowhere', 'sideways', size='many', limit=float('nan'), tif='maybe', tag='é' * 40),
            ctx.buy('m0', 'up', size=1, amount=1),
            ctx.merge(market, 3), ctx.split('nowhere', 4),
        ]
        ctx.cancel(ids[1])
        ctx.cancel('m0#99')
        ctx.cancel_all()
        ctx.cancel_all('m0', 'sell')
        ctx.cancel_all('nowhere')
        ctx.log(' '.join(ids))
`,
      node: `
export class Strategy {
  onStart(ctx) {
    const [market] = ctx.markets;
    const ids = [
      ctx.buy({ market, outcome: 'up', size: 10, limit: 0.5, tif: 'gtd', expireAtMs: ctx.nowMs + 60_000, tag: 'first' }),
      ctx.sell({ market: 'm0', outcome: 'down', size: 5.25, limit: 0.61, postOnly: true, reduceOnly: true }),
      ctx.buy({ market: 'm0', outcome: 'up', amount: 20, tif: 'fak' }),
      ctx.buy({ market: 'nowhere', outcome: 'sideways', size: 'many', limit: NaN, tif: 'maybe', tag: 'é'.repeat(40) }),
      ctx.buy({ market: 'm0', outcome: 'up', size: 1, amount: 1 }),
      ctx.merge(market, 3), ctx.split('nowhere', 4),
    ];
    ctx.cancel(ids[1]);
    ctx.cancel('m0#99');
    ctx.cancelAll();
    ctx.cancelAll('m0', 'sell');
    ctx.cancelAll('nowhere');
    ctx.log(ids.join(' '));
  }
}`,
    };
    const { commands, lines } = await play({ language, sources });
    expect(lines.at(-1)).toBe('m0#1 m0#2 m0#3 nowhere#1 m0#4 m0!1 nowhere!1');
    expect(lines[0]).toMatch(/^cancel_?[aA]ll: .*nothing was cancelled$/);
    const blank = {
      target: 0,
      side: 0,
      outcome: 0,
      tif: 0,
      flags: 0,
      tag: 0,
      market: 0,
      size: 0,
      limit: 0,
      expire: 0,
      text: '',
    };
    const { order, cancel, cancel_all, merge, split } = CommandKind;
    const { limit, amount, post_only, reduce_only } = CommandFlag;
    const up = { ...blank, kind: order, side: 1, outcome: 1, tif: 1 };
    expect(commands).toEqual([
      {
        ...up,
        number: 1,
        tif: 2,
        flags: limit,
        size: 10,
        limit: 0.5,
        expire: T0 + 60_000,
        tag: 5,
        text: 'first',
      },
      {
        ...up,
        number: 2,
        side: 2,
        outcome: 2,
        flags: limit | post_only | reduce_only,
        size: 5.25,
        limit: 0.61,
      },
      { ...up, number: 3, tif: 3, flags: amount, size: 20 },
      {
        ...up,
        ...{
          number: 4,
          market: NO_MARKET,
          outcome: 0,
          tif: 0,
          flags: limit,
          size: Number.NaN,
          limit: Number.NaN,
        },
        ...{ tag: 64, text: 'é'.repeat(32) },
      },
      { ...up, number: 5, flags: amount, size: Number.NaN },
      { ...blank, number: 6, kind: merge, size: 3 },
      { ...blank, number: 7, kind: split, market: NO_MARKET, size: 4 },
      { ...blank, number: 8, kind: cancel, target: 2 },
      { ...blank, number: 9, kind: cancel, market: NO_MARKET },
      { ...blank, number: 10, kind: cancel_all, market: NO_MARKET },
      { ...blank, number: 11, kind: cancel_all, side: 2 },
    ]);
  });

  test('cash, positions and open orders change when the hook is told, not before', async () => {
    const sources = {
      python: `
class Strategy:
    def on_trade(self, ctx, trade):
        ctx.buy(trade.market, 'up', size=10, limit=0.42, tag='t')
        self.show(ctx, 'sent')
    def on_order(self, ctx, update):
        self.show(ctx, f'{update.id} {update.status} {update.reason} {update.tag} {update.side}')
    def on_fill(self, ctx, fill):
        self.show(ctx, f'{fill.order_id} {fill.price} {fill.size} {fill.fee} {fill.liquidity} {fill.tag}')
    def on_settle(self, ctx, settlement):
        self.show(ctx, f'{settlement.outcome} {settlement.final}')
    def show(self, ctx, what):
        held = ctx.position('m0', 'up')
        orders = [f'{o.status} {o.remaining}' for o in ctx.orders]
        ctx.log(what, '|', ctx.cash, ctx.available_cash, ctx.equity, '|', held.shares, held.locked, '|', *orders)
`,
      node: `
const f = (x) => (Number.isInteger(x) ? x.toFixed(1) : x === null ? 'None' : String(x));
export class Strategy {
  onTrade(ctx, trade) {
    ctx.buy({ market: trade.market, outcome: 'up', size: 10, limit: 0.42, tag: 't' });
    this.show(ctx, 'sent');
  }
  onOrder(ctx, u) { this.show(ctx, [u.id, u.status, f(u.reason), u.tag, u.side].join(' ')); }
  onFill(ctx, x) { this.show(ctx, [x.orderId, f(x.price), f(x.size), f(x.fee), x.liquidity, x.tag].join(' ')); }
  onSettle(ctx, s) { this.show(ctx, s.outcome + ' ' + f(s.final)); }
  show(ctx, what) {
    const held = ctx.position('m0', 'up');
    const orders = ctx.orders.map((o) => o.status + ' ' + f(o.remaining));
    ctx.log(what, '|', f(ctx.cash), f(ctx.availableCash), f(ctx.equity), '|', f(held.shares), f(held.locked), '|', ...orders);
  }
}`,
    };
    const order = { number: 1, size: 100_000 };
    const fill = {
      number: 1,
      kind: EventKind.fill,
      outcome: 1,
      side: 1,
      price: 4200,
      fee: 68_000,
      liquidity: 2,
    };
    const { lines, frames } = await play({
      language,
      sources,
      rows: trade,
      onCommands: () => ({
        events: [
          {
            ts: T0 + 160,
            kind: EventKind.accepted,
            reason: 1,
            remaining: 100_000,
            available: -4_300_000,
            ...order,
          },
          {
            ts: T0 + 170,
            ...fill,
            size: 40_000,
            remaining: 60_000,
            cash: -1_748_000,
            available: -8000,
            up: 40_000,
          },
          { ts: T0 + 180, ...fill, size: 60_000, cash: -2_588_000, available: -20_000, up: 60_000 },
          {
            ts: T0 + 190,
            kind: EventKind.cancel_rejected,
            reason: reasons.indexOf('already_done'),
            ...order,
          },
          {
            ts: T0 + 300_000,
            kind: EventKind.settle,
            outcome: 1,
            price: 101.5,
            cash: 10_000_000,
            available: 9_992_000,
            up: -100_000,
          },
        ],
      }),
    });
    expect(lines).toEqual(
      [
        'sent | 1000.0 1000.0 1000.0 | 0.0 0.0 | sent 10.0',
        'm0#1 accepted held t buy | 1000.0 995.7 1000.0 | 0.0 0.0 | accepted 10.0',
        'm0#1 0.42 4.0 0.068 taker t | 998.252 995.692 999.852 | 4.0 0.0 | accepted 6.0',
        'm0#1 0.42 6.0 0.068 taker t | 995.664 995.672 999.664 | 10.0 0.0 |',
        'm0#1 cancel_rejected already_done t buy | 995.664 995.672 999.664 | 10.0 0.0 |',
        'up 101.5 | 1005.664 1005.664 1005.664 | 0.0 0.0 |',
      ].map((line) =>
        line.endsWith('|') ? expect.stringMatching(new RegExp(`^${line.replaceAll('|', '\\|')} ?$`)) : line,
      ),
    );
    expect(frames[0]!.type).toBe(FromBox.ask);
    expect(frames[1]!.type).toBe(FromBox.commands);
  });

  test('an answer’s events join those that wait, by time and kind', async () => {
    const sources = {
      python: `
class Strategy:
    def on_timer(self, ctx, timer): ctx.log('timer', ctx.buy('m0', 'up', size=5))
    def on_start(self, ctx): ctx.buy('m0', 'up', size=5); ctx.timer(3.9)
    def on_order(self, ctx, update): ctx.log(update.id, update.status)
    def on_settle(self, ctx, settlement): ctx.log('settle')
`,
      node: `
export class Strategy {
  onTimer(ctx) { ctx.log('timer', ctx.buy({ market: 'm0', outcome: 'up', size: 5 })); }
  onStart(ctx) { ctx.buy({ market: 'm0', outcome: 'up', size: 5 }); ctx.timer(3.9); }
  onOrder(ctx, update) { ctx.log(update.id, update.status); }
  onSettle(ctx, settlement) { ctx.log('settle'); }
}`,
    };
    const { lines } = await play({
      language,
      sources,
      rows: trade,
      onCommands: ([command]) =>
        command!.number === 1
          ? {
              events: [
                { ts: T0 + 9, kind: EventKind.settle },
                { ts: T0 + 9, number: 1, kind: EventKind.expired },
              ],
            }
          : {
              events: [
                { ts: T0 + 9, number: 2, kind: EventKind.accepted },
                { ts: T0 + 8, number: 2, kind: EventKind.rejected },
              ],
            },
    });
    expect(lines).toEqual(['timer m0#2', 'm0#2 rejected', 'm0#1 expired', 'm0#2 accepted', 'settle']);
  });

  test('each status and reason has its word', async () => {
    const sources = {
      python: `
class Strategy:
    def on_start(self, ctx): ctx.merge('m0', 1)
    def on_order(self, ctx, update): ctx.log(update.status, update.reason or '', update.id)
`,
      node: `
export class Strategy {
  onStart(ctx) { ctx.merge('m0', 1); }
  onOrder(ctx, update) { ctx.log(update.status, update.reason ?? '', update.id); }
}`,
    };
    const kinds = ['accepted', 'rejected', 'cancelled', 'expired', 'cancel_rejected', 'converted'] as const;
    const events = reasons.map((_, reason) => ({
      ts: T0 + reason,
      number: 1,
      kind: EventKind[kinds[reason % 6]!],
      reason,
    }));
    const { lines } = await play({ language, sources, onCommands: () => ({ events }) });
    expect(lines).toEqual(reasons.map((reason, i) => `${kinds[i % 6]} ${reason} m0!1`));
  });

  test('commands of on_stop count for nothing, and too many for one frame go in several', async () => {
    const sources = {
      python: `
class Strategy:
    def on_start(self, ctx):
        for i in range(9): ctx.buy('m0', 'up', size=i)
    def on_stop(self, ctx): ctx.buy('m0', 'up', size=5)
`,
      node: `
export class Strategy {
  onStart(ctx) { for (let i = 0; i < 9; i++) ctx.buy({ market: 'm0', outcome: 'up', size: i }); }
  onStop(ctx) { ctx.buy({ market: 'm0', outcome: 'up', size: 5 }); }
}`,
    };
    const limits = { frame_bytes: 200, log_line_bytes: 100, error_bytes: 200, tag_bytes: 64 };
    const { commands, frames } = await play({ language, sources, start: { limits } });
    expect(commands.map((one) => one.size)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(
      frames.filter((frame) => frame.type === FromBox.commands).map((frame) => frame.payload.length),
    ).toEqual([172, 172, 52]);
  });

  test('the fee and the price grid follow the market', async () => {
    const sources = {
      python: `
class Strategy:
    def on_start(self, ctx):
        for market in ctx.markets:
            ctx.log(ctx.fee(market, 0.25, 100), ctx.round_price(market, 0.5263), ctx.round_price(market.id, 2))
`,
      node: `
export class Strategy {
  onStart(ctx) {
    for (const market of ctx.markets) {
      ctx.log(ctx.fee(market, 0.25, 100), ctx.roundPrice(market, 0.5263), ctx.roundPrice(market.id, 2));
    }
  }
}`,
    };
    const fee = (curve: 'linear' | 'notional') => ({ curve, rate: 0.01, taken_in: 'cash' as const });
    const markets = [
      market(0),
      market(1, { fee: fee('linear'), tick_size: 0.001 }),
      market(2, { fee: fee('notional') }),
    ];
    const { lines } = await play({ language, sources, segment: { markets } });
    expect(lines).toEqual(['1.3125000000000002 0.53 0.99', '0.25 0.526 0.999', '0.25 0.53 0.99']);
  });
});
