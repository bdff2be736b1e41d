import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openCache } from '../../src/archive/cache.ts';
import { findFile, openArchive } from '../../src/archive/catalogue.ts';
import { indexArchive } from '../../src/archive/indexer.ts';
import { csvGz, marketLine, stageAll, tempFolder, writeFile } from './support.ts';

const DAY = '2026-04-16';
const T = 1776323400000;

/** A web server for the time of the test; returns its URL. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Serves a folder, less what `first` answers itself. */
const serveFolder = (root: string, first: (...args: Parameters<RequestListener>) => boolean = () => false) =>
  serve((request, response) => {
    if (first(request, response)) return;
    try {
      response.end(readFileSync(join(root, request.url!)));
    } catch {
      response.writeHead(404).end();
    }
  });

async function writeArchive(): Promise<string> {
  const root = tempFolder();
  for (const date of ['2026-04-17', DAY]) {
    writeFile(root, 'venue_a', date, { dataset: 'markets', lines: [marketLine('m', T)] });
    writeFile(root, 'venue_a', date, {
      dataset: 'prices',
      interval: null,
      lines: [`${T},${T},1,1`, `${T},${T},2,2`],
    });
  }
  writeFile(root, 'venue_b', DAY, { dataset: 'orderbook', asset: 'ETH', interval: '1h' });
  await indexArchive(root);
  return root;
}

test('a folder and a web server with the same files are the same archive', async () => {
  const root = await writeArchive();
  for (const location of [root, `${root}/`, await serveFolder(root)]) {
    const archive = openArchive(location);
    expect(await archive.days('venue_a')).toEqual([DAY, '2026-04-17']);
    expect(await archive.days('venue_b')).toEqual([DAY]);
    expect(await archive.day('venue_a', '2026-04-18')).toBeNull();
    const day = await archive.day('venue_a', DAY);
    expect(day!.files.map(({ name, rows }) => `${name} ${rows}`)).toEqual([
      `BTCUSD-markets-5m-${DAY}.csv.gz 1`,
      `BTCUSD-prices-${DAY}.csv.gz 2`,
    ]);
    const [prices] = await stageAll(
      archive,
      [findFile(day, { dataset: 'prices', asset: 'BTC', interval: null })!],
      await openCache(tempFolder(), 1e9),
    );
    expect(prices.rows).toMatchObject({ length: 2, value: new Float64Array([1, 2]) });
  }
});

test('a venue that is not archived has no days, a folder that is not there is an error', async () => {
  const root = await writeArchive();
  rmSync(join(root, 'venue_b'), { recursive: true });
  expect(await openArchive(root).days('venue_b')).toEqual([]);
  expect(await openArchive(await serveFolder(root)).days('venue_b')).toEqual([]);
  await expect(openArchive(join(root, 'nowhere')).days('venue_a')).rejects.toThrow('nowhere: no such folder');
});

test('a day without an index is an error that names the command which writes it', async () => {
  const root = await writeArchive();
  rmSync(join(root, 'venue_a', DAY, 'index.json'));
  const message = `${join(root, 'venue_a', DAY)} has no index.json. Write it with: npx backtest archive index ${join(root, 'venue_a', DAY)}`;
  await expect(openArchive(root).days('venue_a')).rejects.toThrow(message);
  await expect(openArchive(root).day('venue_a', DAY)).rejects.toThrow(message);
});

test('an index that is none is an error that names the place', async () => {
  const root = await writeArchive();
  const path = join(root, 'venue_a', DAY, 'index.json');
  const index = JSON.parse(readFileSync(path, 'utf8'));
  const wrong: [string, RegExp][] = [
    ['{', /index\.json is no JSON/],
    [JSON.stringify({ ...index, date: '2026-04-31' }), /expected a UTC day/],
    [JSON.stringify({ ...index, date: '2026-04-17' }), /says that it is venue_a 2026-04-17/],
    [
      JSON.stringify({ ...index, files: [{ ...index.files[0], name: '../../secret' }] }),
      /expected a plain file name/,
    ],
    [JSON.stringify({ ...index, files: [{ ...index.files[0], sha256: 'x' }] }), /expected 64 hex digits/],
  ];
  for (const [text, message] of wrong) {
    writeFileSync(path, text);
    await expect(openArchive(root).day('venue_a', DAY)).rejects.toThrow(message);
  }
});

