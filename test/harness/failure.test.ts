import { describe, expect, test } from 'vitest';
import { FromBox, hooks, Kind, NO_MARKET, ToBox } from '../../contract/index.ts';
import { entryOf, failure, languages, open, play, T0 } from './driver.ts';

const trade = [{ ts: T0 + 5, kind: Kind.trade }];
const limits = { frame_bytes: 262_144, log_line_bytes: 40, error_bytes: 300, tag_bytes: 64 };

describe.each(languages)('%s: what the author of a failing strategy reads', (language) => {
  test('an exception names hook, market, time and the line in the author’s own file, and no frame of ours', async () => {
    const sources = {
      python: `import helper
class Strategy:
    def on_trade(self, ctx, trade):
        ctx.log('before')
        helper.divide(1, 0)
`,
      node: `import { divide } from './helper.mjs';
export class Strategy {
  onTrade(ctx, trade) {
    ctx.log('before');
    divide(null);
  }
}`,
    };
    const helper =
      language === 'python'
        ? { name: 'helper.py', content: 'def divide(a, b):\n    return a / b\n' }
        : { name: 'helper.mjs', content: 'export function divide(a) {\n  return a.b;\n}\n' };
    const files = [{ name: entryOf(language), content: sources[language] }, helper];
    const { text, ...told } = await failure({ language, sources, rows: trade, start: { files } });
    expect(told).toMatchObject({ now: T0 + 5, market: 0, hook: 'on_trade', exit: 1, lines: ['before'] });
    if (language === 'python') {
      expect(text).toBe(`Traceback (most recent call last):
  File "strategy.py", line 5, in on_trade
    helper.divide(1, 0)
  File "helper.py", line 2, in divide
    return a / b
ZeroDivisionError: division by zero`);
    } else {
      expect(text).toBe(`TypeError: Cannot read properties of null (reading 'b')
    at divide (helper.mjs:2:12)
    at Strategy.onTrade (strategy.mjs:5:5)`);
    }
  });

  test('a file that does not parse, a class that is missing and one without hooks are told before READY', async () => {
    const broken = {
      python: 'class Strategy:\n    def on_start(self ctx): pass\n',
      node: 'export class Strategy {\n  onStart(ctx {}\n}',
    };
    const first = await failure({ language, sources: broken });
    expect(first).toMatchObject({ now: 0, market: NO_MARKET, hook: null, exit: 1 });
    expect(first.text).toMatch(
      language === 'python'
        ? /File "strategy.py", line 2[\s\S]*SyntaxError/
        : /^SyntaxError: Unexpected token/,
    );
    const none = await failure({ language, sources: { python: 'x = 1', node: 'export const x = 1;' } });
    expect(none.text).toMatch(/class Strategy$/);
    const bare = await failure({
      language,
      sources: { python: 'class Strategy: pass', node: 'export class Strategy {}' },
    });
    expect(bare.text).toMatch(/implements no hook$/);
  });

  test('an exception in the constructor has a time but no hook', async () => {
    const sources = {
      python:
        "class Strategy:\n    def __init__(self): raise ValueError('no')\n    def on_start(self, ctx): pass\n",
      node: "export class Strategy {\n  constructor() { throw new RangeError('no'); }\n  onStart(ctx) {}\n}",
    };
    const told = await failure({ language, sources });
    expect(told).toMatchObject({ now: T0, hook: null, market: NO_MARKET });
    expect(told.text).toContain('Error: no');
  });

  test('a huge message is cut to its bound with both ends kept', async () => {
    const sources = {
      python: "class Strategy:\n    def on_start(self, ctx): raise ValueError('é' * 5_000_000 + 'end')\n",
      node: "export class Strategy { onStart(ctx) { throw new Error('é'.repeat(5_000_000) + 'end'); } }",
    };
    const { text, bytes } = await failure({ language, sources, start: { limits } });
    expect(bytes).toBeLessThanOrEqual(300);
    expect(text).toMatch(
      language === 'python'
        ? /^Traceback[\s\S]*\[cut\][\s\S]*end$/
        : /^Error: é+[\s\S]*\[cut\][\s\S]*strategy.mjs:1:\d+\)$/,
    );
    expect(text).not.toContain('\ufffd');
  });

  test('an async hook is refused instead of being forgotten', async () => {
    const sources = {
      python: 'class Strategy:\n    async def on_trade(self, ctx, trade): pass\n',
      node: 'export class Strategy { async onTrade(ctx, trade) {} }',
    };
    const { text, hook } = await failure({ language, sources, rows: trade });
    expect(hook).toBe('on_trade');
    expect(text).toContain('a hook must be a plain function');
  });

  test('ctx outside of a running hook ends the run, even where the exception itself is caught', async () => {
    const sources = {
      python: `
import threading
class Strategy:
    def on_trade(self, ctx, trade):
        def elsewhere():
            try: ctx.log(ctx.now_ms)
            except Exception: pass
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
`,
      node: `
export class Strategy {
  onTrade(ctx, trade) { Promise.resolve().then(() => { try { ctx.log(ctx.nowMs); } catch {} }); ctx.buy({}); }
}`,
    };
    const { text, lines } = await failure({ language, sources, rows: trade });
    expect(text).toContain('ctx was used outside of a running hook');
    expect(text).toMatch(
      language === 'python' ? 'File "strategy.py", line 6, in elsewhere' : 'strategy.mjs:3:',
    );
    expect(lines).toEqual([]);
  });

  test('a row that was kept is refused once its frame is over, as later rows stand in its place', async () => {
    const sources = {
      python: `
class Strategy:
    def on_start(self, ctx):
        self.kept = []
        ctx.timer(50)
    def on_book(self, ctx, change): self.kept.append(change)
    def on_trade(self, ctx, trade): self.kept.append(trade)
    def on_timer(self, ctx, timer):
        change, trade = self.kept
        for look in (lambda: change.best_bid, lambda: len(change.levels), lambda: trade.event_ts_ms, trade.copy):
            try: ctx.log(look())
            except Exception as error: ctx.log(error)
`,
      node: `
export class Strategy {
  kept = [];
  onStart(ctx) { ctx.timer(50); }
  onBook(ctx, change) { this.kept.push(change); }
  onTrade(ctx, trade) { this.kept.push(trade); }
  onTimer(ctx) {
    const [change, trade] = this.kept;
    for (const look of [() => change.bestBid, () => change.levels.length, () => trade.eventTsMs, () => trade.copy()]) {
      try { ctx.log(look()); } catch (error) { ctx.log(error.message); }
    }
  }
}`,
    };
    const rows = (ts: number) => [
      { ts, kind: Kind.depth, price: 0.4, size: 1.5 },
      { ts, kind: Kind.trade },
    ];
    const { lines } = await play({
      language,
      sources,
      feed: (box) => {
        box.ticks(rows(T0 + 1), T0 + 10);
        box.ticks(rows(T0 + 100));
      },
    });
    // Had the rows of T0 + 100 come before the timer, kept would hold four.
    expect(lines).toEqual(
      Array(4).fill(expect.stringMatching(/^a row was kept .* keep row.copy\(\) instead\.$/)),
    );
  });

  test('a misspelt key of an order and a history without a length are exceptions', async () => {
    const misspelt = {
      python: "class Strategy:\n    def on_trade(self, ctx, trade): ctx.buy('m0', 'up', size=5, price=0.5)\n",
      node: "export class Strategy { onTrade(ctx) { ctx.buy({ market: 'm0', outcome: 'up', size: 5, price: 0.5 }); } }",
    };
    const { text } = await failure({ language, sources: misspelt, rows: trade });
    expect(text).toMatch(/buy.* '?price'/);
    const endless = {
      python: "class Strategy:\n    def on_trade(self, ctx, trade): ctx.history('BTC', 'prices', None)\n",
      node: "export class Strategy { onTrade(ctx) { ctx.history('BTC', 'prices'); } }",
    };
    const feeds = [{ kind: 'prices' as const, asset: 'BTC', interval: '', name: '', columns: [] }];
    const told = await failure({ language, sources: endless, rows: trade, start: { feeds } });
    expect(told.text).toContain('ctx.history: ms must be a number, not ');
  });

  test('a strategy that leaves by itself leaves with its own exit code and no END', async () => {
    const sources = {
      python: 'import sys\nclass Strategy:\n    def on_start(self, ctx): sys.exit(5)\n',
      node: 'export class Strategy { onStart(ctx) { process.exit(5); } }',
    };
    const box = await open({ language, source: sources[language] });
    await box.expect(FromBox.ready);
    box.segment();
    await expect(box.next()).rejects.toThrow('hung up');
    expect(await box.exit).toBe(5);
    await box.close();
  });
});

