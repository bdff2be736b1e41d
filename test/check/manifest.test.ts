import { describe, expect, test } from 'vitest';
import { LIMITS } from '../../contract/limits.ts';
import { accepted, PY, python, refused, strategy } from './written.ts';

const text = (manifest: string) => [
  { name: 'manifest.json', content: manifest },
  { name: 'main.py', content: PY },
];
const said = (manifest: object, options = {}) =>
  refused(strategy({ ...python, ...manifest }, { 'main.py': PY }), options);

describe('JSON', () => {
  test.each([
    ['{\n  "contract": 1,\n}', '3:1: remove the comma before this }.'],
    ['{"a": 1 "b": 2}', '1:9: expected , or }, found ".'],
    ["{'a': 1}", '1:2: JSON texts stand in double quotes.'],
    ['{"a": 1, "a": 2}', '1:10: the key "a" stands twice.'],
    ['{"a": 1', '1:8: expected , or }, the file ends.'],
    ['{"a": tru}', '1:7: expected a value, found tru.'],
    ['{"a": "x\n"}', '1:7: this text has no end, or holds a tab or an unknown escape.'],
    ['{"a": 01}', '1:8: not a JSON number.'],
    ['// hi\n{}', '1:1: JSON has no comments; remove this.'],
    ['{} x', '1:4: expected nothing more, found x.'],
    ['{"__proto__": 1}', '1:2: this key is not allowed.'],
    ['', '1:1: expected a value, the file ends.'],
    ['['.repeat(100_000), '1:34: nested too deeply.'],
  ])('%j is refused where it is wrong', (manifest, message) => {
    expect(refused(text(manifest))).toBe(`E_MANIFEST manifest.json:${message}`);
  });

  test('a byte order mark does no harm', () => {
    const [manifest, main] = strategy(python, { 'main.py': PY });
    expect(accepted([{ ...manifest!, content: `\ufeff${manifest!.content}` }, main!]).hooks).toEqual([
      'on_book',
    ]);
  });
});

describe('shape', () => {
  test('a manifest that is missing is said to be', () => {
    expect(refused([{ name: 'main.py', content: PY }])).toBe(
      'E_MANIFEST there is no manifest.json among the files.',
    );
  });

  test('an unknown key is named with its place and the nearest known one', () => {
    const files = text(
      '{\n  "contract": 1,\n  "name": "x",\n  "language": "python@3.14",\n  "entry": "main.py",\n  "dataset": ["book"]\n}',
    );
    expect(refused(files)).toContain('manifest.json:6:3: unknown key "dataset". Did you mean datasets?');
    expect(refused(files)).toContain('datasets is missing: expected a list.');
    expect(said({ execution: { latency_ms: { entri: 1 } } })).toContain(
      'unknown key "entri" in execution.latency_ms. Did you mean entry?',
    );
    expect(said({ context: [{ asset: 'BTC', dataset: 'prices', zzzzzz: 1 }] })).toContain(
      'Known here: asset, dataset, interval.',
    );
  });

  test.each([
    [
      { language: 'python@3.13' },
      'language: expected "python@3.14" or "nodejs@24", found "python@3.13". Did you mean python@3.14?',
    ],
    [{ datasets: [] }, 'datasets: expected at least 1 item.'],
    [{ datasets: ['boook'] }, 'datasets[0]: expected "prices", '],
    [{ datasets: ['boook'] }, 'Did you mean book?'],
    [{ capital: 0 }, 'capital: expected at least 1, found 0.'],
    [{ seed: 1.5 }, 'seed: expected a whole number, found 1.5.'],
    [{ name: 'Ärger' }, 'name: expected 1 to 64 of a-z 0-9 -, found "Ärger".'],
    [{ params: { x: null } }, 'params.x: expected a number, a text or true or false, found null.'],
    [{ params: { 'a b': 1 } }, 'params.a b: expected a name of letters, digits and _'],
    [
      { execution: { latency_ms: { entry: { p50: 10, p99: 5 } } } },
      'execution.latency_ms.entry: p99 must not be below p50',
    ],
    [{ execution: { fees: { bps: 1 } } }, 'unknown key "bps" in execution.fees'],
    [{ warmup_ms: 1e9 }, 'warmup_ms: expected at most 86400000, found 1000000000.'],
    [{ sweep: { a: Array.from({ length: 100 }, (_, i) => i), b: [1, 2, 3] } }, 'at most 256 cells'],
    [[], 'the manifest'],
  ])('%j is refused in a sentence', (manifest, message) => {
    const sentence = Array.isArray(manifest) ? refused(text('[]')) : said(manifest);
    expect(sentence).toContain(message);
    expect(sentence).toMatch(/[^.?][.?]$/);
  });

  test('no more than five complaints are made at once', () => {
    const many = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`zz${i}`, 1]));
    expect(said(many).split('\n')).toHaveLength(6);
  });

  test('the limits given count, also where they are tighter than the contract', () => {
    expect(said({ sweep: { a: [1, 2, 3] } }, { limits: { ...LIMITS, sweep_cells: 2 } })).toContain(
      '3 cells; at most 2 are allowed',
    );
    expect(said({ params: { a: 1, b: 2 } }, { limits: { ...LIMITS, params: 1 } })).toContain(
      'params: 2 is more than the 1 allowed',
    );
  });
});

