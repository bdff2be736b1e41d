import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { accepted, PY, python, refused, strategy } from './written.ts';

const ok = (source: string, more: Record<string, string> = {}, manifest: object = {}) =>
  accepted(strategy({ ...python, ...manifest }, { 'main.py': source, ...more }));
const said = (source: string, more: Record<string, string> = {}, manifest: object = {}) =>
  refused(strategy({ ...python, ...manifest }, { 'main.py': source, ...more }));
/** A strategy with one more method. */
const method = (text: string) => `class Strategy:\n    def on_start(self, ctx): pass\n    ${text}\n`;

describe('syntax', () => {
  test('every construct of Python 3.14 passes', () => {
    const corpus = readFileSync(new URL('./corpus/modern.py.txt', import.meta.url), 'utf8');
    expect(ok(PY, { 'modern.py': corpus }).hooks).toEqual(['on_book']);
  });

  test.each([
    ['x = (1,\n', '4:5: ( is never closed.'],
    ['x = (1]\n', '4:7: ] does not close the ( of 4:5.'],
    ['x = 1)\n', '4:6: unmatched ).'],
    ["x = 'abc\n", '4:5: this string is not closed on its line.'],
    ['x = """abc\n', '4:5: this string is never closed.'],
    ["x = f'{a'\n", '4:9: this string is not closed on its line.'],
    ['x = f"{a]}"\n', '4:9: unmatched ] in an f-string.'],
    ['x = 012\n', '4:5: a number must not start with 0; octal is written 0o17.'],
    ['x = 12abc\n', '4:5: neither a number nor a name; a name cannot start with a digit.'],
    ['x = “a”\n', '4:5: "“" (U+201C) has no meaning in Python; use straight quotes.'],
    ['x = a ? b\n', '4:7: "?" (U+003F) has no meaning in Python.'],
    ['x = \\ 1\n', '4:5: a backslash may only stand at the end of a line.'],
    ['if x:\nx = 1\n', '5:1: expected an indented block after if.'],
    ['def f():\n', '4:1: expected an indented block after def.'],
    ['  x = 1\n', '4:3: this line is indented like no block around it.'],
    ['x = 1\n  y = 2\n', '5:3: this line is indented, but nothing before it opens a block.'],
    ['if x:\n        a\n    b\n', '6:5: this line is indented like no block around it.'],
    ['if x:\n        a\n\tb\n', '6:2: tabs and spaces are mixed; indent with spaces only.'],
    ['def f()\n    pass\n', '4:7: expected : at the end of the line that starts with def.'],
    ['x = = 1\n', '4:5: invalid syntax at "=".'],
    ['print "x"\n', '4:1: print is a function; write print(...).'],
    ['x = 1 +\n', '4:8: the file ends in the middle of a statement.'],
    ['return = 1\n', '4:8: invalid syntax at "=".'],
    [';\n', '4:1: expected a statement before the semicolon.'],
  ])('%j is refused where it is wrong', (source, message) => {
    expect(said(PY + source)).toBe(`E_SYNTAX main.py:${message}`);
  });

  test('a mistake in any file is found, also in one that nothing imports', () => {
    expect(said(PY, { 'lib/a.py': 'x = = 1' })).toMatch(/^E_SYNTAX lib\/a.py:1:5: /);
  });

  test('line ends of every system and a byte order mark do no harm', () => {
    expect(ok(`\ufeff${PY.replaceAll('\n', '\r\n')}`).hooks).toEqual(['on_book']);
    expect(ok(PY.replaceAll('\n', '\r')).hooks).toEqual(['on_book']);
  });

  test('a sum of a thousand terms and a table of ten thousand numbers pass', () => {
    expect(ok(`${PY}x = 1${' + 1'.repeat(1000)}\ny = [${'1.5, '.repeat(10_000)}]\n`).hooks).toEqual([
      'on_book',
    ]);
  });
});

test('endlessly nested source is refused like any other', () => {
  for (const part of [
    '(',
    'lambda:',
    'not ',
    'f"{',
    'if x:',
    'x[',
    '-',
    'a b ',
    '*',
    'x=',
    '@',
    'if x:\n\t',
  ]) {
    expect(said(part.repeat(4000))).toMatch(/^E_[A-Z]+ /);
  }
});

