import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Mistake } from './failure.ts';

export type TemplateLanguage = 'python' | 'node';

/** Beside this file when it runs from source; the build leaves them where they are. */
const beside = new URL('./templates/', import.meta.url);
const templates = existsSync(beside) ? beside : new URL('../../../src/cli/templates/', import.meta.url);

/**
 * Writes a strategy that runs as it is, with types for editors, into `dir`: a new or an empty folder. Returns the paths
 * of its files. Throws a Mistake for a folder that holds something; whatever fails, no half of it is left behind.
 */
export async function init(dir: string, language: TemplateLanguage): Promise<string[]> {
  const made = await emptyFolder(dir);
  const from = fileURLToPath(new URL(`${language}/`, templates));
  const written: string[] = [];
  try {
    for (const name of (await readdir(from)).sort()) {
      const text = await readFile(join(from, name), 'utf8');
      const path = join(dir, name);
      await writeFile(path, name === 'manifest.json' ? text.replace('my-strategy', nameFor(dir)) : text, {
        flag: 'wx',
      });
      written.push(path);
    }
    return written;
  } catch (error) {
    for (const path of written) await rm(path, { force: true });
    if (made) await rmdir(dir).catch(() => {});
    throw error;
  }
}

/** True when the folder had to be made. */
async function emptyFolder(dir: string): Promise<boolean> {
  const held = await readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    if (error.code === 'ENOTDIR') throw new Mistake(`${dir} is a file. Name a new folder.`);
    throw error;
  });
  if (held === null) {
    await mkdir(dir, { recursive: true });
    return true;
  }
  if (held.length > 0)
    throw new Mistake(`${dir} is not empty: it holds ${held[0]}. Name a new folder, or empty this one.`);
  return false;
}

/** The folder's name as a manifest allows it. */
function nameFor(dir: string): string {
  const name = basename(resolve(dir))
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 64)
    .replace(/^-|-$/g, '');
  return name || 'my-strategy';
}