describe('sense', () => {
  test.each([
    [{ intervals: ['5m', '4m'] }, 'intervals[1]: markets run for 5m, 15m, 1h or 1d, not "4m".'],
    [{ datasets: ['book'], kline_intervals: ['1m'] }, 'kline_intervals: klines is not among the datasets'],
    [{ context: [{ asset: 'ETH', dataset: 'book' }] }, 'context[0]: book needs an interval'],
    [
      { context: [{ asset: 'ETH', dataset: 'klines', interval: '7m' }] },
      'context[0].interval: klines knows 1m, ',
    ],
    [
      { context: [{ asset: 'ETH', dataset: 'prices', interval: '5m' }] },
      'context[0].interval: prices has no interval',
    ],
    [{ context: Array(2).fill({ asset: 'ETH', dataset: 'prices' }) }, 'context[1]: stands twice'],
    [{ sweep: { a: [1, 2, 1] } }, 'sweep.a[2]: 1 stands twice, and would be paid for twice.'],
    [
      { params: { a: 1 }, sweep: { a: [2, 'x'] } },
      'sweep.a[1]: expected a number like the other values of a.',
    ],
  ])('%j is refused', (manifest, message) => {
    expect(said(manifest)).toMatch(/^E_MANIFEST manifest\.json:\d+:\d+: /);
    expect(said(manifest)).toContain(message);
  });

  test('an entry that is missing or of the other language is E_ENTRY', () => {
    expect(said({ entry: 'mian.py' })).toMatch(
      /^E_ENTRY .*entry "mian.py" is not among the files. Did you mean main.py\?/,
    );
    expect(said({ entry: 'main.js' })).toMatch(/^E_ENTRY .*does not suit python@3.14; expected a .py file/);
  });

  test('a series file must have been supplied, once it is known what was', () => {
    const series = { series: [{ name: 'funding', file: 'funding.csv' }] };
    expect(said(series, { series: ['fundng.csv'] })).toMatch(
      /^E_SERIES .*"funding.csv" was not supplied. Did you mean fundng.csv\?/,
    );
    expect(said({ series: [{ name: 'a', file: '../a.csv' }] })).toMatch(/^E_LIMIT file name "..\/a.csv"/);
    expect(
      accepted(strategy({ ...python, ...series }, { 'main.py': PY }), { series: ['funding.csv'] }).manifest
        .series,
    ).toHaveLength(1);
    expect(accepted(strategy({ ...python, ...series }, { 'main.py': PY })).hooks).toEqual(['on_book']);
  });
});
