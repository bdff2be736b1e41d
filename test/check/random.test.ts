import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LIMITS } from '../../contract/limits.ts';
import { Rejection } from '../../contract/rejection.ts';
import type { SourceFile } from '../../contract/source.ts';
import { analyse } from '../../src/check/analyse.ts';
import { checkSeries } from '../../src/check/series.ts';
import { JS, node, python, strategy } from './written.ts';

const corpus = readFileSync(new URL('./corpus/modern.py.txt', import.meta.url), 'utf8');
const script = `import fs from 'fs';\nexport const x = { a: [1, \`b\${2}\`], async *c() { yield /d/u; } };\nclass A extends (class {}) { static #e = 1; get f() { return this.#g?.(); } }\nexport { A as B };\n${JS}`;
const PLACED = /^[^\n]+:\d+:\d+: /;

/** Checks, and hands back the rejection if there is one; anything else that is thrown fails the test. */
function verdict(work: () => unknown): Rejection | null {
  try {
    work();
    return null;
  } catch (error) {
    if (error instanceof Rejection) return error;
    throw error;
  }
}
const ofFiles = (files: readonly SourceFile[]) => verdict(() => analyse(files, { limits: LIMITS }));

/** A text with a few pieces cut out, doubled or replaced by others. */
const mutated = (text: string, size: number) =>
  fc
    .tuple(
      fc.nat(text.length),
      fc.array(
        fc.tuple(
          fc.nat(size),
          fc.nat(8),
          fc.oneof(
            fc.string({ maxLength: 4, unit: 'binary' }),
            fc.constantFrom(...'()[]{}:;,.=*@"\'`\\#\n\t\0 ', 'def ', 'class ', '=>', '/*', 'f"{', '"""'),
          ),
        ),
        { minLength: 1, maxLength: 6 },
      ),
    )
    .map(([start, edits]) => {
      let out = text.slice(start, start + size);
      for (const [at, cut, put] of edits) out = out.slice(0, at) + put + out.slice(at + cut);
      return out;
    });

test('whatever a Python file holds, it is accepted or refused', () => {
  fc.assert(
    fc.property(mutated(corpus, 400), (source) => void ofFiles(strategy(python, { 'main.py': source }))),
    { numRuns: 400 },
  );
});

test('whatever a JavaScript or TypeScript file holds, it is accepted or refused', () => {
  fc.assert(
    fc.property(mutated(script, 400), fc.constantFrom('main.js', 'main.ts', 'main.cjs'), (source, entry) => {
      const refusal = ofFiles(strategy({ ...node, entry }, { [entry]: source }));
      if (refusal?.code === 'E_SYNTAX') expect(refusal.message).toMatch(PLACED);
    }),
    { numRuns: 400 },
  );
});

test('whatever a manifest holds, it is accepted or refused', () => {
  const manifest = JSON.stringify({
    contract: 1,
    name: 'x',
    ...node,
    sweep: { a: [1, 2] },
    series: [{ name: 's', file: 's.csv' }],
    context: [{ asset: 'ETH', dataset: 'prices' }],
    execution: { latency_ms: { entry: { p50: 1, p99: 2 } } },
  });
  const given = (content: string) => [
    { name: 'manifest.json', content },
    { name: 'main.js', content: JS },
  ];
  fc.assert(
    fc.property(
      mutated(manifest, manifest.length).map((text) => manifest.slice(0, 5) + text),
      (text) => void ofFiles(given(text)),
    ),
    { numRuns: 400 },
  );
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(ofFiles(given(text))?.code).toBe('E_MANIFEST');
    }),
  );
  const keys = fc.constantFrom(
    ...Object.keys(JSON.parse(manifest)),
    'params',
    'warmup_ms',
    'intervals',
    'kline_intervals',
    '__proto__',
    'constructor',
  );
  const changed = fc
    .dictionary(keys, fc.jsonValue({ maxDepth: 3 }), { minKeys: 1 })
    .map((more) => JSON.stringify({ ...JSON.parse(manifest), ...more }));
  fc.assert(
    fc.property(changed, (text) => void ofFiles(given(text))),
    { numRuns: 400 },
  );
});

test('whatever files are called and hold, they are accepted or refused', () => {
  const file = fc.record({
    name: fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('main.py', 'Main.py', 'a/b.py', '../x', 'manifest.json'),
    ),
    content: fc.string({ unit: 'binary' }),
  });
  fc.assert(fc.property(fc.array(file, { maxLength: 20 }), (files) => void ofFiles(files)));
});

test('whatever bytes a series holds, it is read or refused', () => {
  const line = fc
    .array(
      fc.oneof(
        fc.string(),
        fc.double().map(String),
        fc.date().map(String),
        fc.constantFrom('1776297600000', '2026-04-16', ''),
      ),
      { maxLength: 4 },
    )
    .map((cells) => cells.join(','));
  const text = fc
    .array(line, { maxLength: 6 })
    .map((lines) => new TextEncoder().encode(`ts,v\n${lines.join('\n')}`));
  fc.assert(
    fc.property(fc.oneof(text, fc.uint8Array()), (bytes) => {
      const refusal = verdict(() => checkSeries('x.csv', bytes, LIMITS));
      expect([undefined, 'E_SERIES']).toContain(refusal?.code);
    }),
    { numRuns: 300 },
  );
});
