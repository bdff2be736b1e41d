import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Bench, type Ran, type RunOptions, SYNTHETIC } from './runs.ts';

const bench = new Bench();
afterAll(() => bench.close());

let made = 0;

/** Runs a small JavaScript strategy, given by the body of its class. */
async function runBody(
  body: string,
  manifest: object,
  options: RunOptions = {},
  extra: Record<string, string> = {},
): Promise<Ran> {
  const folder = join(bench.folder, `strategy-${made++}`);
  mkdirSync(folder);
  const whole = {
    contract: 1,
    name: 'small',
    language: 'nodejs@24',
    entry: 'main.mjs',
    datasets: ['prices'],
    ...manifest,
  };
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(whole));
  writeFileSync(join(folder, 'main.mjs'), `export class Strategy {\n${body}\n}\n`);
  for (const [name, text] of Object.entries(extra)) writeFileSync(join(folder, name), text);
  const ran = await bench.run(folder, options);
  expect(ran.result.rejection).toBeNull();
  return ran;
}

const logs = async ({ out }: Ran): Promise<string[]> =>
  (await readFile(join(out, 'logs.txt'), 'utf8')).trim().split('\n');
const lines = async (ran: Ran): Promise<string[]> =>
  (await logs(ran)).map((line) => line.split(' ').slice(1).join(' ').trim());

const ONE_DAY: RunOptions = { scope: { assets: ['BTC'], from: '2026-10-14', to: '2026-10-14' } };

test('in market mode every market has a strategy and a portfolio of its own', async () => {
  const ran = await runBody(
    `onStart() { this.opened = 0; }
     onMarketOpen(ctx, market) { this.opened++; ctx.buy({ market, outcome: 'up', size: 10, limit: 0.99, tif: 'ioc' }); }
     onStop(ctx) { ctx.log(this.opened); }`,
    {},
    ONE_DAY,
  );
  const told = await lines(ran);
  expect(told).toHaveLength(ran.result.report!.markets.count);
  expect(new Set(told.map((line) => line.split(' ').at(-1)))).toEqual(new Set(['1']));
});

test('in session mode one strategy and one portfolio live through all markets of all assets', async () => {
  const ran = await runBody(
    `onStart() { this.opened = 0; this.settled = 0; }
     onMarketOpen() { this.opened++; }
     onSettle() { this.settled++; }
     onStop(ctx) { ctx.log('opened', this.opened, 'settled', this.settled); }`,
    { mode: 'session', intervals: ['5m', '15m'] },
  );
  const { count, unresolved } = ran.result.report!.markets;
  expect(count).toBeGreaterThan(40);
  expect(await lines(ran)).toEqual([`opened ${count} settled ${count - unresolved}`]);
});

test('a book read at the very moment of a close is the same however far rows ran ahead', async () => {
  const body = `onMarketOpen(ctx, market) { ctx.timer(ctx.remainingMs(market), market); }
     onTimer(ctx, timer) {
       const bids = ctx.markets.map((market) => [market.id, ctx.book(market, 'up').bestBid, ctx.book(market, 'down').bestBid]);
       ctx.log(timer.tag.id, JSON.stringify(bids));
     }`;
  const manifest = { mode: 'session', intervals: ['5m', '15m'], datasets: ['book', 'price_change'] };
  const streamed = await lines(await runBody(body, manifest));
  expect(streamed.length).toBeGreaterThan(40);
  expect(streamed.filter((line) => /0\.\d/.test(line)).length).toBeGreaterThan(40);
  expect(await lines(await runBody(body, manifest, { lockstep: true }))).toEqual(streamed);
});

test('money made in one market of a session can be spent in the next', async () => {
  const ran = await runBody(
    `onMarketOpen(ctx, market) { ctx.buy({ market, outcome: 'up', amount: Math.floor(ctx.cash * 0.9), tif: 'ioc' }); }
     onSettle(ctx, { market }) { ctx.log(market.id, ctx.cash.toFixed(2)); }`,
    { mode: 'session', datasets: ['book'], capital: 100 },
    ONE_DAY,
  );
  const report = ran.result.report!;
  const last = (await lines(ran)).at(-1)!;
  expect(report.fills.count).toBeGreaterThan(3);
  expect(Number(last.split(' ').at(-1))).toBeCloseTo(report.equity.last, 2);
});

test('a market that crosses midnight belongs to the day it starts on and sees the next day', async () => {
  const ran = await runBody(
    `onMarketClose(ctx, market) { ctx.log(market.id, new Date(ctx.nowMs).toISOString()); }`,
    { intervals: ['15m'] },
    ONE_DAY,
  );
  expect(await lines(ran)).toContain(
    'btc-updown-15m-1792021950 btc-updown-15m-1792021950 2026-10-15T00:07:30.000Z',
  );
});

