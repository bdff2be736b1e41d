import { describe, expect, test } from 'vitest';
import { LIMITS } from '../../contract/limits.ts';
import { check } from '../../src/check/check.ts';
import { accepted, JS, node, PY, python, strategy } from './written.ts';

const options = { limits: LIMITS };

describe('the check, in a process of its own', { timeout: 60_000 }, () => {
  test('knows the same as the analysis behind it', async () => {
    for (const files of [
      strategy(python, { 'main.py': PY }),
      strategy(node, { 'main.js': `import fs from 'fs';\n${JS}` }),
    ]) {
      expect(await check(files, options)).toEqual(accepted(files));
    }
  });

  test('refuses with code, status and place', async () => {
    await expect(check(strategy(node, { 'main.js': 'import' }), options)).rejects.toMatchObject({
      name: 'Rejection',
      code: 'E_SYNTAX',
      status: 422,
      message: expect.stringMatching(/^main\.js:1:/),
    });
  });

  test.each([
    ['brackets', '['.repeat(LIMITS.source_bytes - 2000)],
    ['types', `let x: ${'A<'.repeat(200_000)}`],
    ['functions', '(a=>{'.repeat(90_000)],
    ['operators', `x=${'!'.repeat(500_000)}1`],
  ])('outlives JavaScript of endlessly nested %s', async (_, source) => {
    await expect(
      check(strategy({ ...node, entry: 'main.ts' }, { 'main.ts': source }), options),
    ).rejects.toMatchObject({
      code: 'E_LIMIT',
      message: 'main.ts: the source nests too deeply to be read; simplify it.',
    });
  });
});
