// Stages a day in a process of its own: ARCHIVE VENUE DATE CACHE. Prints the rows of each file, or what went wrong.
import { openCache } from '../../src/archive/cache.ts';
import { openArchive } from '../../src/archive/catalogue.ts';
import { stageFile } from '../../src/archive/stage.ts';

const [location, venue, date, folder] = process.argv.slice(2);
try {
  const archive = openArchive(location);
  const day = await archive.day(venue as 'venue_a', date);
  const cache = await openCache(folder, 1e9);
  const staged = await Promise.all(day!.files.map((file) => stageFile(archive, file, cache)));
  console.log(JSON.stringify(staged.map(({ rows }) => rows.length)));
} catch (error) {
  console.log((error as Error).message);
}
