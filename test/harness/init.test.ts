import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { Kind, LIMITS } from '../../contract/index.ts';
import { readSource } from '../../src/check/read.ts';
import { init } from '../../src/cli/init.ts';
import { entryOf, languages, play, T0 } from './driver.ts';

const root = mkdtempSync(join(tmpdir(), 'init-'));
afterAll(() => rmSync(root, { recursive: true }));

describe.each(languages)('%s: a new strategy', (language) => {
  test('runs as it is written, and brings types that are no part of its source', async () => {
    const dir = join(root, `My ${language} one!`);
    const written = await init(dir, language);
    expect(readdirSync(dir)).toEqual(written.map((path) => path.slice(dir.length + 1)));
    const { files } = await readSource(dir, LIMITS);
    expect(files.map((file) => file.name)).toEqual(['manifest.json', entryOf(language)]);
    const manifest = JSON.parse(files[0]!.content);
    expect(manifest.name).toBe(`my-${language}-one`);
    const { commands } = await play({
      language,
      sources: { python: '', node: '' },
      start: { files, params: manifest.params },
      rows: [
        { ts: T0, kind: Kind.market_open },
        { ts: T0 + 1, kind: Kind.depth, bid: 2000, ask: 2200 },
      ],
    });
    expect(commands).toMatchObject([{ side: 1, outcome: 2, size: 10, limit: 0.8, text: 'favourite' }]);
  });

  test('is not written over what is there', async () => {
    const dir = join(root, `full-${language}`);
    mkdirSync(dir);
    writeFileSync(join(dir, 'notes.txt'), '');
    await expect(init(dir, language)).rejects.toThrow('is not empty: it holds notes.txt');
    await expect(init(join(dir, 'notes.txt'), language)).rejects.toThrow('is a file');
    expect(readdirSync(dir)).toEqual(['notes.txt']);
  });
});

test('the declared ctx of both languages is the one that the harnesses hand out', async () => {
  const path = '../../sandbox-images/node/harness/context.mjs';
  const { Context } = (await import(path)) as { Context: { prototype: object } };
  const members = Object.getOwnPropertyNames(Context.prototype).filter((name) => name !== 'constructor');
  const declared = (name: string, block: RegExp, member: RegExp) => {
    const text = readFileSync(new URL(`../../src/cli/templates/${name}`, import.meta.url), 'utf8');
    return new Set([...text.match(block)![0].matchAll(member)].map((match) => match[1]!));
  };
  const node = declared(
    'node/backtest.d.ts',
    /interface Context \{[\s\S]*?\n\}/,
    /^ {2}(?:readonly )?(\w+)[(:?]/gm,
  );
  const python = declared('python/backtest.pyi', /class Context:[\s\S]*?\nclass/, /^ {4}def (\w+)/gm);
  const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  expect([...node].sort()).toEqual(members.sort());
  expect([...python].sort()).toEqual(members.map(snake).sort());
  const source = readFileSync(
    new URL('../../sandbox-images/python/harness/backtest/context.py', import.meta.url),
    'utf8',
  );
  expect([...source.matchAll(/^ {4}def ([a-z]\w+)/gm)].map((match) => match[1]!).sort()).toEqual(
    [...python].sort(),
  );
});
