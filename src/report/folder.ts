import { randomBytes } from 'node:crypto';
import { access, constants, mkdir, readdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { entryNames } from './entries.ts';

export const ARCHIVE = 'report.zip';

/**
 * Makes sure, before anything runs, that a report can go to `out`: a folder that is not there yet, is empty, or holds a
 * former report and nothing else, in a place that can be written to. Throws an Error that says what to do.
 */
export async function prepareOut(out: string): Promise<void> {
  await beside(out, (folder) => writeFile(join(folder, 'probe'), Buffer.alloc(4096)));
}

/** All or nothing: `fill` writes into a new folder, which then takes the place of `out`. Throws as `prepareOut` does. */
export async function replaceOut(out: string, fill: (folder: string) => Promise<void>): Promise<void> {
  await beside(out, async (folder, target) => {
    await fill(folder);
    await move(folder, target);
  });
}

/** Lends a folder beside `out`, on the same disk, and takes it away again. */
async function beside(out: string, use: (folder: string, target: string) => Promise<void>): Promise<void> {
  try {
    const target = await realpath(out).catch(() => resolve(out));
    await refuseForeign(target);
    await mkdir(dirname(target), { recursive: true });
    const folder = join(dirname(target), `.${basename(target)}-${randomBytes(6).toString('hex')}`);
    try {
      await mkdir(folder);
      await use(folder, target);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  } catch (error) {
    throw new Error(`Cannot write the report to ${out}: ${why(error)}`, { cause: error });
  }
}

/** Throws where something stands that a report must not replace. */
async function refuseForeign(target: string): Promise<void> {
  const found = await stat(target).catch(nothing);
  if (found === null) return;
  if (!found.isDirectory()) throw new Error('it is a file. Name a folder.');
  const names = await readdir(target);
  const foreign = names.find((name) => name !== ARCHIVE && !entryNames.includes(name));
  if (foreign !== undefined || (names.length > 0 && !names.includes('report.json'))) {
    throw new Error(
      `the folder is not empty, and not just a former report: it holds ${foreign ?? names[0]}. Name another folder.`,
    );
  }
  if (found.dev !== (await stat(dirname(target))).dev) {
    throw new Error('a mount point cannot be replaced. Name a folder inside of it.');
  }
  await access(target, constants.W_OK);
}

/** What stood there before goes only once the new folder is in its place. */
async function move(folder: string, target: string): Promise<void> {
  const former = `${folder}-former`;
  const replaced = (await rename(target, former).catch(nothing)) !== null;
  try {
    await rename(folder, target);
  } catch (error) {
    if (replaced) await rename(former, target);
    throw error;
  }
  await rm(former, { recursive: true, force: true });
}

function nothing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

function why(error: unknown): string {
  const { code, message = String(error) } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return 'the disk is full. Free some space, or name a folder on another disk.';
  }
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return 'no permission to write there. Name a folder of your own.';
  }
  return message;
}
