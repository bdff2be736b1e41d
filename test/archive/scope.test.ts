import { describe, expect, test } from 'vitest';
import { type Dataset, dayText, scope, type Venue } from '../../contract/index.ts';
import type { Archive, ArchiveFile, DayIndex } from '../../src/archive/catalogue.ts';
import { coverage, resolveScope } from '../../src/archive/scope.ts';

/** An archive that holds these files: `BTC 5m` stands for a markets file, `BTC prices` for another one. */
function archiveOf(days: Record<string, string[]>): Archive {
  const file = (date: string, text: string): ArchiveFile => {
    const [asset, second, third] = text.split(' ');
    const isMarkets = /^\d/.test(second);
    const dataset = (isMarkets ? 'markets' : second) as Dataset;
    const interval = isMarkets ? second : (third ?? null);
    return { venue: 'venue_a', date, name: text, dataset, asset, interval, bytes: 0, rows: 0, sha256: '' };
  };
  const only = (venue: Venue) => venue === 'venue_a';
  const indexOf = (date: string): DayIndex | null =>
    days[date] ? { venue: 'venue_a', date, files: days[date].map((text) => file(date, text)) } : null;
  return {
    location: '',
    days: async (venue) => (only(venue) ? Object.keys(days).sort() : []),
    day: async (venue, date) => (only(venue) ? indexOf(date) : null),
  };
}

const archive = archiveOf({
  '2026-04-14': ['BTC 5m', 'BTC 15m'],
  '2026-04-15': ['BTC 5m', 'ETH 5m'],
  '2026-04-17': ['BTC 5m', 'BTC prices'],
  '2026-04-18': ['BTC prices', 'ETH 5m'],
});

const resolve = (source: object, intervals = ['5m'], cells = 1) =>
  resolveScope(archive, scope.parse(source), intervals, 'market', cells);
const short = async (source: object, intervals?: string[]) =>
  (await resolve(source, intervals)).marketDays.map(
    ({ asset, interval, date }) => `${asset} ${interval} ${date.slice(8)}`,
  );

describe('a scope resolves to the market-days that the archive holds a markets file for', () => {
  test('nothing given: every archived day and all assets', async () => {
    expect(await short({})).toEqual(['BTC 5m 14', 'BTC 5m 15', 'BTC 5m 17', 'ETH 5m 15', 'ETH 5m 18']);
  });

  test('from and to, with the days between that are not archived counted, listed and not charged', async () => {
    const source = { from: '2026-04-15', to: '2026-04-19', assets: ['BTC'] };
    const { quote } = await resolve({ ...source, sweep_cells: 3 }, ['5m'], 3);
    expect(quote).toEqual({
      venue: 'venue_a',
      assets: ['BTC'],
      from: '2026-04-15',
      to: '2026-04-17',
      requestedFrom: '2026-04-15',
      requestedTo: '2026-04-19',
      requestedDays: 5,
      archivedDayCount: 2,
      missingDays: 3,
      missing: ['BTC 5m 2026-04-16', 'BTC 5m 2026-04-18', 'BTC 5m 2026-04-19'],
      marketDays: 2,
      mode: 'market',
      sweepCells: 3,
      credits: 6,
    });
  });

  test('a day counts as missing when none of the assets has it; each market-day that lacks is named', async () => {
    const { quote } = await resolve({ from: '2026-04-14', to: '2026-04-18' });
    expect(quote).toMatchObject({ requestedDays: 5, archivedDayCount: 4, missingDays: 1, marketDays: 5 });
    expect(quote.missing).toHaveLength(5);
  });

  test('days: the newest that have a markets file for the assets and intervals', async () => {
    expect(await short({ days: 2, assets: ['BTC'] })).toEqual(['BTC 5m 15', 'BTC 5m 17']);
    expect(await short({ days: 1 })).toEqual(['ETH 5m 18']);
    expect(await short({ days: 1 }, ['15m'])).toEqual(['BTC 15m 14']);
    const { quote } = await resolve({ days: 60 });
    expect(quote).toMatchObject({
      requestedDays: 60,
      archivedDayCount: 4,
      from: '2026-04-14',
      to: '2026-04-18',
    });
  });

  test('days reach back beyond a stretch of days without such a file', async () => {
    const day = (i: number) => dayText(Date.UTC(2026, 3, 1) + i * 86_400_000);
    const days = Array.from({ length: 60 }, (_, i) => [day(i), i % 25 === 3 ? ['BTC 5m'] : ['ETH 5m']]);
    const large = archiveOf(Object.fromEntries(days));
    const { marketDays } = await resolveScope(
      large,
      scope.parse({ days: 2, assets: ['BTC'] }),
      ['5m'],
      'market',
      1,
    );
    expect(marketDays.map(({ date }) => date)).toEqual([day(28), day(53)]);
  });

  test('a range is that many days', async () => {
    expect((await resolve({ range: '7 days' })).quote).toMatchObject({ requestedDays: 7, marketDays: 5 });
  });

  test('several intervals and an asset named twice', async () => {
    expect(
      await short({ from: '2026-04-14', to: '2026-04-14', assets: ['BTC', 'BTC'] }, ['15m', '5m']),
    ).toEqual(['BTC 15m 14', 'BTC 5m 14']);
  });
});

