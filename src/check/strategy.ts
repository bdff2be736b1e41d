import { type Hook, hooks } from '../../contract/hooks.ts';
import type { Manifest } from '../../contract/manifest.ts';
import { Rejection, type RejectionCode } from '../../contract/rejection.ts';
import { type Found, find, type Modules, methodsOf, type Placed } from './module.ts';
import { didYouMean, nearest, orList, place } from './text.ts';

/** How a language names the strategy's class and its hooks. */
export interface Dialect {
  /** The names by which the entry gives the class away, the first one found counts. */
  readonly entries: readonly string[];
  readonly howToEnter: string;
  readonly nameOf: (hook: Hook) => string;
  /** Whether a method looks like a hook. */
  readonly isHookName: RegExp;
  /** How to write a hook. */
  readonly write: (name: string, values: readonly string[]) => string;
}

/**
 * Finds the class Strategy in the entry and checks its hooks. Returns their names, in the order of `hooks`.
 * Throws `Rejection`: E_ENTRY, E_HOOK.
 */
export function checkStrategy(modules: Modules, manifest: Manifest, dialect: Dialect): string[] {
  const { entry } = manifest;
  const found = dialect.entries
    .map((name) => find(modules, entry, [name]))
    .find(({ kind }) => kind !== 'missing');
  if (found === undefined || found.kind === 'outside') throw missingClass(modules, entry, dialect);
  if (found.kind === 'function') {
    throw refuse('E_ENTRY', found, `Strategy is a function; ${dialect.howToEnter}`);
  }
  // A class that is made when the file runs shows its hooks only then.
  if (found.kind !== 'class') return [];
  const { methods, open } = methodsOf(modules, found.class, found.module);
  for (const placed of methods.values())
    if (dialect.isHookName.test(placed.method.name)) checkName(placed, dialect);
  const implemented = hooks.filter((hook) => methods.has(dialect.nameOf(hook)));
  for (const hook of implemented) checkHook(hook, methods.get(dialect.nameOf(hook))!, manifest, dialect);
  if (implemented.length === 0 && !open) {
    const names = orList(hooks.map(dialect.nameOf));
    throw refuse(
      'E_HOOK',
      { module: found.module, at: found.class.at },
      `class ${found.class.name} has no hook; implement at least one of ${names}.`,
    );
  }
  return implemented.map(dialect.nameOf);
}

function missingClass(modules: Modules, entry: string, dialect: Dialect): Rejection {
  const others = [...modules.keys()].filter(
    (name) => name !== entry && dialect.entries.some((one) => find(modules, name, [one]).kind === 'class'),
  );
  const names = [...(modules.get(entry)?.bindings.keys() ?? [])];
  const hint =
    others.length > 0
      ? `${orList(others)} has one; name that file as entry, or import it.`
      : `${dialect.howToEnter}${didYouMean('Strategy', names)}`;
  return new Rejection('E_ENTRY', `${entry}: there is no class Strategy here; ${hint}`);
}

function checkName({ method, module }: Placed, dialect: Dialect): void {
  const known = hooks.map(dialect.nameOf);
  if (known.includes(method.name)) return;
  const twin = hooks.find((hook) => hook.python === method.name || hook.node === method.name);
  const meant = twin !== undefined ? dialect.nameOf(twin) : nearest(method.name, known);
  const hint =
    meant === undefined
      ? `The hooks are ${orList(known, 'and')}; give a method of your own another name.`
      : `Did you mean ${meant}? A method of your own needs another name.`;
  throw refuse('E_HOOK', { module, at: method.at }, `${method.name} is no hook. ${hint}`);
}

function checkHook(hook: Hook, { method, module }: Placed, manifest: Manifest, dialect: Dialect): void {
  const where = { module, at: method.at };
  const values = ['ctx', ...(hook.event === null ? [] : [hook.event])];
  const how = `write ${dialect.write(method.name, values)}`;
  if (method.flaw !== null) throw refuse('E_HOOK', where, `${method.name} ${method.flaw}; ${how}`);
  const { takes } = method;
  if (takes !== null && (takes.least > values.length || takes.most < values.length)) {
    throw refuse('E_HOOK', where, `${method.name} is called with ${orList(values, 'and')}; ${how}`);
  }
  const declared = new Set<string>([...manifest.datasets, ...manifest.context.map(({ dataset }) => dataset)]);
  if (manifest.series.length > 0) declared.add('series');
  if (hook.needs.length === 0 || hook.needs.some((dataset) => declared.has(dataset))) return;
  const need =
    hook.needs[0] === 'series'
      ? 'a series; declare one under series'
      : `${orList(hook.needs)}; add ${hook.needs.length > 1 ? 'one' : 'it'} to datasets`;
  throw refuse('E_HOOK', where, `${method.name} would never be called: it needs ${need} in manifest.json.`);
}

function refuse(
  code: RejectionCode,
  { module, at }: Pick<Found & { kind: 'function' }, 'module' | 'at'>,
  message: string,
): Rejection {
  return new Rejection(code, `${place(module.file.name, module.file.content, at)}: ${message}`);
}
