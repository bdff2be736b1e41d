// Stages a day in a process of its own: ARCHIVE VENUE DATE CACHE. Prints the rows of each file, or what went wrong.
import { openCache } from '../../src/archive/cache.ts';
import { openArchive } from '../../src/archive/catalogue.ts';
import { stageAll } from '../../src/archive/stage.ts';

const [location, venue, date, folder] = process.argv.slice(2);
try {
  const archive = openArchive(location);
  const day = await archive.day(venue as 'venue_a', date);
  const staged = await stageAll(archive, day!.files, await openCache(folder, 1e9));
  console.log(JSON.stringify(staged.map(({ rows }) => rows.length)));
} catch (error) {
  console.log((error as Error).message);
}
