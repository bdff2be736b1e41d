import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGunzip, gzipSync, type ZlibOptions } from 'node:zlib';
import { openCache } from '../../src/archive/cache.ts';
import { type ArchiveFile, openArchive } from '../../src/archive/catalogue.ts';
import { headers } from '../../src/archive/columns.ts';
import { DECODER_VERSION, decode } from '../../src/archive/decode.ts';
import { stageFile } from '../../src/archive/stage.ts';
import type { Row } from './row.ts';

const ROWS = 2_000_000;
const DATE = '2026-04-16';
const NAME = `BTCUSD-price_change-5m-${DATE}.csv.gz`;

/** Decodes a day of price_change, and reads it again from the cache, beside what zlib and the file system allow. */
export async function bench(print: (row: Row) => void): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'archive-bench-'));
  try {
    const gz = gzipSync(csv(), { level: 6 });
    mkdirSync(join(root, 'venue_a', DATE), { recursive: true });
    writeFileSync(join(root, 'venue_a', DATE, NAME), gz);
    const inflating = await best(() => inflateOnly(gz));
    const decoding = await best(() => decode('price_change', gz, ROWS));
    print({
      name: 'decode price_change',
      ...rate(decoding),
      limit: rate(inflating).value,
      limitName: 'zlib stream',
    });

    const file: ArchiveFile = {
      venue: 'venue_a',
      date: DATE,
      name: NAME,
      dataset: 'price_change',
      asset: 'BTC',
      interval: '5m',
      bytes: gz.length,
      rows: ROWS,
      sha256: createHash('sha256').update(gz).digest('hex'),
    };
    const archive = openArchive(root);
    const cache = await openCache(join(root, 'cache'), 1e9);
    const staging = await best(() => stageFile(archive, file, cache), 1);
    print({
      name: 'stage price_change',
      ...rate(staging),
      limit: rate(inflating).value,
      limitName: 'zlib stream',
    });
    const reading = await best(() => readFile(join(cache.folder, `${file.sha256}-${DECODER_VERSION}.arrow`)));
    const again = await best(() => stageFile(archive, file, cache));
    print({
      name: 're-read price_change',
      ...rate(again),
      limit: rate(reading).value,
      limitName: 'readFile',
    });
    await benchBook(print);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** The recorded day of full-depth snapshots that lies in fixtures/. */
async function benchBook(print: (row: Row) => void): Promise<void> {
  const gz = readFileSync(
    new URL(`../../fixtures/archive/real/venue_a/${DATE}/BTCUSD-book-5m-${DATE}.csv.gz`, import.meta.url),
  );
  const { rows } = await decode('book', gz, 0);
  const levels = rows.levelPrice.length;
  const inflating = await best(() => inflateOnly(gz));
  const decoding = await best(() => decode('book', gz, rows.length));
  print({
    name: 'decode book levels',
    value: rate(decoding, levels).value,
    unit: 'M levels/s',
    limit: rate(inflating, levels).value,
    limitName: 'zlib stream',
  });
}

const rate = (ms: number, count = ROWS) => ({ value: count / ms / 1000, unit: 'M rows/s' });

/** The shortest of a few runs, in ms. */
async function best(work: () => Promise<unknown>, runs = 5): Promise<number> {
  let shortest = Number.POSITIVE_INFINITY;
  for (let i = 0; i < runs; i++) {
    const start = performance.now();
    await work();
    shortest = Math.min(shortest, performance.now() - start);
  }
  return shortest;
}

async function inflateOnly(gz: Buffer): Promise<void> {
  const options: ZlibOptions = { chunkSize: 1 << 20 };
  const gunzip = createGunzip(options);
  gunzip.end(gz);
  for await (const _ of gunzip);
}

/** Changes of two live markets, as dense and as irregular as recorded ones. */
function csv(): Buffer {
  let state = 1;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  const parts: Buffer[] = [];
  let text = `${headers.price_change}\n`;
  let recv = Date.parse(`${DATE}T00:00:00Z`);
  for (let i = 0; i < ROWS; i++) {
    if (below(10) < 3) recv += below(40);
    const start = Math.floor(recv / 300_000) * 300 + (below(5) === 0 ? 300 : 0);
    const best = 40 + below(20);
    const size = below(5) === 0 ? 0 : below(200_000) / 100;
    text += `${recv},${recv - below(60)},btc-updown-5m-${start},${below(2) ? 'up' : 'down'},${below(2) ? 'buy' : 'sell'},0.${best - 10 + below(20)},${size},0.${best},0.${best + 1}\n`;
    if (text.length > 1 << 20) {
      parts.push(Buffer.from(text));
      text = '';
    }
  }
  return Buffer.concat([...parts, Buffer.from(text)]);
}
