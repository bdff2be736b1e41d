import type { Class as ClassNode, Expression, Node, Program, Statement } from 'oxc-parser';
import type { SourceFile } from '../../contract/source.ts';
import type { Binding, Class, Method, Module } from './module.ts';

/** The name under which a file gives something to others; names without it are the file's own. */
export const exported = (name: string): string => `export ${name}`;

/** The file that a module's specifier leads to; null for one from outside or one that is missing. */
export type Resolve = (specifier: string) => string | null;

/** Reads what a JavaScript or TypeScript file defines and gives away at its top level. */
export function readModule(file: SourceFile, program: Program, resolve: Resolve): Module {
  const bindings = new Map<string, Binding>();
  const stars: string[] = [];
  const set = (name: string, binding: Binding): void => void bindings.set(name, binding);
  const give = (name: string, own: string): void => set(exported(name), { kind: 'alias', path: [own] });
  const taken = (specifier: string, name: string | null): Binding => {
    const origin = resolve(specifier);
    return origin === null
      ? { kind: 'outside' }
      : { kind: 'import', file: origin, name: name === null ? null : exported(name) };
  };

  const read = (node: Statement): void => {
    switch (node.type) {
      case 'ClassDeclaration':
        if (node.id !== null) set(node.id.name, { kind: 'class', class: readClass(node) });
        return;
      case 'FunctionDeclaration':
        if (node.id !== null) set(node.id.name, { kind: 'function', at: node.id.start });
        return;
      case 'VariableDeclaration':
        for (const { id, init } of node.declarations) {
          const wanted = requiredOf(init);
          if (id.type === 'Identifier')
            set(id.name, wanted !== null ? taken(wanted, null) : assigned(init, id.name));
          else if (id.type === 'ObjectPattern' && wanted !== null) {
            for (const one of id.properties) {
              if (one.type !== 'Property' || one.value.type !== 'Identifier') continue;
              const name = keyOf(one.key, one.computed);
              if (name !== null) set(one.value.name, taken(wanted, name));
            }
          }
        }
        return;
      case 'ImportDeclaration':
        for (const one of node.specifiers) {
          const name =
            one.type === 'ImportSpecifier'
              ? nameOf(one.imported)
              : one.type === 'ImportDefaultSpecifier'
                ? 'default'
                : null;
          set(one.local.name, taken(node.source.value, name));
        }
        return;
      case 'ExportNamedDeclaration':
        if (node.declaration !== null) {
          const before = new Set(bindings.keys());
          read(node.declaration);
          for (const name of [...bindings.keys()]) if (!before.has(name)) give(name, name);
        }
        for (const { local, exported: given } of node.specifiers) {
          if (node.source === null) give(nameOf(given), nameOf(local));
          else set(exported(nameOf(given)), taken(node.source.value, nameOf(local)));
        }
        return;
      case 'ExportDefaultDeclaration':
        set(exported('default'), defaultOf(node.declaration));
        return;
      case 'ExportAllDeclaration': {
        const origin = resolve(node.source.value);
        if (origin !== null && node.exported === null) stars.push(origin);
        return;
      }
      case 'ExpressionStatement':
        commonExport(node.expression, file, set);
        return;
    }
  };
  for (const node of program.body) read(node);
  openPatched(program, file, bindings);
  return { file, bindings, stars };
}

/** A class that a statement of the file names beside its definition may be given more methods there. */
function openPatched(program: Program, { content }: SourceFile, bindings: Map<string, Binding>): void {
  for (const node of program.body) {
    if (node.type !== 'ExpressionStatement') continue;
    for (const [name, binding] of bindings) {
      if (binding.kind !== 'class' || !content.slice(node.start, node.end).includes(`${name}.prototype`))
        continue;
      bindings.set(name, { kind: 'class', class: { ...binding.class, open: true } });
    }
  }
}