describe('class Strategy', () => {
  const other = { 'other.py': PY };
  test.each([
    ['from other import Strategy', other],
    ['from other import Strategy as Base\nclass Strategy(Base): pass', other],
    ['import other\nStrategy = other.Strategy', other],
    ['import other as o\nclass Strategy(o.Strategy): x = 1', other],
    ['from other import *', other],
    ['from lib.other import Strategy', { 'lib/other.py': PY }],
    ['from lib import other\nclass Strategy(other.Strategy): pass', { 'lib/other.py': PY }],
    ['from lib import Strategy', { 'lib/__init__.py': 'from .other import Strategy', 'lib/other.py': PY }],
    ['class A:\n  def on_book(self, c, d): pass\nStrategy = A', {}],
    ['try:\n  from other import Strategy\nexcept ImportError: pass', other],
    ['class A[T]:\n  def on_book(self, c, d): pass\nclass Strategy(A[int], metaclass=type): pass', {}],
  ])('%j has the hooks of what it stands for', (source, more) => {
    expect(ok(source, more as Record<string, string>).hooks).toEqual(['on_book']);
  });

  test('a class that is made when the file runs is left to the box', () => {
    expect(ok('Strategy = make()').hooks).toEqual([]);
    expect(ok('@decorate\nclass Strategy: pass').hooks).toEqual([]);
    expect(ok('class Strategy: pass\nStrategy.on_book = print').hooks).toEqual([]);
    expect(ok('class Strategy(make()): pass').hooks).toEqual([]);
  });

  test('files that import each other in circles are followed to an end', () => {
    const files = Array.from({ length: 14 }, (_, i) => `f${i}`);
    const all = files.map((name) => `from ${name} import *\n`).join('');
    const more = Object.fromEntries(files.map((name) => [`${name}.py`, all]));
    expect(said(all, more)).toMatch(/^E_ENTRY /);
    expect(ok(all, { ...more, 'f13.py': all + PY }).hooks).toEqual(['on_book']);
    expect(ok('from a import Strategy', { 'a.py': 'from main import Strategy' }).hooks).toEqual([]);
    expect(ok('class A(A): pass\nStrategy = Strategy.x').hooks).toEqual([]);
  });

  test('its absence says what to do', () => {
    expect(said('class Stratgy: pass')).toMatch(
      /^E_ENTRY main.py: there is no class Strategy here; .* Did you mean Stratgy\?/,
    );
    expect(said('', other)).toBe(
      'E_ENTRY main.py: there is no class Strategy here; other.py has one; name that file as entry, or import it.',
    );
    expect(said('def Strategy(): pass')).toMatch(/^E_ENTRY main.py:1:5: Strategy is a function/);
  });
});

describe('hooks', () => {
  test.each([
    ['def on_bok(self, ctx, change): pass', 'on_bok is no hook. Did you mean on_book?'],
    ['def onBook(self, ctx, change): pass', 'onBook is no hook. Did you mean on_book?'],
    ['def on_whatever_else(self): pass', 'on_whatever_else is no hook. The hooks are on_start, '],
    [
      'async def on_book(self, ctx, change): pass',
      'on_book is async, and nobody would await it; write def on_book(self, ctx, change).',
    ],
    ['def on_book(self, ctx, change): yield 1', 'on_book is a generator'],
    [
      'def on_book(self, ctx): pass',
      'on_book is called with ctx and change; write def on_book(self, ctx, change).',
    ],
    ['def on_book(self, ctx, change, more): pass', 'on_book is called with ctx and change'],
    ['def on_stop(self, ctx, why): pass', 'on_stop is called with ctx; write def on_stop(self, ctx).'],
    ['def on_book(): pass', 'on_book has no self'],
    ['def on_book(self, ctx, change, *, depth): pass', 'on_book needs depth by name'],
    ['@staticmethod\n    def on_book(ctx): pass', 'on_book is called with ctx and change'],
    ['if True:\n        def on_bok(self, ctx, change): pass', 'on_bok is no hook'],
  ])('%j is refused', (text, message) => {
    expect(said(method(text))).toMatch(/^E_HOOK main\.py:\d+:\d+: /);
    expect(said(method(text))).toContain(message);
  });

  test.each([
    'def on_book(self, *args): pass',
    'def on_book(self, ctx, change, more=1, *, x=2, **rest): pass',
    'def on_book(self, ctx, change: dict[str, tuple[int, int]] = {}, /) -> None: return [(yield_) for yield_ in change]',
    '@staticmethod\n    def on_book(ctx, change): pass',
    '@logged\n    def on_book(anything): pass',
    'on_book = handle',
    'on_book = lambda self, ctx, change: None',
    'def on_book(self, ctx, change):\n        def inner(): yield 1\n        return inner',
  ])('%j is a hook', (text) => {
    expect(ok(method(text)).hooks).toEqual(['on_start', 'on_book']);
  });

  test('attributes and methods of other names are nobody else’s business', () => {
    expect(ok(method('on_cooldown = False\n    online = 1\n    def _on_x(self): pass')).hooks).toEqual([
      'on_start',
    ]);
  });

  test('a class without any is refused', () => {
    expect(said('class Strategy:\n    pass')).toMatch(
      /^E_HOOK main.py:1:7: class Strategy has no hook; implement at least one of on_start, /,
    );
  });

  test('inherited hooks are held to the same rules, where they stand', () => {
    expect(
      said('from base import B\nclass Strategy(B): pass', {
        'base.py': 'class B:\n  def on_book(self): pass',
      }),
    ).toMatch(/^E_HOOK base.py:2:7: /);
  });

  test.each([
    ['on_price', 'it needs prices, twap30s or twap60s; add one to datasets'],
    ['on_book', 'it needs book, orderbook or price_change; add one'],
    ['on_quote', 'it needs best_bid_ask; add it to datasets'],
    ['on_trade', 'last_trade_price'],
    ['on_tick_size', 'tick_size_change'],
    ['on_kline', 'klines'],
    ['on_series', 'it needs a series; declare one under series in manifest.json.'],
  ])('%s without what it needs is refused', (hook, message) => {
    const source = `class Strategy:\n  def ${hook}(self, ctx, event): pass`;
    expect(said(source, {}, { datasets: ['markets'] })).toContain(
      `E_HOOK main.py:2:7: ${hook} would never be called: `,
    );
    expect(said(source, {}, { datasets: ['markets'] })).toContain(message);
  });

  test('what it needs may come as context', () => {
    const source = 'class Strategy:\n  def on_price(self, ctx, tick): pass';
    expect(
      ok(source, {}, { datasets: ['book'], context: [{ asset: 'ETH', dataset: 'prices' }] }).hooks,
    ).toEqual(['on_price']);
  });
});

