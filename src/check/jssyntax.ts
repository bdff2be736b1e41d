import module from 'node:module';
import { type Node, type Program, parseSync } from 'oxc-parser';
import { Rejection } from '../../contract/rejection.ts';
import type { SourceFile } from '../../contract/source.ts';
import { requiredOf } from './jsmodule.ts';
import { place } from './text.ts';

/** One module that a file imports. */
export interface Import {
  readonly at: number;
  readonly specifier: string;
  /** Whether the file copes with its absence. */
  readonly optional: boolean;
}

/**
 * Parses JavaScript, or TypeScript that Node.js can strip. Throws `Rejection` (E_SYNTAX).
 * The parser is native code without a bound on its stack: source of strangers is parsed in a process of its own.
 */
export function parseSource({ name, content }: SourceFile): { program: Program; imports: Import[] } {
  const common = name.endsWith('.cjs');
  const typed = /\.m?ts$/.test(name);
  const { program, errors } = parse(name, content, typed ? 'ts' : 'js');
  if (errors.length > 0) {
    const { at, message } = errors[0]!;
    const hint = `this is TypeScript; name the file ${name.replace(/\.[cm]?js$/, '.ts')}.`;
    const mistyped = !typed && !common && parse(name, content, 'ts').errors.length === 0;
    throw syntax(name, content, at, mistyped ? hint : message);
  }
  const imports: Import[] = [];
  const flaws: { at: number; message: string }[] = [];
  walk(program, (node, guarded) => {
    const message = notStrippable(node);
    if (message !== null) flaws.push({ at: node.start, message });
    const specifier = specifierOf(node, common);
    if (specifier !== null) imports.push({ at: node.start, specifier, optional: guarded });
  });
  const flaw = flaws.sort((a, b) => a.at - b.at)[0];
  if (flaw !== undefined) throw syntax(name, content, flaw.at, flaw.message);
  if (typed) checkStripped(name, content);
  return { program, imports: imports.sort((a, b) => a.at - b.at) };
}

/** Does what a run does before the box sees the file: Node.js and the parser differ on a few odd types. */
function checkStripped(name: string, content: string): void {
  // Older versions of Node do not have it; they cannot run TypeScript either.
  if (typeof module.stripTypeScriptTypes !== 'function') return;
  let javascript: string;
  try {
    javascript = module.stripTypeScriptTypes(content);
  } catch (error) {
    // Where, stands only in the stack: the number of the line, and marks below the text of it.
    const { message, stack = '' } = error as Error;
    const [, line = '1', before = ''] = /^:(\d+)\n.*?\n( *)\^+\n/s.exec(stack) ?? [];
    throw new Rejection('E_SYNTAX', `${name}:${line}:${before.length + 1}: ${message}`);
  }
  const [left] = parse(name, javascript, 'js').errors;
  if (left !== undefined)
    throw syntax(name, content, left.at, `without its types this is no JavaScript: ${left.message}`);
}

interface Parsed {
  readonly program: Program;
  readonly errors: readonly { readonly at: number; readonly message: string }[];
}

function parse(name: string, content: string, lang: 'js' | 'ts'): Parsed {
  const sourceType = name.endsWith('.cjs') ? 'commonjs' : 'module';
  const result = parseSync(name, content, {
    lang,
    sourceType,
    showSemanticErrors: true,
    preserveParens: false,
  });
  const errors = result.errors
    .filter(({ severity }) => severity === 'Error')
    .map(({ labels, message, helpMessage }) => ({
      at: labels[0]?.start ?? 0,
      message: [message, helpMessage].filter(Boolean).join('. '),
    }));
  return { program: result.program, errors: errors.sort((a, b) => a.at - b.at) };
}

const syntax = (name: string, content: string, at: number, message: string): Rejection =>
  new Rejection('E_SYNTAX', `${place(name, content, at)}: ${message.replace(/[.?]?$/, (end) => end || '.')}`);

/** Visits every node, `guarded` being true inside of a `try`. Keeps its own stack: source may nest deeper than calls can. */
function walk(program: Program, visit: (node: Node, guarded: boolean) => void): void {
  const stack: { value: unknown; guarded: boolean }[] = [{ value: program, guarded: false }];
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const { value, guarded } = top;
    if (Array.isArray(value)) {
      for (const one of value)
        if (typeof one === 'object' && one !== null) stack.push({ value: one, guarded });
      continue;
    }
    const node = value as Node;
    if (typeof node.type === 'string') visit(node, guarded);
    // A declaration without a value (`declare ...`) leaves nothing behind.
    if ('declare' in node && node.declare === true) continue;
    for (const [key, inner] of Object.entries(node)) {
      if (typeof inner !== 'object' || inner === null) continue;
      stack.push({
        value: inner,
        guarded: guarded || (node.type === 'TryStatement' && key === 'block' && node.handler !== null),
      });
    }
  }
}

function specifierOf(node: Node, common: boolean): string | null {
  switch (node.type) {
    case 'ImportDeclaration':
      return node.importKind === 'type' ? null : node.source.value;
    case 'ExportAllDeclaration':
      return node.exportKind === 'type' ? null : node.source.value;
    case 'ExportNamedDeclaration':
      return node.source === null || node.exportKind === 'type' ? null : node.source.value;
    case 'ImportExpression': {
      const { source } = node;
      if (source.type === 'Literal') return typeof source.value === 'string' ? source.value : null;
      return source.type === 'TemplateLiteral' && source.expressions.length === 0
        ? (source.quasis[0]!.value.cooked ?? null)
        : null;
    }
    default:
      return common ? requiredOf(node) : null;
  }
}

/** Why Node.js cannot run a node by leaving out its types, or at all; null where it can. */
function notStrippable(node: Node): string | null {
  if ('declare' in node && node.declare === true) return null;
  const stripped = 'types are left out before the source runs, and';
  switch (node.type) {
    case 'TSEnumDeclaration':
      return `${stripped} an enum is more than a type; write const ${node.id.name} = { ... } as const.`;
    case 'TSModuleDeclaration':
      return holdsValues(node) ? `${stripped} a namespace is more than a type; use a file of its own.` : null;
    case 'TSParameterProperty':
      return `${stripped} a parameter property is more than a type; declare the field and assign it in the constructor.`;
    case 'TSImportEqualsDeclaration':
      return node.importKind === 'type'
        ? null
        : `${stripped} import = is more than a type; write import ... from.`;
    case 'TSExportAssignment':
      return `${stripped} export = is more than a type; write export default.`;
    case 'TSTypeAssertion':
      return `${stripped} this kind of assertion cannot be; write x as T.`;
    case 'Decorator':
      return 'Node.js 24 has no decorators; call the function instead.';
    case 'AccessorProperty':
      return 'Node.js 24 has no accessor fields; write a getter and a setter.';
    case 'ImportDeclaration':
      return node.phase === null ? null : `Node.js 24 has no import ${node.phase}; write a plain import.`;
    default:
      return null;
  }
}

function holdsValues(node: Node & { type: 'TSModuleDeclaration' }): boolean {
  const body = node.body as { body?: Node[] } | null | undefined;
  const typeOnly = new Set(['TSInterfaceDeclaration', 'TSTypeAliasDeclaration']);
  return (body?.body ?? []).some(
    (one) => !typeOnly.has(one.type === 'ExportNamedDeclaration' ? (one.declaration?.type ?? '') : one.type),
  );
}
