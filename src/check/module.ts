import type { SourceFile } from '../../contract/source.ts';

/** What the rules about a strategy need to know of a source file, the same for both languages. */
export interface Module {
  readonly file: SourceFile;
  /** Names that others may ask this file for, and what stands behind each. */
  readonly bindings: ReadonlyMap<string, Binding>;
  /** Files whose names are all taken over (`from x import *`, `export * from`). */
  readonly stars: readonly string[];
}

export type Binding =
  | { readonly kind: 'class'; readonly class: Class }
  /** Another name of this file, perhaps of a module it imports: `Base`, `models.Base`. */
  | { readonly kind: 'alias'; readonly path: readonly string[] }
  /** A name of another file of the strategy; null: that file as a whole. */
  | { readonly kind: 'import'; readonly file: string; readonly name: string | null }
  /** Certainly no class. */
  | { readonly kind: 'function'; readonly at: number }
  /** From outside of the strategy: has no hooks. */
  | { readonly kind: 'outside' }
  /** Made when the file runs: it may be anything. */
  | { readonly kind: 'unknown' };

export interface Class {
  readonly name: string;
  readonly at: number;
  readonly methods: readonly Method[];
  /** Classes it inherits from; null for one that is known only when the file runs. */
  readonly bases: readonly (readonly string[] | null)[];
  /** Whether more methods may be added when the file runs. */
  readonly open: boolean;
}

export interface Method {
  readonly name: string;
  readonly at: number;
  /** Why it cannot be a hook, as the end of a sentence: `is async`. */
  readonly flaw: string | null;
  /** How many values it takes, without self; null where that is not known. */
  readonly takes: { readonly least: number; readonly most: number } | null;
}

export type Found =
  | { readonly kind: 'class'; readonly class: Class; readonly module: Module }
  | { readonly kind: 'function'; readonly at: number; readonly module: Module }
  | { readonly kind: 'outside' | 'unknown' | 'missing' };

export type Modules = ReadonlyMap<string, Module>;

const MOST_STEPS = 200;

/** Follows a name through aliases and imports of sibling files to what stands behind it. */
export function find(
  modules: Modules,
  file: string,
  path: readonly string[],
  seen: Set<string> = new Set(),
): Found {
  const module = modules.get(file);
  const key = JSON.stringify([file, ...path]);
  if (module === undefined || seen.has(key) || seen.size > MOST_STEPS) return { kind: 'unknown' };
  seen.add(key);
  const [name, ...rest] = path;
  const binding = module.bindings.get(name!);
  if (binding === undefined) {
    for (const star of module.stars) {
      if (seen.has(JSON.stringify([star, ...path]))) continue;
      const found = find(modules, star, path, seen);
      if (found.kind !== 'missing') return found;
    }
    return { kind: 'missing' };
  }
  if (binding.kind === 'alias') return find(modules, file, [...binding.path, ...rest], seen);
  if (binding.kind === 'import') {
    const inner = binding.name === null ? rest : [binding.name, ...rest];
    return inner.length === 0 ? { kind: 'unknown' } : find(modules, binding.file, inner, seen);
  }
  if (binding.kind === 'outside') return binding;
  if (rest.length > 0) return { kind: 'unknown' };
  return binding.kind === 'unknown' ? binding : { ...binding, module };
}

export interface Placed {
  readonly method: Method;
  readonly module: Module;
}

/** All methods of a class, inherited ones included, by name; `open` when there may be more. */
export function methodsOf(
  modules: Modules,
  start: Class,
  home: Module,
): { methods: Map<string, Placed>; open: boolean } {
  const methods = new Map<string, Placed>();
  const seen = new Set<Class>();
  let open = false;
  const queue: { one: Class; module: Module }[] = [{ one: start, module: home }];
  for (const { one, module } of queue) {
    if (seen.has(one)) continue;
    seen.add(one);
    open ||= one.open;
    for (const method of one.methods)
      if (!methods.has(method.name)) methods.set(method.name, { method, module });
    for (const base of one.bases) {
      const found: Found = base === null ? { kind: 'unknown' } : find(modules, module.file.name, base);
      if (found.kind === 'class') queue.push({ one: found.class, module: found.module });
      else if (found.kind === 'unknown' || found.kind === 'function') open = true;
    }
  }
  return { methods, open };
}
