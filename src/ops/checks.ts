import { mkdir, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LIMITS, languages, venues } from '../../contract/index.ts';
import { connect } from '../compose.ts';
import type { Config } from '../config.ts';
import { engine } from '../sandbox/call.ts';
import { resolveImage } from '../sandbox/images.ts';
import { canaries } from '../sandbox/preflight.ts';
import type { Opening } from './parts.ts';
import type { Check } from './preflight.ts';

/** A staged day takes about a third of this. */
const FREE_BYTES = 1e9;

/** What must hold before a service is what it says it is. */
export function checksFor(
  config: Config,
  parts: Opening,
  does: { readonly work: boolean; readonly api: boolean },
): Check[] {
  // Without a queue, store or archive an api answers most of what it is asked; all of its copies would fall at once.
  const checks: Check[] = [
    { name: 'database', needed: true, run: () => database(parts) },
    { name: 'queue', needed: does.work, run: async () => (await parts.get('queue')).probe() },
    { name: 'store', needed: does.work, run: async () => (await parts.get('store')).probe() },
    { name: 'archive', needed: does.work, run: () => archive(parts) },
  ];
  if (does.work) checks.push({ name: 'cache', needed: true, run: () => cache(config) });
  if (!does.work || config.sandbox === 'process') return checks;
  const proven = new Set<string>();
  return [
    ...checks,
    { name: 'docker', needed: true, run: async () => void (await connect(config)) },
    ...languages.map((language) => ({
      name: `image ${language}`,
      needed: true,
      run: async () => void (await resolveImage(await connect(config), language)),
    })),
    { name: 'sandbox', needed: true, run: () => sandbox(config, proven) },
  ];
}

/** Its schema was brought up when it was opened; one that was replaced since by an empty one shows here. */
async function database(parts: Opening): Promise<void> {
  await (await parts.get('db')).query('select name from migration limit 1');
}

async function archive(parts: Opening): Promise<void> {
  const opened = await parts.get('archive');
  const days = await Promise.all(venues.map((venue) => opened.days(venue, AbortSignal.timeout(10_000))));
  if (days.every((of) => of.length === 0))
    throw new Error(`The archive at ${opened.location} holds no days. Is BACKTEST_ARCHIVE right?`);
}

/** A worker that cannot stage would fail every run that it takes. */
async function cache({ cache_folder }: Config): Promise<void> {
  const probe = join(cache_folder, `.probe-${process.pid}`);
  try {
    await mkdir(cache_folder, { recursive: true });
    await writeFile(probe, 'probe');
    await rm(probe);
  } catch (error) {
    const why = (error as Error).message;
    throw new Error(
      `The cache cannot be written to: ${why}. Mend that, or set BACKTEST_CACHE to another folder.`,
    );
  }
  const { bavail, bsize } = await statfs(cache_folder);
  if (bavail * bsize < FREE_BYTES)
    throw new Error(`The disk of the cache at ${cache_folder} is full. Make room there.`);
}

/** That boxes hold what is inside of them is tried once for each engine, kernel and image. */
async function sandbox(config: Config, proven: Set<string>): Promise<void> {
  const docker = await connect(config);
  const { id } = await resolveImage(docker, 'python@3.14');
  const { ID, ServerVersion, KernelVersion } = await engine('describe itself', () => docker.info());
  const key = [ID, ServerVersion, KernelVersion, id].join(' ');
  if (proven.has(key)) return;
  const problems = await canaries(docker, id, { temp: config.temp_folder, limits: LIMITS });
  if (problems.length > 0) throw new Error(`Boxes are not safe here: ${problems.join('; ')}.`);
  proven.add(key);
}
