import { posix } from 'node:path';
import type { Manifest } from '../../contract/manifest.ts';
import { Rejection } from '../../contract/rejection.ts';
import type { SourceFile } from '../../contract/source.ts';
import { nodeLibrary, nodePrefixed, nodeSubmodules } from './boxed.ts';
import { exported, readModule } from './jsmodule.ts';
import { type Import, parseSource } from './jssyntax.ts';
import { suffixes } from './manifest.ts';
import type { Module } from './module.ts';
import { checkStrategy, type Dialect } from './strategy.ts';
import { didYouMean, place, shown } from './text.ts';

const dialect: Dialect = {
  entries: [exported('Strategy'), exported('default')],
  howToEnter: 'write export class Strategy; in a .cjs file, module.exports = { Strategy }.',
  nameOf: (hook) => hook.node,
  isHookName: /^on(_|[A-Z])/,
  write: (name, values) => `${name}(${values.join(', ')}) { ... }`,
};

/**
 * Checks the JavaScript and TypeScript files of a strategy. Returns the hooks and the modules from outside.
 * Throws `Rejection`: E_SYNTAX, E_ENTRY, E_HOOK, E_IMPORT. To be called where a crash of the parser harms nobody.
 */
export function checkNode(
  files: readonly SourceFile[],
  manifest: Manifest,
  reading: (file: string) => void,
): { hooks: string[]; imports: string[] } {
  const names = new Set(files.map(({ name }) => name));
  const modules = new Map<string, Module>();
  const imports: { file: SourceFile; one: Import }[] = [];
  for (const file of files) {
    if (!suffixes['nodejs@24'].some((suffix) => file.name.endsWith(suffix)) || /\.d\.m?ts$/.test(file.name))
      continue;
    reading(file.name);
    const parsed = parseSource(file);
    modules.set(
      file.name,
      readModule(file, parsed.program, (specifier) => ownFile(specifier, file.name, names)),
    );
    imports.push(...parsed.imports.map((one) => ({ file, one })));
  }
  const hooks = checkStrategy(modules, manifest, dialect);
  const outside = imports.flatMap(({ file, one }) => checkImport(file, one, names) ?? []);
  return { hooks, imports: [...new Set(outside)].sort() };
}

const isRelative = (specifier: string): boolean => /^\.{1,2}(\/|$)/.test(specifier);
const target = (specifier: string, from: string): string => posix.join(posix.dirname(from), specifier);

function ownFile(specifier: string, from: string, names: ReadonlySet<string>): string | null {
  return isRelative(specifier) && names.has(target(specifier, from)) ? target(specifier, from) : null;
}

/** A file that differs by nothing but its suffix. */
const namedAlike = (wanted: string, names: ReadonlySet<string>): string | undefined =>
  suffixes['nodejs@24']
    .map((suffix) => `${wanted.replace(/\.[cm]?[jt]s$/, '')}${suffix}`)
    .find((name) => names.has(name));

/** The name of a module from outside, with `node:`, or null for a file of the strategy's own. */
function checkImport(
  file: SourceFile,
  { at, specifier, optional }: Import,
  names: ReadonlySet<string>,
): string | null {
  const fail = (message: string): null => {
    if (optional) return null;
    throw new Rejection('E_IMPORT', `${place(file.name, file.content, at)}: ${message}`);
  };
  if (isRelative(specifier)) {
    if (ownFile(specifier, file.name, names) !== null) return null;
    const wanted = target(specifier, file.name);
    const same = namedAlike(wanted, names);
    const hint =
      same === undefined
        ? didYouMean(wanted, [...names])
        : ` Write the file's whole name, with ${posix.extname(same)}.`;
    return fail(`there is no file ${shown(wanted)}.${hint}`);
  }
  const bare = specifier.replace(/^node:/, '');
  const known =
    nodeLibrary.has(bare) || nodeSubmodules.has(bare) || (specifier !== bare && nodePrefixed.has(bare));
  if (known) return `node:${bare}`;
  if (nodePrefixed.has(bare)) return fail(`${bare} needs its prefix; write node:${bare}.`);
  if (/^(\/|file:)/.test(specifier))
    return fail(`${shown(specifier)} is absolute; write ./ and the name of the file.`);
  const own = namedAlike(bare, names);
  const hint = own === undefined ? didYouMean(bare, [...nodeLibrary]) : ` Did you mean ./${own}?`;
  return fail(
    `there is no package ${shown(specifier)}.${hint} A strategy has its own files and the standard library of Node.js 24.`,
  );
}