test('a market that crosses midnight is dropped and listed where the next day is missing', async () => {
  const archive = join(bench.folder, 'one-day');
  cpSync(join(SYNTHETIC, 'venue_a/2026-10-14'), join(archive, 'venue_a/2026-10-14'), { recursive: true });
  const ran = await runBody('onMarketOpen() {}', { intervals: ['15m'] }, { ...ONE_DAY, archive });
  const report = ran.result.report!;
  expect(report.data_quality.places[0]).toMatch(/^btc-updown-15m-1792021950: it crosses midnight/);
  expect(report.markets.rows.map((row) => row.market)).not.toContain('btc-updown-15m-1792021950');
});

test('context brings in the prices and the books of others, which cannot be traded', async () => {
  const ran = await runBody(
    `onPrice(ctx, tick) { this.assets = (this.assets ?? new Set()).add(tick.asset); }
     onBook(ctx, change) {
       if (change.market.asset !== 'ETH' || this.tried) return;
       this.tried = true;
       ctx.buy({ market: change.market, outcome: 'up', size: 10, limit: 0.5 });
     }
     onOrder(ctx, update) { ctx.log(update.status, update.reason); }
     onStop(ctx) { ctx.log([...this.assets].sort().join()); }`,
    {
      context: [
        { asset: 'ETH', dataset: 'prices' },
        { asset: 'ETH', dataset: 'book', interval: '15m' },
      ],
    },
    ONE_DAY,
  );
  const told = new Set((await lines(ran)).map((line) => line.split(' ').slice(1).join(' ')));
  expect(told).toContain('BTC,ETH');
  expect(told).toContain('rejected not_tradable');
  expect(ran.result.report!.markets.rows.every((row) => row.asset === 'BTC')).toBe(true);
});

test('warm-up history is there at the start and calls no hook', async () => {
  const ran = await runBody(
    `onStart(ctx) { this.early = 0; this.start = ctx.nowMs; }
     onPrice(ctx, tick) { if (tick.tsMs <= this.start) this.early++; }
     onMarketOpen(ctx, market) {
       const { tsMs } = ctx.history('BTC', 'prices', 60_000);
       ctx.log(this.early, tsMs.length > 40, tsMs.every((ms) => ms <= ctx.nowMs));
     }`,
    { warmup_ms: 60_000 },
    ONE_DAY,
  );
  const told = (await lines(ran)).map((line) => line.split(' ').slice(1).join(' '));
  // The first market starts with the recording's own first minute, so it has less to look back on.
  expect(told.filter((line) => line === '0 true true').length).toBeGreaterThan(told.length / 2);
  expect(told.every((line) => line.startsWith('0 '))).toBe(true);
});

test("a strategy's own series arrives at its time plus its lag", async () => {
  const series = 'time_ms,signal\n1792020000000,1.5\n1792020060000,\n';
  const ran = await runBody(
    `onSeries(ctx, row) { ctx.log(row.name, ctx.nowMs, row.values.signal); }`,
    { mode: 'session', series: [{ name: 'mine', file: 'mine.csv', lag_ms: 250 }] },
    ONE_DAY,
    { 'mine.csv': series },
  );
  expect(await lines(ran)).toEqual(['mine 1792020000250 1.5', expect.stringMatching(/^mine 1792020060250 /)]);
});

test('every cell of a sweep has a whole report of its own, under its own parameters', async () => {
  const ran = await runBody(
    `onStart(ctx) { ctx.log(ctx.params.size); }`,
    { params: { size: 1, fixed: 'x' }, sweep: { size: [5, 10, 20] } },
    ONE_DAY,
  );
  const cells = readdirSync(join(ran.out, 'cells'));
  expect(cells).toEqual(['000', '001', '002']);
  const params = cells.map(
    async (cell) =>
      JSON.parse(await readFile(join(ran.out, 'cells', cell, 'report.json'), 'utf8')).identity.params,
  );
  expect(await Promise.all(params)).toEqual([5, 10, 20].map((size) => ({ size, fixed: 'x' })));
});

test.each(['onPrice(ctx, tick)', 'onStrike(ctx, market)'])(
  'forecasts made in %s count, those that are no probability do not',
  async (hook) => {
    const ran = await runBody(
      `${hook} {
       for (const market of ctx.markets) {
         for (const p of [0, 0.25, 1, -0.1, Number.NaN]) ctx.forecast(market, p);
         ctx.buy({ market, outcome: 'up', size: 5, limit: 0.02 });
       }
     }
     onOrder(ctx, update) { ctx.forecast(update.market, 0.5); }`,
      {},
      ONE_DAY,
    );
    const { orders, forecasts } = ran.result.report!;
    expect(orders.count).toBeGreaterThan(5);
    expect(forecasts.count).toBeGreaterThan(3 * orders.count);
    expect(forecasts.count).toBeLessThan(6 * orders.count);
  },
);

test('another seed draws other numbers, the same seed the same', async () => {
  const draw = async (seed: number): Promise<string[]> =>
    lines(await runBody('onStart(ctx) { ctx.log(ctx.random(), Math.random()); }', {}, { ...ONE_DAY, seed }));
  expect(await draw(7)).toEqual(await draw(7));
  expect(await draw(8)).not.toEqual(await draw(7));
});