describe('a scope that can not be is refused, and told what there is instead', () => {
  const refused: [string, object, string[], string, RegExp | string][] = [
    [
      'an unknown asset',
      { assets: ['BTC', 'DOGE'] },
      ['5m'],
      'E_SCOPE',
      /no DOGE 5m markets of venue_a from 2026-04-14 to 2026-04-18: there it has BTC 15m, BTC 5m, ETH 5m/,
    ],
    [
      'days that are not archived',
      { from: '2026-05-01', to: '2026-05-02' },
      ['5m'],
      'E_SCOPE',
      /it has 2026-04-14 to 2026-04-15, 2026-04-17 to 2026-04-18$/,
    ],
    [
      'an interval that these days lack',
      { from: '2026-04-15', to: '2026-04-15' },
      ['15m'],
      'E_SCOPE',
      /no 15m markets of venue_a on 2026-04-15: there it has BTC 5m, ETH 5m/,
    ],
    ['an interval that the venue lacks', {}, ['1h'], 'E_SCOPE', 'venue_a has markets of 5m, 15m, not of 1h'],
    ['a venue without days', { venue: 'venue_b' }, ['5m'], 'E_SCOPE', 'the archive has no days of venue_b'],
    [
      'from after to',
      { from: '2026-04-15', to: '2026-04-14' },
      ['5m'],
      'E_SCOPE',
      /2026-04-15 is after to 2026-04-14/,
    ],
    ['from without to', { from: '2026-04-15' }, ['5m'], 'E_SCOPE', /from is given without to/],
    ['two ways at once', { days: 3, range: '7 days' }, ['5m'], 'E_SCOPE', /here are days and range/],
    [
      'another number of cells',
      { sweep_cells: 2 },
      ['5m'],
      'E_SCOPE',
      /sweep_cells is 2, but .* has 1 cells/,
    ],
    ['too many days', { days: 93 }, ['5m'], 'E_LIMIT', 'a scope has at most 92 days, this one has 93'],
    ['too long a time', { from: '2026-01-01', to: '2026-04-03' }, ['5m'], 'E_LIMIT', /this one has 93/],
  ];
  for (const [name, source, intervals, code, message] of refused) {
    test(name, async () => {
      const error = await resolve(source, intervals).catch((thrown) => thrown);
      expect(error).toMatchObject({ name: 'Rejection', code });
      expect(error.message).toMatch(message);
    });
  }

  test('nothing given, where the archive has too many days to mean all of them', async () => {
    const days = Array.from({ length: 93 }, (_, i) => [dayText(Date.UTC(2026, 0, 1 + i)), ['BTC 5m']]);
    const large = archiveOf(Object.fromEntries(days));
    await expect(resolveScope(large, scope.parse({}), ['5m'], 'market', 1)).rejects.toThrow(
      /has 93 days of venue_a, 2026-01-01 to 2026-04-03: say which/,
    );
  });
});

test('datasets that the archive lacks are all named, with their days', async () => {
  const dates = ['2026-04-14', '2026-04-15', '2026-04-17'];
  const prices = { dataset: 'prices', asset: 'BTC', interval: null, dates } as const;
  const markets = { dataset: 'markets', asset: 'BTC', interval: '5m', dates } as const;
  const book = { dataset: 'book', asset: 'ETH', interval: '5m', dates: ['2026-04-18'] } as const;
  await coverage(archive, 'venue_a', [markets, { ...prices, dates: ['2026-04-17', '2026-04-18'] }]);
  await expect(coverage(archive, 'venue_a', [markets, prices, book])).rejects.toMatchObject({
    code: 'E_COVERAGE',
    message: 'the archive of venue_a lacks BTC prices on 2026-04-14 to 2026-04-15; ETH book 5m on 2026-04-18',
  });
});
