import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { Dataset } from '../../contract/index.ts';
import { openCache } from '../../src/archive/cache.ts';
import { type ArchiveFile, openArchive } from '../../src/archive/catalogue.ts';
import { headers } from '../../src/archive/columns.ts';
import { indexArchive } from '../../src/archive/indexer.ts';
import { stageFile } from '../../src/archive/stage.ts';
import { csvGz, marketLine, stageAll, tempFolder, writeFile } from './support.ts';

const DAY = '2026-04-16';
const T = 1776323400000;
const CACHE_BYTES = 1e9;
const stager = fileURLToPath(new URL('./stager.ts', import.meta.url));

const lines: Partial<Record<Dataset, string[]>> = {
  prices: [`${T},${T - 5},64000.123456789,1`, `${T + 1000},bad,1,1`],
  book: [`${T},${T - 5},m,up,0.5:10 0.49:2,0.51:3`, `${T + 1},${T},n,down,,0.6:1 0.4:2`],
  best_bid_ask: [`${T},${T - 5},m,up,0.5,`],
  price_change: [`${T},${T + 5},m,up,sell,0.51,10.5,0.5,0.51`, `${T},${T + 5},m,up,sell,0.51,10.5,0.5,0.51`],
  last_trade_price: [`${T},${T - 5},m,up,buy,0.51,10.5`],
  tick_size_change: [],
  markets: [marketLine('m', T), marketLine('n', T + 300_000)],
  klines: [`${T},1,2.5,0.5,2,1e3`],
};

function writeDay(root: string): ArchiveFile[] {
  return (Object.entries(lines) as [Dataset, string[]][]).map(([dataset, rows]) =>
    writeFile(root, 'venue_a', DAY, { dataset, interval: dataset === 'prices' ? null : '5m', lines: rows }),
  );
}

test('a day comes out of the cache as it was decoded, and its csv files are not touched', async () => {
  const root = tempFolder();
  const files = writeDay(root);
  const archive = openArchive(root);
  const cache = await openCache(tempFolder(), CACHE_BYTES);
  const decoded = await stageAll(archive, files, cache);
  rmSync(root, { recursive: true });
  expect(await stageAll(archive, files, cache)).toEqual(decoded);
  expect(decoded.map(({ dataset, rows }) => `${dataset} ${rows.length}`)).toEqual([
    'prices 1',
    'book 2',
    'best_bid_ask 1',
    'price_change 2',
    'last_trade_price 1',
    'tick_size_change 0',
    'markets 2',
    'klines 1',
  ]);
  expect(decoded[3]).toMatchObject({
    asset: 'BTC',
    interval: '5m',
    date: DAY,
    sha256: files[3].sha256,
    dirt: { repeated: 1, clock_skew: 2 },
    rows: { markets: ['m'], price: new Uint16Array([5100, 5100]), event: new Float64Array([T, T]) },
  });
});

test('files with the same bytes keep their own names and days', async () => {
  const root = tempFolder();
  const cache = await openCache(tempFolder(), CACHE_BYTES);
  const source = { dataset: 'tick_size_change', lines: [] } as const;
  const files = [writeFile(root, 'venue_a', DAY, source), writeFile(root, 'venue_a', '2026-04-17', source)];
  expect(files[0].sha256).toBe(files[1].sha256);
  const staged = await stageAll(openArchive(root), files, cache);
  expect(staged.map(({ date }) => date)).toEqual([DAY, '2026-04-17']);
});

test('a damaged file of the cache is removed and staged again', async () => {
  const root = tempFolder();
  const [, book] = writeDay(root);
  const archive = openArchive(root);
  const cache = await openCache(tempFolder(), CACHE_BYTES);
  const decoded = await stageFile(archive, book, cache);
  const [name] = readdirSync(cache.folder);
  const path = join(cache.folder, name);
  const whole = readFileSync(path);
  const damages = [
    () => truncateSync(path, whole.length - 100),
    () => truncateSync(path, 0),
    () => writeFileSync(path, Buffer.alloc(whole.length)),
    () => writeFileSync(path, 'ARROW1'),
    () =>
      writeFileSync(
        path,
        Buffer.concat([whole.subarray(0, 8), Buffer.alloc(whole.length - 14), whole.subarray(-6)]),
      ),
  ];
  for (const damage of damages) {
    damage();
    expect(await stageFile(archive, book, cache)).toEqual(decoded);
    expect(readFileSync(path).equals(whole)).toBe(true);
  }
  damages[0]();
  rmSync(root, { recursive: true });
  await expect(stageFile(archive, book, cache)).rejects.toThrow(book.name);
  expect(readdirSync(cache.folder)).toEqual([]);
});

