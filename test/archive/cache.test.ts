import { readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openCache } from '../../src/archive/cache.ts';
import { tempFolder } from './support.ts';

async function* bytes(count: number, failure?: Error): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(count);
  if (failure) throw failure;
}

/** A key of the cache, from one hex digit. */
const key = (digit: string): string => `${digit.repeat(64)}-1.arrow`;
const digits = (folder: string): string[] =>
  readdirSync(folder)
    .map((name) => name[0]!)
    .sort();
const hoursAgo = (hours: number): Date => new Date(Date.now() - hours * 3_600_000);

test('the files that were used longest ago go first', async () => {
  const cache = await openCache(tempFolder(), 300);
  for (const [i, digit] of ['a', 'b', 'c'].entries()) {
    await cache.write(key(digit), bytes(100));
    utimesSync(join(cache.folder, key(digit)), hoursAgo(9 - i), hoursAgo(9 - i));
  }
  expect(await cache.read(key('a'))).toHaveLength(100);
  await cache.write(key('d'), bytes(100));
  expect(digits(cache.folder)).toEqual(['a', 'c', 'd']);
  await cache.write(key('e'), bytes(250));
  expect(digits(cache.folder)).toEqual(['e']);
});

test('a file larger than the whole cache is not kept', async () => {
  const cache = await openCache(tempFolder(), 300);
  await cache.write(key('a'), bytes(301));
  expect(await cache.read(key('a'))).toBeNull();
});

test('a write that fails leaves nothing', async () => {
  const cache = await openCache(tempFolder(), 300);
  await expect(cache.write(key('a'), bytes(10, new Error('no space left on device')))).rejects.toThrow(
    `cannot write to the cache ${cache.folder}: no space left on device`,
  );
  expect(readdirSync(cache.folder)).toEqual([]);
});

test('what a process that is gone left half-written is cleared away, what another one is writing is not', async () => {
  const folder = tempFolder();
  for (const [name, age] of [
    [`${key('a')}.12ab-34.tmp`, 2],
    [`${key('b')}.12ab-34.tmp`, 0],
    [key('c'), 2],
  ] as const) {
    writeFileSync(join(folder, name), 'x');
    utimesSync(join(folder, name), hoursAgo(age), hoursAgo(age));
  }
  await openCache(folder, 300);
  expect(digits(folder)).toEqual(['b', 'c']);
});

test('files of somebody else in the folder are neither counted nor removed', async () => {
  const folder = tempFolder();
  for (const name of ['thesis.txt', 'thesis.tmp', 'data.arrow']) {
    writeFileSync(join(folder, name), 'x'.repeat(1000));
    utimesSync(join(folder, name), hoursAgo(9), hoursAgo(9));
  }
  const cache = await openCache(folder, 300);
  await cache.write(key('a'), bytes(300));
  expect(readdirSync(folder)).toEqual([key('a'), 'data.arrow', 'thesis.tmp', 'thesis.txt']);
});

test('a folder that can not be a cache is refused at once', async () => {
  const file = join(tempFolder(), 'file');
  writeFileSync(file, '');
  await expect(openCache(join(file, 'cache'), 300)).rejects.toThrow(
    /cannot use .*file\/cache as a cache: ENOTDIR.*Choose another folder/,
  );
});