test('a server that fails now and then is asked again', async () => {
  const root = await writeArchive();
  let asked = 0;
  const url = await serveFolder(root, (request, response) => {
    asked++;
    if (asked === 1) response.writeHead(503).end();
    else if (asked === 2) {
      // Breaks off in the middle.
      const bytes = readFileSync(join(root, request.url!));
      response.writeHead(200, { 'content-length': bytes.length });
      response.write(bytes.subarray(0, 20), () => response.destroy());
    }
    return asked < 3;
  });
  expect((await openArchive(url).day('venue_a', DAY))!.files).toHaveLength(2);
  expect(asked).toBe(3);
});

test('a server that keeps failing or refuses is a fault that says how', async () => {
  const failing = await serve((_, response) => response.writeHead(500).end());
  await expect(openArchive(failing).days('venue_a')).rejects.toThrow(
    `cannot read ${failing}/venue_a/index.json after 4 attempts: the server answered 500`,
  );
  const refusing = await serve((_, response) => response.writeHead(403).end());
  await expect(openArchive(refusing).days('venue_a')).rejects.toThrow(
    `cannot read ${refusing}/venue_a/index.json: the server answered 403`,
  );
});

test('a file that arrives damaged once is fetched again', async () => {
  const root = await writeArchive();
  const path = `/venue_a/${DAY}/BTCUSD-prices-${DAY}.csv.gz`;
  let asked = 0;
  const url = await serveFolder(root, (request, response) => {
    const damaged = request.url === path && ++asked === 1;
    if (damaged) response.end(csvGz('prices', []));
    return damaged;
  });
  const archive = openArchive(url);
  const { files } = (await archive.day('venue_a', DAY))!;
  const staged = await stageAll(archive, files, await openCache(tempFolder(), 1e9));
  expect(staged.map(({ rows }) => rows.length)).toEqual([1, 2]);
  expect(asked).toBe(2);
});

test('waiting for a silent server can be stopped', async () => {
  const stop = new AbortController();
  const url = await serve(() => stop.abort(new Error('Ctrl-C')));
  await expect(openArchive(url).days('venue_a', stop.signal)).rejects.toThrow('Ctrl-C');
});

test('an index lists what a folder holds, and says what it left out and why', async () => {
  const root = tempFolder();
  const folder = join(root, 'venue_b', DAY);
  mkdirSync(folder, { recursive: true });
  const good = writeFile(root, 'venue_b', DAY, {
    dataset: 'last_trade_price',
    asset: 'ETH',
    lines: ['a', 'b', 'c'],
  });
  const bad = {
    'notes.txt': /its name is not <BASE>USD/,
    [`BTCUSD-markets-5m-${DAY}.csv.gz`]: /its name is not .*-b-<date>/,
    'BTCUSD-markets-5m-b-2026-04-17.csv.gz': /its name says 2026-04-17/,
    [`BTCUSD-book-5m-b-${DAY}.csv.gz`]: /venue_b has no dataset book/,
    [`BTCUSD-prices-5m-b-${DAY}.csv.gz`]: /prices files have no interval/,
    [`BTCUSD-markets-b-${DAY}.csv.gz`]: /markets files have an interval/,
    [`BTCUSD-markets-5m-b-${DAY}.csv.gz`]: /it is no complete gzip/,
  };
  for (const name of Object.keys(bad))
    writeFileSync(join(folder, name), csvGz('markets', []).subarray(0, -9));
  writeFileSync(join(folder, `ETHUSD-last_trade_price-5m-b-${DAY}.parquet`), '');
  const heard: string[] = [];
  const indexed = await indexArchive(folder, (path) => heard.push(path));
  expect(indexed).toMatchObject({ days: 1, files: 1 });
  expect(heard).toHaveLength(8);
  for (const [name, reason] of Object.entries(bad)) {
    expect(indexed.skipped.find(({ path }) => path === join(folder, name))?.reason).toMatch(reason);
  }
  const { venue: _, date: __, ...entry } = good;
  const index = readFileSync(join(folder, 'index.json'), 'utf8');
  expect(JSON.parse(index)).toEqual({ venue: 'venue_b', date: DAY, files: [entry] });
  expect(index).toBe(`${JSON.stringify(JSON.parse(index), null, 2)}\n`);
  expect(JSON.parse(readFileSync(join(root, 'venue_b', 'index.json'), 'utf8'))).toEqual({ days: [DAY] });
});

test('an index can be written for an archive, a venue or a day, and not for anything else', async () => {
  const root = await writeArchive();
  const counts = [root, join(root, 'venue_a'), join(root, 'venue_a', DAY)].map(async (folder) => {
    const { days, files } = await indexArchive(folder);
    return [days, files];
  });
  expect(await Promise.all(counts)).toEqual([
    [3, 5],
    [2, 4],
    [1, 2],
  ]);
  await expect(indexArchive(tempFolder())).rejects.toThrow('holds no days: expected an archive');
});
