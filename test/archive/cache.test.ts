import { readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openCache } from '../../src/archive/cache.ts';
import { tempFolder } from './support.ts';

async function* bytes(count: number, failure?: Error): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(count);
  if (failure) throw failure;
}

const hoursAgo = (hours: number): Date => new Date(Date.now() - hours * 3_600_000);

test('the files that were used longest ago go first', async () => {
  const cache = await openCache(tempFolder(), 300);
  for (const [i, key] of ['a', 'b', 'c'].entries()) {
    await cache.write(key, bytes(100));
    utimesSync(join(cache.folder, key), hoursAgo(9 - i), hoursAgo(9 - i));
  }
  expect(await cache.read('a')).toHaveLength(100);
  await cache.write('d', bytes(100));
  expect(readdirSync(cache.folder).sort()).toEqual(['a', 'c', 'd']);
  await cache.write('e', bytes(250));
  expect(readdirSync(cache.folder)).toEqual(['e']);
});

test('a file larger than the whole cache is not kept', async () => {
  const cache = await openCache(tempFolder(), 300);
  await cache.write('huge', bytes(301));
  expect(await cache.read('huge')).toBeNull();
});

test('a write that fails leaves nothing', async () => {
  const cache = await openCache(tempFolder(), 300);
  await expect(cache.write('a', bytes(10, new Error('no space left on device')))).rejects.toThrow(
    `cannot write to the cache ${cache.folder}: no space left on device`,
  );
  expect(readdirSync(cache.folder)).toEqual([]);
});

test('what a process that is gone left half-written is cleared away, what another one is writing is not', async () => {
  const folder = tempFolder();
  for (const [name, age] of [
    ['old.tmp', 2],
    ['new.tmp', 0],
    ['old', 2],
  ] as const) {
    writeFileSync(join(folder, name), 'x');
    utimesSync(join(folder, name), hoursAgo(age), hoursAgo(age));
  }
  await openCache(folder, 300);
  expect(readdirSync(folder).sort()).toEqual(['new.tmp', 'old']);
});

test('a folder that can not be a cache is refused at once', async () => {
  const file = join(tempFolder(), 'file');
  writeFileSync(file, '');
  await expect(openCache(join(file, 'cache'), 300)).rejects.toThrow(
    /cannot use .*file\/cache as a cache: ENOTDIR.*Choose another folder/,
  );
});
