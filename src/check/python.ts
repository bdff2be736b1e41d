import type { Manifest } from '../../contract/manifest.ts';
import { Rejection } from '../../contract/rejection.ts';
import type { SourceFile } from '../../contract/source.ts';
import { pythonLibrary, pythonPackages } from './boxed.ts';
import type { Module } from './module.ts';
import { readBlocks } from './pyblocks.ts';
import { checkGrammar } from './pygrammar.ts';
import { lexPython } from './pylex.ts';
import { type Import, importsOf, readModule } from './pymodule.ts';
import { checkStrategy, type Dialect } from './strategy.ts';
import { didYouMean, place } from './text.ts';

const dialect: Dialect = {
  entries: ['Strategy'],
  howToEnter: 'define class Strategy at the top level of the entry.',
  nameOf: (hook) => hook.python,
  isHookName: /^on(_|[A-Z])/,
  write: (name, values) => `def ${name}(${['self', ...values].join(', ')}).`,
};

/**
 * Checks the Python files of a strategy. Returns the hooks and the modules from outside.
 * Throws `Rejection`: E_SYNTAX, E_ENTRY, E_HOOK, E_IMPORT.
 */
export function checkPython(
  files: readonly SourceFile[],
  manifest: Manifest,
): { hooks: string[]; imports: string[] } {
  const sources = files.filter(({ name }) => name.endsWith('.py'));
  const names = sources.map(({ name }) => name);
  const home = folderOf(manifest.entry);
  const modules = new Map<string, Module>();
  const imports: { file: SourceFile; one: Import }[] = [];
  for (const file of sources) {
    const lines = lexPython(file);
    const blocks = readBlocks(file, lines);
    checkGrammar(file, lines, blocks);
    const resolve = (path: readonly string[], level: number): string | null =>
      fileOf(path, level === 0 ? [home, ''] : [folderOf(file.name)], names);
    modules.set(file.name, readModule(file, blocks, resolve));
    imports.push(...importsOf(blocks).map((one) => ({ file, one })));
  }
  const hooks = checkStrategy(modules, manifest, dialect);
  const outside = imports.flatMap(({ file, one }) => checkImport(file, one, home, names) ?? []);
  return { hooks, imports: [...new Set(outside)].sort() };
}

/** The folder of a file with its slash; empty for the strategy's own. */
const folderOf = (name: string): string => name.slice(0, name.indexOf('/') + 1);

/** The file that a module's name leads to from the first of some folders that has it; null where none does. */
function fileOf(
  path: readonly string[],
  folders: readonly string[],
  names: readonly string[],
): string | null {
  const stems = folders.map((folder) => `${folder}${path.join('/')}`);
  return (
    stems.flatMap((stem) => [`${stem}/__init__.py`, `${stem}.py`]).find((name) => names.includes(name)) ??
    null
  );
}

/** The first name of a module from outside, or null for one of the strategy's own. */
function checkImport(file: SourceFile, one: Import, home: string, names: readonly string[]): string | null {
  const { path, level, optional } = one;
  const fail = (message: string): null => {
    if (optional) return null;
    throw new Rejection('E_IMPORT', `${place(file.name, file.content, one.at)}: ${message}`);
  };
  const folder = folderOf(file.name);
  const first = path[0];
  if (level > 1 || (level === 1 && folder === '')) {
    const plain =
      first === undefined ? `import ${one.names?.join(', ')}` : `from ${path.join('.')} import ...`;
    return fail(`a relative import leads out of the strategy; write ${plain}`);
  }
  if (level === 1) return checkOwn(one, [folder], names, fail);
  const isOwn = [home, ''].some((root) =>
    names.some((name) => name === `${root}${first}.py` || name.startsWith(`${root}${first}/`)),
  );
  if (isOwn) return checkOwn(one, [home, ''], names, fail);
  if (pythonLibrary.has(first!) || pythonPackages.has(first!) || first!.startsWith('_')) return first!;
  if (names.includes(`${folder}${first}.py`))
    return fail(`${first} lies in the same folder; write from . import ${first}`);
  const own = names.map((name) => name.split('/')[0]!.replace(/\.py$/, ''));
  const hint = didYouMean(first!, [...pythonPackages, ...own, ...pythonLibrary]);
  return fail(
    `there is no module ${first}.${hint} A strategy has its own files, the standard library of Python 3.14, numpy, pandas, scipy and pyarrow.`,
  );
}

/** Refuses an import of a file of the strategy that is not there. */
function checkOwn(
  { path, names: wanted }: Import,
  folders: readonly string[],
  names: readonly string[],
  fail: (message: string) => null,
): null {
  if (path.length > 0 && fileOf(path, folders, names) !== null) return null;
  const stems = folders.map((folder) => [...(folder === '' ? [] : [folder.slice(0, -1)]), ...path].join('/'));
  const stem = stems.find((one) => names.some((name) => name.startsWith(`${one}/`)));
  const missing = (name: string): null => fail(`there is no file ${name}.${didYouMean(name, names)}`);
  if (stem === undefined) return missing(`${stems.at(-1)}.py`);
  if (names.includes(`${stem}/__init__.py`)) return null;
  const absent = wanted?.find((name) => name !== '*' && !names.includes(`${stem}/${name}.py`));
  return absent === undefined ? null : missing(`${stem}/${absent}.py`);
}