describe('imports', () => {
  test.each([
    ['import requests', 'main.py:4:8: there is no module requests.'],
    ['import nunpy', 'there is no module nunpy. Did you mean numpy?'],
    ['def f():\n    from torch.nn import x', 'main.py:5:10: there is no module torch.'],
    ['import os, sklearn.svm as s', 'main.py:4:12: there is no module sklearn.'],
    ['from . import other', 'a relative import leads out of the strategy; write import other'],
    ['from .other import x', 'a relative import leads out of the strategy; write from other import ...'],
    ['import lib.nothing', 'there is no file lib/nothing.py.'],
    ['from lib import nothing', 'there is no file lib/nothing.py.'],
    ['import other.x', 'there is no file other/x.py.'],
    ['import helpr', 'there is no module helpr. Did you mean helper?'],
    ['try:\n    import requests\nexcept ValueError: pass', 'there is no module requests.'],
  ])('%j is refused', (source, message) => {
    const text = said(`${PY}${source}\n`, { 'other.py': '', 'helper.py': '', 'lib/a.py': '' });
    expect(text).toMatch(/^E_IMPORT main\.py:/);
    expect(text).toContain(message);
  });

  test.each([
    ['import os.path, json as j, numpy.linalg, pandas', ['json', 'numpy', 'os', 'pandas']],
    ['from scipy.optimize import (\n  brentq,  # root\n  minimize as m,\n)', ['scipy']],
    ['import other, lib.a\nfrom lib import a\nfrom lib.a import *', []],
    ['try: import requests\nexcept ImportError: requests = None', []],
    ['try:\n    import orjson as json\nexcept (ValueError, ModuleNotFoundError):\n    import json', ['json']],
    ['try:\n    import x\nexcept:\n    pass', []],
    ['from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from backtest import Context', ['typing']],
    ['import contextlib\nwith contextlib.suppress(ImportError):\n    import uvloop', ['contextlib']],
    ['x = "import requests"  # import requests', []],
    ['import _thread, compression.zstd, annotationlib', ['_thread', 'annotationlib', 'compression']],
  ])('%j passes', (source, imports) => {
    expect(
      ok(`${PY}${source}\n`, {
        'other.py': '',
        'lib/a.py': 'from . import b\nfrom .b import x',
        'lib/b.py': '',
      }).imports,
    ).toEqual(imports);
  });

  test('files beside an entry that lies in a folder are found, as are those above it', () => {
    const files = { 'lib/main.py': `import a, b\n${PY}`, 'lib/a.py': '', 'b.py': '' };
    expect(accepted(strategy({ ...python, entry: 'lib/main.py' }, files)).imports).toEqual([]);
  });

  test('a file of the same folder is pointed at', () => {
    expect(said(`import lib.a\n${PY}`, { 'lib/a.py': 'import b', 'lib/b.py': '' })).toContain(
      'E_IMPORT lib/a.py:1:8: b lies in the same folder; write from . import b',
    );
  });
});
