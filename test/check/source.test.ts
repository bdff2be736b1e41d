import { describe, expect, test } from 'vitest';
import { LIMITS } from '../../contract/limits.ts';
import { accepted, JS, node, PY, python, refused, strategy } from './written.ts';

describe('files', () => {
  test.each([
    ['/main.py', 'is absolute'],
    ['C:/main.py', 'is absolute'],
    ['../main.py', '`..` is not allowed'],
    ['a/../main.py', '`..` is not allowed'],
    ['a\\b.py', 'holds a backslash'],
    ['a/b/c.py', 'lies too deep'],
    ['a//c.py', 'has an empty part'],
    ['a/', 'has an empty part'],
    ['', 'is empty'],
    ['.env', 'starts with a dot'],
    ['a/.b.py', 'starts with a dot'],
    ['a\0.py', 'holds a control character'],
    ['a\n.py', 'holds a control character'],
    ['a\u202e.py', 'holds a control character'],
    ['\ud800.py', 'is not valid Unicode'],
    [`${'é'.repeat(48)}.py`, 'is 99 bytes long'],
  ])('a file named %j is refused', (name, why) => {
    const said = refused(strategy(python, { 'main.py': PY, [name]: '' }));
    expect(said).toMatch(/^E_LIMIT file name /);
    expect(said).toContain(why);
  });

  test('two names that a disk may hold as one are refused', () => {
    for (const [a, b] of [
      ['a.py', 'A.py'],
      ['lib/x.py', 'LIB/y.py'],
      ['lib', 'lib/x.py'],
      ['straße.py', 'STRASSE.py'],
      ['\u00e9.py', 'e\u0301.py'],
    ]) {
      expect(refused(strategy(python, { 'main.py': PY, [a!]: '', [b!]: '' }))).toMatch(
        /^E_LIMIT .* are one name on some disks/,
      );
    }
  });

  test('a file given twice is refused', () => {
    const files = strategy(python, { 'main.py': PY });
    expect(refused([...files, files[1]!])).toBe('E_LIMIT file "main.py" is given twice.');
  });

  test('several files may lie in one folder', () => {
    expect(accepted(strategy(python, { 'main.py': PY, 'lib/a.py': '', 'lib/b.py': '' })).files).toHaveLength(
      4,
    );
  });

  test('too many files are refused', () => {
    const many = Object.fromEntries(Array.from({ length: 15 }, (_, i) => [`m${i}.py`, '']));
    expect(refused(strategy(python, { 'main.py': PY, ...many }))).toMatch(
      /^E_LIMIT 17 files; a strategy has at most 16/,
    );
  });

  test('source is measured in bytes of UTF-8, and the largest file is named', () => {
    const limits = { ...LIMITS, source_bytes: 1000 };
    const files = strategy(python, { 'main.py': `${PY}# ${'é'.repeat(400)}` });
    expect(refused(files, { limits })).toMatch(
      /^E_LIMIT 10\d\d bytes of source; at most 1000 .* main.py \(8/,
    );
  });

  test('text that is not text is refused with its place', () => {
    expect(refused(strategy(python, { 'main.py': `${PY}x = '\0'` }))).toMatch(
      /^E_SYNTAX main.py:4:6: a NUL character/,
    );
    expect(refused(strategy(node, { 'main.js': `${JS}'\udc00'` }))).toMatch(
      /^E_SYNTAX main.js:4:2: half of a surrogate pair/,
    );
  });
});

describe('what is known after a check', () => {
  const files = strategy(python, { 'main.py': PY, 'a.py': 'x = "é"' });

  test('the hash of a source does not depend on the order of its files, but on every name and content', () => {
    const { source_sha256 } = accepted(files);
    expect(accepted(files.toReversed()).source_sha256).toBe(source_sha256);
    const renamed = files.map((file) => (file.name === 'a.py' ? { ...file, name: 'b.py' } : file));
    const moved = files.map((file) => ({
      ...file,
      content: file.name === 'a.py' ? 'x = "e"' : file.content,
    }));
    expect(
      new Set([source_sha256, accepted(renamed).source_sha256, accepted(moved).source_sha256]).size,
    ).toBe(3);
    expect(source_sha256).toMatch(/^[0-9a-f]{64}$/);
  });

  test('files are listed by name with their bytes', () => {
    const { files: listed, total_bytes } = accepted(files);
    expect(listed.map(({ name }) => name)).toEqual(['a.py', 'main.py', 'manifest.json']);
    expect(listed[0]).toEqual({ name: 'a.py', bytes: 8 });
    expect(total_bytes).toBe(listed.reduce((sum, { bytes }) => sum + bytes, 0));
  });

  test('depth is known from the word levels in the source, not from the manifest or a part of a word', () => {
    const depth = (body: string, params = {}) =>
      accepted(strategy({ ...python, params }, { 'main.py': `${PY}        ${body}` })).depth;
    expect(depth('ctx.book(1, "up").levels("buy", 3)')).toBe(true);
    expect(depth('my_levels = sublevels = 1', { levels: 3 })).toBe(false);
  });

  test('hooks come in the order of the contract, imports sorted and once', () => {
    const { hooks, imports } = accepted(
      strategy(python, {
        'main.py':
          'import numpy as np, json, numpy.linalg\nclass Strategy:\n  def on_stop(self, ctx): pass\n  def on_start(self, ctx): pass',
      }),
    );
    expect(hooks).toEqual(['on_start', 'on_stop']);
    expect(imports).toEqual(['json', 'numpy']);
  });
});