describe.each(languages)('%s: logs, beats and the end', (language) => {
  test('printed and logged lines come in order, one a line, cut with a visible note', async () => {
    const sources = {
      python: `
import sys
print('while importing')
class Strategy:
    def on_start(self, ctx):
        print('one', 2)
        print('two\\nthree')
        ctx.log('é' * 30)
        sys.stdout.write('only a diagnostic\\n')
`,
      node: `
console.log('while importing');
export class Strategy {
  onStart(ctx) {
    console.info('one', 2);
    console.error('two\\nthree');
    ctx.log('é'.repeat(30));
    process.stdout.write('only a diagnostic\\n');
  }
}`,
    };
    const { logs, box } = await play({ language, sources, start: { limits } });
    expect(logs).toEqual([
      { now: 0, text: 'while importing' },
      ...['one 2', 'two', 'three', `${'é'.repeat(15)} ... [cut]`].map((text) => ({ now: T0, text })),
    ]);
    expect(box.diagnostics()).toContain('only a diagnostic');
  });

  test('READY tells which hooks were found, END counts hooks, commands and logged bytes', async () => {
    const sources = {
      python: `
class Strategy:
    def on_start(self, ctx): ctx.log('é'); ctx.forecast('m0', 0.25)
    def on_trade(self, ctx, trade): ctx.buy('m0', 'up', size=5)
    def on_stop(self, ctx): pass
`,
      node: `
export class Strategy {
  onStart(ctx) { ctx.log('é'); ctx.forecast('m0', 0.25); }
  onTrade(ctx, trade) { ctx.buy({ market: 'm0', outcome: 'up', size: 5 }); }
  onStop(ctx) {}
}`,
    };
    const box = await open({ language, source: sources[language] });
    const mask = (await box.expect(FromBox.ready)).readUInt32LE(0);
    expect(hooks.filter((_, code) => mask & (1 << code)).map((hook) => hook.python)).toEqual([
      'on_start',
      'on_trade',
      'on_stop',
    ]);
    box.segment();
    const forecast = await box.expect(FromBox.forecast);
    expect([forecast.readDoubleLE(0), forecast.readDoubleLE(8), forecast.readUInt16LE(16)]).toEqual([
      T0,
      0.25,
      0,
    ]);
    await box.expect(FromBox.ask);
    box.answer(T0 + 9, 0);
    const rows = [Kind.trade, Kind.depth, Kind.trade, Kind.strike].map((kind) => ({ ts: T0 + 1, kind }));
    const sequence = box.ticks(rows);
    for (const number of [1, 2]) {
      await box.expect(FromBox.commands);
      box.answer(T0 + 9, number);
    }
    const progress = await box.expect(FromBox.progress);
    expect([progress.readUInt32LE(0), progress.readDoubleLE(8)]).toEqual([sequence, T0 + 1]);
    await box.expect(FromBox.ask);
    box.answer(Number.POSITIVE_INFINITY, 0, [{ ts: T0 + 9, kind: 9 }]);
    await box.expect(FromBox.segment_done);
    box.control(ToBox.finish);
    const end = await box.expect(FromBox.end);
    expect([0, 8, 16].map((at) => end.readDoubleLE(at))).toEqual([4, 2, 2]);
    expect(await box.exit).toBe(0);
    await box.close();
  });

  test('a hook that hangs is reported each second with its place and how long it has been there', async () => {
    const sources = {
      python: 'class Strategy:\n    def on_trade(self, ctx, trade):\n        while True: pass\n',
      node: 'export class Strategy { onTrade(ctx, trade) { for (;;); } }',
    };
    const box = await open({ language, source: sources[language] });
    try {
      await box.expect(FromBox.ready);
      box.segment();
      await box.expect(FromBox.ask);
      box.answer(T0 + 100);
      box.ticks([{ ts: T0 + 5, kind: Kind.trade, market: 0 }]);
      await expect.poll(() => box.beats.length, { timeout: 10_000 }).toBeGreaterThanOrEqual(2);
      const [first, second] = box.beats.slice(-2);
      expect(second).toMatchObject({ now: T0 + 5, market: 0 });
      expect(hooks[second!.hook]!.python).toBe('on_trade');
      expect(second!.wall).toBeGreaterThan(first!.wall);
      expect(second!.cpu).toBeGreaterThan(first!.cpu);
    } finally {
      await box.close();
    }
  });

  test('more than the socket holds arrives whole and in order, with beats between the frames', async () => {
    const sources = {
      python: `
class Strategy:
    def on_start(self, ctx):
        for i in range(1500): ctx.log(i, 'x' * 1000)
`,
      node: `export class Strategy { onStart(ctx) { for (let i = 0; i < 1500; i++) ctx.log(i, 'x'.repeat(1000)); } }`,
    };
    const box = await open({ language, source: sources[language] });
    try {
      await box.expect(FromBox.ready);
      box.pause();
      box.segment();
      await new Promise((resolve) => setTimeout(resolve, 1200));
      box.resume();
      await box.expect(FromBox.ask);
      expect(box.lines()).toEqual(Array.from({ length: 1500 }, (_, i) => `${i} ${'x'.repeat(1000)}`));
    } finally {
      await box.close();
    }
  });

  test('a worker that hangs up ends the harness', async () => {
    const sources = {
      python: 'class Strategy:\n    def on_start(self, ctx): pass\n',
      node: 'export class Strategy { onStart() {} }',
    };
    const box = await open({ language, source: sources[language] });
    await box.expect(FromBox.ready);
    box.hangUp();
    expect(await box.exit).toBe(3);
    await box.close();
  });
});
