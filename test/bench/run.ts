import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LIMITS, manifest as manifestSchema, scope } from '../../contract/index.ts';
import { writeDay } from '../../fixtures/generator/day.ts';
import { openCache } from '../../src/archive/cache.ts';
import { findFile, openArchive } from '../../src/archive/catalogue.ts';
import { stageFile } from '../../src/archive/stage.ts';
import { readSource } from '../../src/check/read.ts';
import { connect, openSandbox } from '../../src/compose.ts';
import { readConfig } from '../../src/config.ts';
import { Stream } from '../../src/replay/stream.ts';
import { feedsOf, groupsOf, listMarkets, planSegment } from '../../src/run/plan.ts';
import { run } from '../../src/run/run.ts';
import { stageDays } from '../../src/run/staging.ts';
import { ensureImages } from '../../src/sandbox/images.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import type { Row } from './row.ts';

const EVENTS = 6_000_000;
const DATASETS = ['book', 'price_change', 'prices', 'last_trade_price'];

/** What is done in a hook: nothing but a count, then reading the book and the change, then an order now and then. */
const bodies = {
  'an empty hook': {
    python: ['def on_book(self, ctx, change):', '    pass'],
    node: ['onBook(ctx, change) {}'],
  },
  'a hook that reads': {
    python: [
      'seen = 0.0',
      'def on_book(self, ctx, change):',
      '    if change.side == "buy" and change.size > 100:',
      '        self.seen += change.price * change.size',
    ],
    node: [
      'seen = 0;',
      'onBook(ctx, change) { if (change.side === "buy" && change.size > 100) this.seen += change.price * change.size; }',
    ],
  },
  'an order each 1,000 rows': {
    python: [
      'rows = 0',
      'def on_book(self, ctx, change):',
      '    self.rows += 1',
      '    if self.rows % 1000 == 0:',
      '        ctx.buy(change.market, "up", size=5, limit=0.01)',
    ],
    node: [
      'rows = 0;',
      'onBook(ctx, change) { if (++this.rows % 1000 === 0) ctx.buy({ market: change.market, outcome: "up", size: 5, limit: 0.01 }); }',
    ],
  },
} as const;

/** Whole runs of a full day in containers, staging left out, beside what the host alone can merge into frames. */
export async function bench(print: (row: Row) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'backtest-bench-'));
  await ensureImages({ docker: await connect(readConfig()), log: () => {} });
  const sandbox = await openSandbox('docker', readConfig());
  try {
    const archive = join(folder, 'archive');
    await writeDay(archive, EVENTS, 1);
    const limit = await framesAlone(folder, archive);
    print({ name: 'host alone: day into frames', value: limit / 1e6, unit: 'M ticks/s' });
    for (const [name, body] of Object.entries(bodies)) {
      for (const language of ['python', 'node'] as const) {
        const lines: readonly string[] = body[language];
        const speed = await replay(folder, archive, language, lines, sandbox);
        print({
          name: `${language}, ${name}`,
          value: speed / 1e6,
          unit: 'M ticks/s',
          limit: limit / 1e6,
          limitName: 'host alone',
        });
      }
    }
  } finally {
    await sandbox.close();
    rmSync(folder, { recursive: true });
  }
}

/** Rows a second of the stream when nobody reads the frames; it also brings the day into the cache. */
async function framesAlone(folder: string, location: string): Promise<number> {
  const archive = openArchive(location);
  const [date] = await archive.days('venue_a');
  const index = await archive.day('venue_a', date!);
  const cache = await openCache(join(folder, 'cache'), 1e10);
  const parsed = manifestSchema.parse({ ...manifest('python'), datasets: DATASETS });
  const { find } = await stageDays(parsed, [{ asset: 'BTC', interval: '5m', date: date! }], async (key) => {
    const file = key.date === date ? findFile(index, key) : null;
    return file ? stageFile(archive, file, cache) : undefined;
  });
  const input = { manifest: parsed, venue: 'venue_a' as const, limits: LIMITS, find, series: [] };
  const { markets } = listMarkets(input, [{ asset: 'BTC', interval: '5m', date: date! }]);
  const feeds = feedsOf(input, ['BTC']);
  const began = performance.now();
  let ticks = 0;
  for (const [at, group] of groupsOf('market', markets).entries()) {
    const stream = new Stream(planSegment(input, feeds, group, at).stream);
    while (stream.step(Number.POSITIVE_INFINITY).frame.through_ms !== Number.POSITIVE_INFINITY);
    ticks += stream.ticks;
  }
  return (ticks * 1000) / (performance.now() - began);
}

async function replay(
  folder: string,
  archive: string,
  language: 'python' | 'node',
  body: readonly string[],
  sandbox: Sandbox,
): Promise<number> {
  const strategy = join(folder, language);
  mkdirSync(strategy, { recursive: true });
  writeFileSync(join(strategy, 'manifest.json'), JSON.stringify(manifest(language)));
  const source =
    language === 'python'
      ? ['class Strategy:', ...body.map((line) => `    ${line}`), ''].join('\n')
      : `export class Strategy {\n${body.join('\n')}\n}\n`;
  writeFileSync(join(strategy, manifest(language).entry), source);
  const result = await run({
    source: await readSource(strategy, LIMITS),
    archive: openArchive(archive),
    cache: await openCache(join(folder, 'cache'), 1e10),
    scope: scope.parse({}),
    sandbox,
    limits: LIMITS,
    lockstep: false,
    seed: null,
    concurrency: 1,
    out: join(folder, `out-${language}`),
    signal: new AbortController().signal,
    onProgress: () => {},
  });
  if (result.outcome !== 'completed') throw new Error(JSON.stringify(result.rejection));
  return (result.ticks * 1000) / result.replay_ms;
}

const manifest = (language: 'python' | 'node') => ({
  contract: 1 as const,
  name: 'bench',
  language: language === 'python' ? 'python@3.14' : 'nodejs@24',
  entry: language === 'python' ? 'strategy.py' : 'strategy.mjs',
  datasets: DATASETS,
});
