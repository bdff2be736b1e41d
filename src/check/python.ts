import type { Manifest } from '../../contract/manifest.ts';
import { Rejection } from '../../contract/rejection.ts';
import type { SourceFile } from '../../contract/source.ts';
import { pythonCompanions, pythonLibrary, pythonPackages } from './boxed.ts';
import type { Module } from './module.ts';
import { readBlocks } from './pyblocks.ts';
import { checkGrammar } from './pygrammar.ts';
import { lexPython } from './pylex.ts';
import { type Import, importsOf, readModule } from './pymodule.ts';
import { checkStrategy, type Dialect } from './strategy.ts';
import { didYouMean, orList, place } from './text.ts';

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
  const names = new Set(sources.map(({ name }) => name));
  const modules = new Map<string, Module>();
  const imports: { file: SourceFile; one: Import }[] = [];
  for (const file of sources) {
    const lines = lexPython(file);
    const blocks = readBlocks(file, lines);
    checkGrammar(file, lines, blocks);
    const resolve = (path: readonly string[], level: number) => ({
      file: fileOf(path, level, file.name, names),
    });
    modules.set(file.name, readModule(file, blocks, resolve));
    imports.push(...importsOf(blocks).map((one) => ({ file, one })));
  }
  const hooks = checkStrategy(modules, manifest, dialect);
  const outside = imports.flatMap(({ file, one }) => checkImport(file, one, names) ?? []);
  return { hooks, imports: [...new Set(outside)].sort() };
}

/** The file of the strategy that a module's name leads to; null where there is none. */
function fileOf(
  path: readonly string[],
  level: number,
  from: string,
  names: ReadonlySet<string>,
): string | null {
  const folder = level === 0 ? [] : from.split('/').slice(0, -1);
  const stem = [...folder, ...path].join('/');
  return [`${stem}.py`, `${stem}/__init__.py`].find((name) => names.has(name)) ?? null;
}

/** The first name of a module from outside, or null for one of the strategy's own. */
function checkImport(file: SourceFile, one: Import, names: ReadonlySet<string>): string | null {
  const { path, level, optional } = one;
  const fail = (message: string): null => {
    if (optional) return null;
    throw new Rejection('E_IMPORT', `${place(file.name, file.content, one.at)}: ${message}`);
  };
  const written = `${'.'.repeat(level)}${path.join('.')}`;
  const folder = file.name.includes('/') ? file.name.split('/')[0]! : null;
  if (level > 0) {
    if (folder === null || level > 1) {
      const plain =
        one.path.length > 0 ? `from ${path.join('.')} import ...` : `import ${one.names?.join(', ')}`;
      return fail(`a relative import leads out of the strategy; write ${plain}`);
    }
    return checkOwn([folder, ...path], written, one, names, fail);
  }
  const first = path[0]!;
  if (isOwn(first, names)) return checkOwn(path, written, one, names, fail);
  if (pythonLibrary.has(first) || first.startsWith('_')) return first;
  if ((pythonPackages as readonly string[]).includes(first) || pythonCompanions.has(first)) return first;
  if (folder !== null && names.has(`${folder}/${first}.py`))
    return fail(`${first} lies in the same folder; write from . import ${first}`);
  const own = [...names].map((name) => name.replace(/\.py$/, '').split('/')[0]!);
  const hint = didYouMean(first, [...pythonPackages, ...own, ...pythonLibrary]);
  return fail(
    `there is no module ${first}.${hint} A strategy has its own files, the standard library of Python 3.14, ${orList(pythonPackages, 'and')}.`,
  );
}

const isOwn = (first: string, names: ReadonlySet<string>): boolean =>
  names.has(`${first}.py`) || [...names].some((name) => name.startsWith(`${first}/`));

/** Refuses an import of a file of the strategy that is not there. */
function checkOwn(
  path: readonly string[],
  written: string,
  { names: wanted }: Import,
  names: ReadonlySet<string>,
  fail: (message: string) => null,
): null {
  const stem = path.join('/');
  if (names.has(`${stem}.py`) || names.has(`${stem}/__init__.py`)) return null;
  const isFolder = path.length === 1 && [...names].some((name) => name.startsWith(`${stem}/`));
  if (!isFolder)
    return fail(`there is no file ${stem}.py for ${written}.${didYouMean(`${stem}.py`, [...names])}`);
  const missing = (wanted ?? []).find((name) => name !== '*' && !names.has(`${stem}/${name}.py`));
  return missing === undefined
    ? null
    : fail(`the folder ${stem} has no file ${missing}.py.${didYouMean(`${stem}/${missing}.py`, [...names])}`);
}
