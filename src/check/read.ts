import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { Limits } from '../../contract/limits.ts';
import { Rejection } from '../../contract/rejection.ts';
import type { SourceFile } from '../../contract/source.ts';
import { parseJson } from './json.ts';
import { MANIFEST } from './source.ts';
import { shown } from './text.ts';

/** What a strategy can run or load. Everything else in its folder - notes, data, notebooks - is not part of its source. */
const SOURCE = /\.(py|js|mjs|cjs|ts|mts|json)$/;
/** Files of the same suffixes that speak to editors and package managers only. */
const TOOLING =
  /^(.*\.d\.m?ts|package(-lock)?\.json|[jt]sconfig(\..*)?\.json|pyrightconfig\.json|biome\.json)$/;
const NOT_LOOKED_INTO = new Set(['__pycache__', 'node_modules', 'venv']);
/** Two more than are allowed, so that a file that lies too deep is named rather than overlooked. */
const DEPTH = 3;

/** A strategy's folder: its source as text, and where the series files lie that its manifest names. */
export interface SourceFolder {
  readonly files: SourceFile[];
  /** Path of each series file by its name in the manifest; those that do not exist are left out. */
  readonly series: Map<string, string>;
}

/**
 * Reads a strategy from a folder: its manifest, source files and JSON, but no dotfiles, caches, packages, type
 * declarations or configuration of editors. Throws `Rejection`: E_MANIFEST where the folder holds no strategy, E_LIMIT
 * for too much of it or links that leave it, E_SYNTAX for source that is not UTF-8.
 */
export async function readSource(folder: string, limits: Limits): Promise<SourceFolder> {
  const root = await realpath(folder).catch(() => null);
  if (root === null || !(await stat(root)).isDirectory())
    throw new Rejection('E_MANIFEST', `${folder}: there is no such folder.`);
  const names = await namesIn(root, '', limits);
  if (!names.includes(MANIFEST))
    throw new Rejection('E_MANIFEST', `${folder}: there is no ${MANIFEST} in this folder.`);
  const files: SourceFile[] = [];
  let total = 0;
  for (const name of names.sort()) {
    const path = await inside(root, name);
    total += (await stat(path)).size;
    if (total > limits.source_bytes) {
      throw new Rejection(
        'E_LIMIT',
        `${name}: more than ${limits.source_bytes} bytes of source with this file. Data belongs in a series.`,
      );
    }
    files.push({ name, content: decode(name, await readFile(path)) });
  }
  return { files, series: await locateSeries(root, files.find(({ name }) => name === MANIFEST)!.content) };
}

async function namesIn(root: string, folder: string, limits: Limits): Promise<string[]> {
  const names: string[] = [];
  for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
    if (entry.name.startsWith('.') || NOT_LOOKED_INTO.has(entry.name)) continue;
    const name = `${folder}${entry.name}`;
    const wanted = SOURCE.test(entry.name) && !TOOLING.test(entry.name);
    if (!wanted && !entry.isDirectory() && !entry.isSymbolicLink()) continue;
    const info = entry.isSymbolicLink() ? await stat(await inside(root, name)) : entry;
    if (info.isDirectory()) {
      if (name.split('/').length < DEPTH) names.push(...(await namesIn(root, `${name}/`, limits)));
    } else if (wanted && info.isFile()) names.push(name);
    if (names.length > limits.files) {
      throw new Rejection(
        'E_LIMIT',
        `${root}: more than ${limits.files} source files. Move what the strategy does not use out of its folder.`,
      );
    }
  }
  return names;
}

/** The real path of a file of the folder; refuses a link that leaves it. */
async function inside(root: string, name: string): Promise<string> {
  const path = await realpath(join(root, name)).catch(() => null);
  if (path === null) throw new Rejection('E_LIMIT', `${name}: this link leads nowhere; remove it.`);
  if (path !== root && !path.startsWith(root + sep)) {
    throw new Rejection('E_LIMIT', `${name}: this link leaves the strategy folder; copy the file into it.`);
  }
  return path;
}

function decode(name: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Rejection('E_SYNTAX', `${name}: not UTF-8 text; save it as UTF-8.`);
  }
}

/** Series files named by a manifest, which may still be wrong in every way: it is checked later. */
async function locateSeries(root: string, manifest: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  let named: unknown = [];
  try {
    named = (parseJson(manifest).value as { series?: unknown }).series;
  } catch {
    return found;
  }
  for (const one of Array.isArray(named) ? named : []) {
    const file: unknown = one?.file;
    if (typeof file !== 'string' || file.includes('\0')) continue;
    if (file.split(/[\\/]/).includes('..'))
      throw new Rejection('E_LIMIT', `series file ${shown(file)} leaves the strategy folder.`);
    const exists = await stat(join(root, file)).catch(() => null);
    if (exists?.isFile()) found.set(file, await inside(root, file));
  }
  return found;
}
