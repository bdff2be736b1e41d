import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type Docker from 'dockerode';
import { type Language, languages } from '../../contract/index.ts';
import { first } from './box.ts';
import { engine, status } from './call.ts';
import { command } from './command.ts';
import { debianRelease, fetchOptions, installPackages, machineMirror } from './debian.ts';

type Log = (line: string) => void;

export interface BuildOptions {
  docker: Docker;
  log: Log;
}

/** The images of one language. Both tags are hashes of all that goes into them. */
export interface ImageRecipe {
  language: Language;
  /** Slow to make, rarely changes: language and libraries. */
  baseTag: string;
  /** What a run uses: the base and our harness. */
  tag: string;
  folder: 'python' | 'node';
  /** What each image is made from; paths relative to the recipe root. */
  baseFiles: string[];
  harnessFiles: string[];
}

const FOLDERS: Record<Language, ImageRecipe['folder']> = { 'python@3.14': 'python', 'nodejs@24': 'node' };
/** What a base is made from, beside what both languages share. Only Python has requirements. */
const BASE_FILES = ['base.Dockerfile', 'packages.txt', 'requirements.txt'];
/** An engine without a network says so at once; one behind a silent firewall would take half a minute. */
const PROBE_MS = 4_000;
const RECIPE_ROOT = findRecipeRoot();

/**
 * The image a run of this language uses; start containers by `id`, never by tag.
 * Throws when it was never built, or the harness has changed since.
 */
export async function resolveImage(docker: Docker, language: Language): Promise<{ id: string; tag: string }> {
  const { tag } = await imageRecipe(language);
  const id = await imageId(docker, tag);
  if (id) return { id, tag };
  throw new Error(`The sandbox image for ${language} is missing. Build it with: npx backtest images build`);
}

/** Builds what is missing of the sandbox images; a few milliseconds when nothing is. */
export async function ensureImages(options: BuildOptions): Promise<void> {
  const ensure = async (language: Language) => {
    const { tag } = await imageRecipe(language);
    if (!(await imageId(options.docker, tag))) await buildImage(language, options);
  };
  // Side by side: half of making a base is waiting for downloads.
  await Promise.all(languages.map(ensure));
}

/** Builds the sandbox images: the base where it is missing, the harness layer always. */
export async function buildImages(options: BuildOptions): Promise<void> {
  await Promise.all(languages.map((language) => buildImage(language, options)));
}

/** The names of a language's images and the files they are made from, under `root`. */
export async function imageRecipe(language: Language, root = RECIPE_ROOT): Promise<ImageRecipe> {
  const folder = FOLDERS[language];
  const harness = (
    await readdir(join(root, folder, 'harness'), { recursive: true, withFileTypes: true }).catch(() => [])
  )
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('__pycache__'))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort();
  if (harness.length === 0)
    throw new Error(`${join(root, folder, 'harness')} holds no files. Restore it with git.`);
  const own = BASE_FILES.map((name) => join(folder, name)).filter((path) => existsSync(join(root, path)));
  const harnessFiles = [join(folder, 'Dockerfile'), ...harness];
  const baseFiles = ['base.sh', 'debian.cfg', ...own];
  const baseTag = `backtest-fleet/${folder}-base:${await hashFiles(root, baseFiles)}`;
  const tag = `backtest-fleet/${folder}:${await hashFiles(root, harnessFiles, baseTag)}`;
  return { language, baseTag, tag, folder, baseFiles, harnessFiles };
}

async function buildImage(language: Language, { docker, log }: BuildOptions): Promise<void> {
  const recipe = await imageRecipe(language);
  const say: Log = (line) => log(`${language}: ${line}`);
  if (!(await imageId(docker, recipe.baseTag))) await buildBase(docker, recipe, say);
  const { folder, baseTag, tag, harnessFiles } = recipe;
  await dockerBuild(docker, harnessFiles, {
    t: tag,
    dockerfile: `${folder}/Dockerfile`,
    buildargs: { BASE: baseTag },
    networkmode: 'none',
  });
  say(`built ${tag}`);
}

/** From the language's official image where a registry has it for us, else from Debian packages. */
async function buildBase(docker: Docker, recipe: ImageRecipe, say: Log): Promise<void> {
  if (!(await officialAnswers(docker, recipe, say))) return debianBase(docker, recipe, say);
  try {
    await officialBase(docker, recipe, say);
  } catch (error) {
    if (!(await debianRelease())) throw error;
    say(`${(error as Error).message}; making it from Debian packages instead`);
    await debianBase(docker, recipe, say);
  }
}