test('a file whose sha256 does not match is refused, and the message says what to do', async () => {
  const root = tempFolder();
  const [, book] = writeDay(root);
  writeFile(root, 'venue_a', DAY, { dataset: 'book', lines: [] });
  const cache = await openCache(tempFolder(), CACHE_BYTES);
  await expect(stageFile(openArchive(root), book, cache)).rejects.toThrow(
    /^venue_a\/2026-04-16\/BTCUSD-book-5m-2026-04-16\.csv\.gz does not match its sha256 in index\.json \(expected \w{64}, got \w{64}\): run npx backtest archive index if the file is right, else fetch it again$/,
  );
  expect(readdirSync(cache.folder)).toEqual([]);
});

test('a truncated gzip, bytes that are none, a wrong header and a missing file are faults that name the file', async () => {
  const root = tempFolder();
  const whole = csvGz('book', lines.book!);
  const cache = await openCache(tempFolder(), CACHE_BYTES);
  const stage = (bytes: Buffer) =>
    stageFile(openArchive(root), writeFile(root, 'venue_a', DAY, { dataset: 'book', bytes }), cache);
  const name = 'venue_a/2026-04-16/BTCUSD-book-5m-2026-04-16.csv.gz';
  await expect(stage(whole.subarray(0, -12))).rejects.toThrow(
    `${name} is no complete gzip: unexpected end of file`,
  );
  await expect(stage(Buffer.from('recv_ms,'))).rejects.toThrow(
    `${name} is no complete gzip: incorrect header check`,
  );
  await expect(stage(gzipSync('a,b\n'))).rejects.toThrow(
    `${name} has columns "a,b", expected "${headers.book}"`,
  );
  const gone = writeFile(root, 'venue_a', DAY, { dataset: 'book', bytes: gzipSync('gone') });
  rmSync(join(root, name));
  await expect(stageFile(openArchive(root), gone, cache)).rejects.toThrow(
    `${name} stands in its index.json but not`,
  );
});

test('staging can be stopped', async () => {
  const root = tempFolder();
  const [prices] = writeDay(root);
  const cache = await openCache(tempFolder(), CACHE_BYTES);
  const stop = new AbortController();
  const staging = stageFile(openArchive(root), prices, cache, stop.signal);
  stop.abort(new Error('Ctrl-C'));
  await expect(staging).rejects.toThrow();
  expect(readdirSync(cache.folder)).toEqual([]);
});

test('processes that stage the same day at once do not disturb each other', { timeout: 30_000 }, async () => {
  const root = tempFolder();
  const folder = tempFolder();
  writeDay(root);
  await indexArchive(root);
  const args = [stager, root, 'venue_a', DAY, folder];
  const runs = await Promise.all([1, 2, 3].map(() => promisify(execFile)(process.execPath, args)));
  for (const { stdout } of runs) expect(JSON.parse(stdout)).toEqual([1, 2, 1, 1, 2, 2, 1, 0]);
  expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
});

test('when the disk takes no more, the fault says so and nothing half-written is left', {
  timeout: 30_000,
}, async () => {
  const root = tempFolder();
  const folder = tempFolder();
  const rows = Array.from({ length: 20_000 }, (_, i) => `${T + i},${T},m,up,buy,0.51,10.5`);
  writeFile(root, 'venue_a', DAY, { dataset: 'last_trade_price', lines: rows });
  await indexArchive(root);
  // A limit on the size of files stands in for the full disk.
  const args = [
    '-c',
    'ulimit -f 100; exec "$@"',
    'sh',
    process.execPath,
    stager,
    root,
    'venue_a',
    DAY,
    folder,
  ];
  const { stdout } = await promisify(execFile)('sh', args);
  expect(stdout).toMatch(`cannot write to the cache ${folder}: EFBIG`);
  expect(stdout).toMatch('Make room there, or choose another folder.');
  expect(readdirSync(folder)).toEqual([]);
});
