import { lstat, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lives, owner } from './owner.ts';

const PREFIX = 'box-';
/** Says whose a folder is; out of reach of the box, which sees a folder further down. */
const OWNER = 'owner';

/** Makes a folder for a box, or for `what` comes of boxes, under `temp`, which must exist. Closed to other users of this machine. */
export async function makeFolder(temp: string, what = ''): Promise<string> {
  const folder = await mkdtemp(join(temp, PREFIX + what));
  await writeFile(join(folder, OWNER), owner());
  return folder;
}

export async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** Removes the folders under `temp` that processes of this user left behind when they were killed. */
export async function sweepFolders(temp: string): Promise<void> {
  const names = (await readdir(temp)).filter((name) => name.startsWith(PREFIX));
  const sweep = async (folder: string) => {
    const found = await lstat(folder);
    if (!found.isDirectory() || found.uid !== process.getuid?.()) return;
    if (lives(await readFile(join(folder, OWNER), 'utf8')) === false) await removeFolder(folder);
  };
  // One that cannot be read is being made or removed by somebody else.
  await Promise.allSettled(names.map((name) => sweep(join(temp, name))));
}