/** Asks, by way of the engine and so through its proxy and mirrors, whether a registry has the official image. */
async function officialAnswers(docker: Docker, { folder }: ImageRecipe, say: Log): Promise<boolean> {
  const dockerfile = await readFile(join(RECIPE_ROOT, folder, 'base.Dockerfile'), 'utf8');
  const official = dockerfile.match(/^FROM (\S+)/m)![1]!;
  const known = docker
    .getImage(official)
    .distribution()
    .then(
      () => true,
      () => false,
    );
  if (await first([known], PROBE_MS)) return true;
  say(`no image registry has ${official} for us, making the base from Debian packages`);
  return false;
}

async function officialBase(
  docker: Docker,
  { folder, baseTag, baseFiles }: ImageRecipe,
  say: Log,
): Promise<void> {
  const dockerfile = `${folder}/base.Dockerfile`;
  say(`building the base from ${dockerfile}`);
  // The host's network: an engine started without a bridge has no other.
  await dockerBuild(docker, baseFiles, { t: baseTag, dockerfile, networkmode: 'host', pull: true });
}

/** A root file system of Debian packages, streamed into the engine as one layer. */
async function debianBase(docker: Docker, { folder, baseTag }: ImageRecipe, say: Log): Promise<void> {
  const release = await debianRelease();
  if (!release) {
    throw new Error(
      'No image registry can be reached, and making images from Debian packages takes a Debian machine.',
    );
  }
  if (!existsSync('/usr/bin/mmdebstrap')) await installPackages(['mmdebstrap'], say);
  const list = await readFile(join(RECIPE_ROOT, folder, 'packages.txt'), 'utf8');
  const packages = list.split('\n').filter((line) => line && !line.startsWith('#'));
  const mirror = await machineMirror(release);
  say(`making the base from Debian packages: ${packages.join(', ')}`);
  let id: string | undefined;
  // An archive that stands still serves us as well as a moving one, so its expiry date does not matter.
  const aptOptions = ['Acquire::Check-Valid-Until "false";', ...(await fetchOptions())];
  try {
    await command(
      'mmdebstrap',
      [
        '--variant=essential',
        '--format=tar',
        ...aptOptions.map((line) => `--aptopt=${line}`),
        `--dpkgopt=${join(RECIPE_ROOT, 'debian.cfg')}`,
        `--include=${packages.join(',')}`,
        `--customize-hook=sh '${join(RECIPE_ROOT, 'base.sh')}' "$1"`,
        'testing',
        '-',
        `deb ${mirror} testing main`,
      ],
      {
        onLine: (line) => {
          const step = line.match(/^I: ((?:downloading|extracting|installing|creating) .*?)\.*$/)?.[1];
          if (step) say(step);
        },
        stdout: async (tar) => {
          id = await lastStatus((await docker.importImage(tar)) as Readable);
        },
      },
    );
  } catch (error) {
    if (id) await docker.getImage(id).remove();
    throw error;
  }
  const [repo, tag] = baseTag.split(':') as [string, string];
  await docker.getImage(id!).tag({ repo, tag });
}

async function dockerBuild(docker: Docker, src: string[], options: Docker.ImageBuildOptions): Promise<void> {
  const context = { context: RECIPE_ROOT, src };
  await lastStatus((await docker.buildImage(context, { ...options, rm: true, forcerm: true })) as Readable);
}

/** Reads an engine's progress to its end; returns the last status, throws what it reports as an error. */
async function lastStatus(progress: Readable): Promise<string> {
  let status = '';
  let output = '';
  for await (const line of createInterface({ input: progress })) {
    const event = line ? JSON.parse(line) : {};
    output += event.stream ?? '';
    if (event.error) throw new Error([event.error, ...output.trim().split('\n').slice(-10)].join('\n'));
    status = event.status ?? status;
  }
  return status;
}

async function imageId(docker: Docker, tag: string): Promise<string | null> {
  const found = engine(`look for the image ${tag}`, () => docker.getImage(tag).inspect());
  return (await status(found, [404])) === 404 ? null : (await found).Id;
}

async function hashFiles(root: string, paths: string[], parent = ''): Promise<string> {
  const hash = createHash('sha256').update(parent);
  for (const path of paths) {
    const bytes = await readFile(join(root, path));
    hash.update(`\n${path} ${bytes.length}\n`).update(bytes);
  }
  return hash.digest('hex').slice(0, 16);
}

/** The package's sandbox-images folder, seen from src/ as from dist/. */
function findRecipeRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'sandbox-images')) && dirname(folder) !== folder) folder = dirname(folder);
  return join(folder, 'sandbox-images');
}
