import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { venues } from '../../contract/index.ts';
import { openCache } from '../../src/archive/cache.ts';
import { openArchive } from '../../src/archive/catalogue.ts';
import { stageAll, tempFolder } from './support.ts';

/** How many rows a file keeps of those that its index lists, as `name: kept of listed`, where that is not all of them. */
async function lostRows(name: string): Promise<string[]> {
  const archive = openArchive(fileURLToPath(new URL(`../../fixtures/archive/${name}`, import.meta.url)));
  const cache = await openCache(tempFolder(), 1e9);
  const lost: string[] = [];
  let files = 0;
  for (const venue of venues) {
    for (const date of await archive.days(venue)) {
      const day = await archive.day(venue, date);
      const staged = await stageAll(archive, day!.files, cache);
      files += staged.length;
      staged.forEach(({ rows, name: file }, i) => {
        const listed = day!.files[i].rows;
        if (rows.length !== listed) lost.push(`${file}: ${rows.length} of ${listed}`);
      });
    }
  }
  expect(files).toBeGreaterThan(0);
  return lost;
}

test('every row of the recorded day is read', async () => {
  expect(await lostRows('real')).toEqual([]);
});

test('every row of the made-up days is read', { timeout: 60_000 }, async () => {
  expect(await lostRows('synthetic')).toEqual([]);
});
