import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { LIMITS } from '../../contract/limits.ts';
import { readSource } from '../../src/check/read.ts';

let base: string;
let dir: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'read-'));
  dir = join(base, 'strategy');
  await put('manifest.json', '{}');
});
afterEach(() => rm(base, { recursive: true }));

async function put(name: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(join(dir, name)), { recursive: true });
  await writeFile(join(dir, name), content);
}
const names = async () => (await readSource(dir, LIMITS)).files.map(({ name }) => name);

describe('a folder', () => {
  test('gives its source and JSON, by name', async () => {
    await put('main.py', 'x = "é"');
    await put('lib/a.mjs', '');
    await put('weights.json', '{}');
    const { files } = await readSource(dir, LIMITS);
    expect(files).toEqual([
      { name: 'lib/a.mjs', content: '' },
      { name: 'main.py', content: 'x = "é"' },
      { name: 'manifest.json', content: '{}' },
      { name: 'weights.json', content: '{}' },
    ]);
  });

  test('keeps notes, data, caches, packages, types and settings to itself', async () => {
    for (const name of [
      'README.md',
      'data.csv',
      'a.ipynb',
      '.env',
      '.git/x.py',
      '__pycache__/x.py',
      'node_modules/x/index.js',
      'backtest.pyi',
      'backtest.d.ts',
      'x.d.mts',
      'package.json',
      'package-lock.json',
      'jsconfig.json',
      'tsconfig.json',
      'pyrightconfig.json',
    ])
      await put(name, '');
    expect(await names()).toEqual(['manifest.json']);
  });

  test('gives files that lie too deep, so that the check can name them', async () => {
    await put('a/b/c.py', '');
    expect(await names()).toEqual(['a/b/c.py', 'manifest.json']);
  });

  test('follows links inside of it and refuses those that leave it or lead nowhere', async () => {
    await put('main.py', 'x');
    await symlink('main.py', join(dir, 'alias.py'));
    expect(await names()).toEqual(['alias.py', 'main.py', 'manifest.json']);
    await writeFile(join(base, 'secret.py'), '');
    await symlink('../secret.py', join(dir, 'b.py'));
    await expect(readSource(dir, LIMITS)).rejects.toMatchObject({
      code: 'E_LIMIT',
      message: expect.stringMatching(/^b.py: this link leaves the strategy folder/),
    });
    await rm(join(dir, 'b.py'));
    await symlink(base, join(dir, 'c'));
    await expect(readSource(dir, LIMITS)).rejects.toMatchObject({
      message: expect.stringMatching(/^c: this link leaves/),
    });
    await rm(join(dir, 'c'));
    await symlink('gone.py', join(dir, 'd.py'));
    await expect(readSource(dir, LIMITS)).rejects.toMatchObject({
      message: 'd.py: this link leads nowhere; remove it.',
    });
  });

  test('that links to itself is read to an end', async () => {
    await put('main.py', '');
    await symlink('.', join(dir, 'loop'));
    expect(await names()).toContain('main.py');
  });

  test('without a manifest, or that is none, is refused', async () => {
    await rm(join(dir, 'manifest.json'));
    await expect(names()).rejects.toMatchObject({
      code: 'E_MANIFEST',
      message: expect.stringContaining('there is no manifest.json'),
    });
    await expect(readSource(join(dir, 'x'), LIMITS)).rejects.toMatchObject({
      code: 'E_MANIFEST',
      message: expect.stringContaining('no such folder'),
    });
  });

  test('of too many or too large files is refused before they are read', async () => {
    await put('main.py', 'x'.repeat(100));
    await expect(readSource(dir, { ...LIMITS, files: 1 })).rejects.toMatchObject({ code: 'E_LIMIT' });
    await expect(readSource(dir, { ...LIMITS, source_bytes: 50 })).rejects.toMatchObject({
      code: 'E_LIMIT',
      message: expect.stringMatching(/^main.py: more than 50 bytes/),
    });
  });

  test('whose source is not UTF-8 is refused', async () => {
    await put('main.py', Uint8Array.of(0x78, 0xe9));
    await expect(names()).rejects.toMatchObject({
      code: 'E_SYNTAX',
      message: 'main.py: not UTF-8 text; save it as UTF-8.',
    });
  });

  test('tells where the series of its manifest lie', async () => {
    await put('data/funding.csv', 'ts,v');
    await put(
      'manifest.json',
      JSON.stringify({ series: [{ file: 'data/funding.csv' }, { file: 'gone.csv' }, { file: 3 }, null] }),
    );
    const { series, files } = await readSource(dir, LIMITS);
    expect([...series.keys()]).toEqual(['data/funding.csv']);
    expect(series.get('data/funding.csv')).toMatch(/funding\.csv$/);
    expect(files).toHaveLength(1);
    await writeFile(join(base, 'x.csv'), '');
    await put('manifest.json', JSON.stringify({ series: [{ file: '../x.csv' }] }));
    await expect(readSource(dir, LIMITS)).rejects.toMatchObject({ code: 'E_LIMIT' });
  });

  test('finds the series of a manifest that begins with a byte order mark, as some editors write it', async () => {
    await put('funding.csv', '');
    await put('manifest.json', `\ufeff${JSON.stringify({ series: [{ file: 'funding.csv' }] })}`);
    expect([...(await readSource(dir, LIMITS)).series.keys()]).toEqual(['funding.csv']);
  });
});