/** `module.exports = { Strategy }`, `module.exports = Strategy`, `exports.Strategy = Strategy`. */
function commonExport(
  node: Expression,
  file: SourceFile,
  set: (name: string, binding: Binding) => void,
): void {
  if (
    !file.name.endsWith('.cjs') ||
    node.type !== 'AssignmentExpression' ||
    node.left.type !== 'MemberExpression'
  )
    return;
  const target = dotted(node.left);
  if (target === null) return;
  const path = target[0] === 'module' ? target.slice(1) : target;
  if (path[0] !== 'exports') return;
  if (path.length === 2) set(exported(path[1]!), assigned(node.right, path[1]!));
  if (path.length !== 1) return;
  set(exported('default'), assigned(node.right, 'default'));
  if (node.right.type !== 'ObjectExpression') return;
  for (const one of node.right.properties) {
    const name = one.type === 'Property' ? keyOf(one.key, one.computed) : null;
    if (one.type === 'Property' && name !== null) set(exported(name), assigned(one.value, name));
  }
}

function defaultOf(node: Node): Binding {
  if (node.type === 'ClassDeclaration') return { kind: 'class', class: readClass(node) };
  if (node.type === 'FunctionDeclaration') return { kind: 'function', at: node.start };
  return assigned(node, 'default');
}

function assigned(node: Node | null, name: string): Binding {
  if (node?.type === 'ClassExpression') return { kind: 'class', class: { ...readClass(node), name } };
  if (node?.type === 'ArrowFunctionExpression' || node?.type === 'FunctionExpression')
    return { kind: 'function', at: node.start };
  const path = node === null ? null : dotted(node);
  return path === null ? { kind: 'unknown' } : { kind: 'alias', path };
}

/** `a.b.C` as its names; null for any other expression. */
function dotted(node: Node): string[] | null {
  const path: string[] = [];
  let inner = node;
  while (inner.type === 'MemberExpression' && !inner.computed && inner.property.type === 'Identifier') {
    path.unshift(inner.property.name);
    inner = inner.object;
  }
  return inner.type === 'Identifier' ? [inner.name, ...path] : null;
}

/** The literal that a call of require names; null for any other expression. */
export function requiredOf(node: Node | null): string | null {
  if (node?.type !== 'CallExpression' || node.callee.type !== 'Identifier' || node.callee.name !== 'require')
    return null;
  const [only] = node.arguments;
  return only?.type === 'Literal' && typeof only.value === 'string' ? only.value : null;
}

const nameOf = (node: Node): string =>
  node.type === 'Literal' ? String(node.value) : (node as { name: string }).name;

function keyOf(key: Node, computed: boolean): string | null {
  if (key.type === 'Literal' && typeof key.value === 'string') return key.value;
  return key.type === 'Identifier' && !computed ? key.name : null;
}

function readClass(node: ClassNode): Class {
  return {
    name: node.id?.name ?? 'default',
    at: node.id?.start ?? node.start,
    methods: node.body.body.flatMap(readMember),
    bases: node.superClass === null ? [] : [dotted(node.superClass)],
    open: false,
  };
}

function readMember(node: Node): Method[] {
  if (node.type !== 'MethodDefinition' && node.type !== 'PropertyDefinition') return [];
  const name = keyOf(node.key, node.computed);
  const { value } = node;
  if (name === null || (value?.type !== 'FunctionExpression' && value?.type !== 'ArrowFunctionExpression'))
    return [];
  const method = { name, at: node.key.start, takes: null };
  if (node.static) return [{ ...method, flaw: 'is static, and a hook is called on an instance' }];
  if (!('kind' in node)) return [{ ...method, flaw: 'is a field, and a hook must be a method' }];
  if (node.kind !== 'method') return [{ ...method, flaw: 'is an accessor, and a hook must be a method' }];
  if (value.async) return [{ ...method, flaw: 'is async, and nobody would await it' }];
  if (value.generator) return [{ ...method, flaw: 'is a generator, and nothing in it would run' }];
  const params = value.params.filter((one) => !(one.type === 'Identifier' && one.name === 'this'));
  const optional = params.findIndex(
    (one) =>
      one.type === 'AssignmentPattern' ||
      one.type === 'RestElement' ||
      ('optional' in one && Boolean(one.optional)),
  );
  const least = optional < 0 ? params.length : optional;
  return [{ ...method, flaw: null, takes: { least, most: Number.POSITIVE_INFINITY } }];
}
