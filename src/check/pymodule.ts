import type { SourceFile } from '../../contract/source.ts';
import type { Binding, Class, Method, Module } from './module.ts';
import { cut, type Statement } from './pyblocks.ts';
import { group } from './pygrammar.ts';
import type { Token } from './pytoken.ts';

/** One module that a Python file imports. */
export interface Import {
  readonly at: number;
  /** Leading dots: 0 for an absolute import. */
  readonly level: number;
  /** The module as written after the dots; empty for `from . import x`. */
  readonly path: readonly string[];
  /** What `from` takes of it; null for a plain `import`, `*` for all. */
  readonly names: readonly string[] | null;
  /** Whether the file copes with its absence. */
  readonly optional: boolean;
}

/** The file of the strategy that a module leads to, `level` dots before its path; null where there is none. */
export type Resolve = (path: readonly string[], level: number) => string | null;

const words = (tokens: readonly Token[]): string[] =>
  tokens.filter(({ kind }) => kind === 'name').map(({ text }) => text);

/** All imports of a file, also those inside of functions, but not those that only a type checker sees. */
export function importsOf(statements: readonly Statement[], optional = false): Import[] {
  return statements.flatMap(({ head, body }, i): Import[] => {
    const word = head[0]!.text;
    if (body === null) return word === 'import' || word === 'from' ? readImport(head, optional) : [];
    const names = words(head);
    if (names.includes('TYPE_CHECKING')) return [];
    const guarded =
      optional ||
      (word === 'try' && survivesImportError(statements, i)) ||
      word === 'except' ||
      (word === 'with' && names.includes('suppress')) ||
      (/^(if|elif|else)$/.test(word) && names.some((name) => name === 'version_info' || name === 'platform'));
    return importsOf(body, guarded);
  });
}

/** Whether a `try` has an `except` that an ImportError reaches. */
function survivesImportError(statements: readonly Statement[], start: number): boolean {
  for (const { head } of statements.slice(start + 1)) {
    if (head[0]!.text !== 'except') return false;
    const caught = words(head.slice(1));
    if (caught.length === 0) return true;
    if (caught.some((name) => /^(ImportError|ModuleNotFoundError|Exception|BaseException)$/.test(name)))
      return true;
  }
  return false;
}

function readImport(head: readonly Token[], optional: boolean): Import[] {
  if (head[0]!.text === 'import') {
    return cut(head.slice(1), ',').map((piece) => {
      const as = piece.findIndex(({ text }) => text === 'as');
      return {
        at: piece[0]!.from,
        level: 0,
        path: words(as < 0 ? piece : piece.slice(0, as)),
        names: null,
        optional,
      };
    });
  }
  const middle = head.findIndex(({ text }) => text === 'import');
  if (middle < 0) return [];
  const origin = head.slice(1, middle);
  const path = words(origin);
  const firstName = origin.findIndex(({ kind }) => kind === 'name');
  const dots = origin.slice(0, firstName < 0 ? undefined : firstName);
  const level = dots.reduce((count, { text }) => count + text.length, 0);
  return [
    {
      at: origin[0]?.from ?? head[0]!.from,
      level,
      path,
      names: taken(head.slice(middle + 1)).map(([name]) => name),
      optional,
    },
  ];
}

/** `a, b as c` as pairs of the name taken and the name given to it. */
function taken(tokens: readonly Token[]): [string, string][] {
  const list = tokens.filter(({ text, kind }) => !(kind === 'op' && (text === '(' || text === ')')));
  return cut(list, ',').map((piece) => [piece[0]!.text, piece.at(-1)!.text]);
}

/** Reads what a file defines at its top level. */
export function readModule(file: SourceFile, statements: readonly Statement[], resolve: Resolve): Module {
  const bindings = new Map<string, Binding>();
  const stars: string[] = [];
  const patched = new Set<string>();
  const from = (head: readonly Token[]): void => {
    const [one] = readImport(head, false);
    if (one === undefined) return;
    const origin = resolve(one.path, one.level);
    for (const [name, given] of taken(head.slice(head.findIndex(({ text }) => text === 'import') + 1))) {
      const whole = resolve([...one.path, name], one.level);
      if (name === '*') {
        if (origin !== null) stars.push(origin);
      } else if (whole !== null) bindings.set(given, { kind: 'import', file: whole, name: null });
      else
        bindings.set(given, origin === null ? { kind: 'outside' } : { kind: 'import', file: origin, name });
    }
  };
  const visit = (inner: readonly Statement[]): void => {
    for (const [i, { head, body }] of inner.entries()) {
      const [word, second, third] = head;
      if (word!.text === 'class' && body !== null) {
        const decorated = i > 0 && inner[i - 1]!.head[0]!.text === '@';
        bindings.set(second!.text, { kind: 'class', class: readClass(head, body, decorated) });
      } else if (word!.text === 'def' || (word!.text === 'async' && second?.text === 'def')) {
        const name = word!.text === 'def' ? second : third;
        bindings.set(name!.text, { kind: 'function', at: name!.from });
      } else if (word!.text === 'from') from(head);
      else if (word!.text === 'import') {
        for (const piece of cut(head.slice(1), ',')) {
          const as = piece.findIndex(({ text }) => text === 'as');
          const path = words(as < 0 ? piece : piece.slice(0, as));
          const whole = resolve(path, 0);
          const given = as < 0 ? path[0]! : piece.at(-1)!.text;
          const found: Binding =
            whole === null ? { kind: 'outside' } : { kind: 'import', file: whole, name: null };
          bindings.set(given, as < 0 && path.length > 1 ? { kind: 'unknown' } : found);
        }
      } else if (body !== null) visit(body);
      else assign(head, bindings, patched);
    }
  };
  visit(statements);
  for (const name of patched) {
    const binding = bindings.get(name);
    if (binding?.kind === 'class')
      bindings.set(name, { kind: 'class', class: { ...binding.class, open: true } });
  }
  return { file, bindings, stars };
}

function assign(head: readonly Token[], bindings: Map<string, Binding>, patched: Set<string>): void {
  const pieces = cut(head, '=');
  if (words(head).includes('setattr')) for (const name of words(head)) patched.add(name);
  if (pieces.length < 2) return;
  const path = dotted(pieces.at(-1)!);
  for (const target of pieces.slice(0, -1)) {
    const name = target[0]!.text;
    if (target.length === 1 || target[1]!.text === ':')
      bindings.set(name, path === null ? { kind: 'unknown' } : { kind: 'alias', path });
    else patched.add(name);
  }
}

/** `a.b.C` as its names; null for any other expression. Subscripts, as in `Generic[T]`, are dropped. */
function dotted(tokens: readonly Token[]): string[] | null {
  const bracket = tokens.findIndex(({ text, kind }) => kind === 'op' && text === '[');
  const plain = bracket < 0 ? tokens : tokens.slice(0, bracket);
  const fits =
    plain.length % 2 === 1 &&
    plain.every(({ kind, text }, i) => (i % 2 === 0 ? kind === 'name' : text === '.'));
  return fits ? words(plain) : null;
}

function readClass(head: readonly Token[], body: readonly Statement[], decorated: boolean): Class {
  const paren = head.findIndex(({ text, kind }, i) => i > 1 && kind === 'op' && text === '(');
  const args = paren < 0 ? [] : cut(group(head, paren).slice(1, -1), ',');
  const bases = args.filter((piece) => cut(piece, '=').length === 1).map(dotted);
  const open = decorated || args.some((piece) => piece[0]!.text === 'metaclass');
  return { name: head[1]!.text, at: head[1]!.from, methods: methodsIn(body), bases, open };
}

function methodsIn(body: readonly Statement[]): Method[] {
  const decorators: Token[] = [];
  return body.flatMap(({ head, body: inner }): Method[] => {
    const [word, second, third] = head;
    if (word!.text === '@') {
      decorators.push(...head.slice(1));
      return [];
    }
    const marks = words(decorators.splice(0));
    if (word!.text === 'def' && inner !== null) return [readMethod(head, second!, inner, marks)];
    if (word!.text === 'async' && second?.text === 'def') {
      return [
        { name: third!.text, at: third!.from, flaw: 'is async, and nobody would await it', takes: null },
      ];
    }
    if (inner !== null) return word!.text === 'class' ? [] : methodsIn(inner);
    // A function under another name, or made by an expression, is a method too; what it takes is not known.
    const pieces = cut(head, '=');
    const value = pieces.at(-1)![0]!;
    if (value.kind !== 'name' || /^(True|False|None|not|await)$/.test(value.text)) return [];
    return pieces
      .slice(0, -1)
      .filter((target) => target.length === 1 || target[1]!.text === ':')
      .map(([name]) => ({ name: name!.text, at: name!.from, flaw: null, takes: null }));
  });
}

function readMethod(
  head: readonly Token[],
  name: Token,
  body: readonly Statement[],
  marks: readonly string[],
): Method {
  const plain = marks.every((mark) =>
    /^(staticmethod|classmethod|override|typing|abstractmethod|abc)$/.test(mark),
  );
  const method = { name: name.text, at: name.from };
  if (!plain) return { ...method, flaw: null, takes: null };
  if (yields(body)) return { ...method, flaw: 'is a generator, and nothing in it would run', takes: null };
  const paren = head.findIndex(({ text, kind }) => kind === 'op' && text === '(');
  let least = marks.includes('staticmethod') ? 0 : -1;
  let most = least;
  let named = false;
  let flaw: string | null = null;
  for (const piece of cut(group(head, paren).slice(1, -1), ',')) {
    const { text } = piece[0]!;
    const hasDefault = cut(piece, '=').length > 1;
    if (text === '/' || text === '**') continue;
    if (text === '*') {
      if (piece.length > 1) most = Number.POSITIVE_INFINITY;
      named = true;
    } else if (!named) {
      most++;
      if (!hasDefault) least++;
    } else if (!hasDefault) flaw = `needs ${text} by name, which is never given`;
  }
  if (most < 0) flaw = 'has no self';
  return { ...method, flaw, takes: { least: Math.max(0, least), most } };
}

/** Whether a function's own body, without functions inside of it, yields. */
function yields(body: readonly Statement[]): boolean {
  return body.some(({ head, body: inner }) => {
    const word = head[0]!.text;
    if (word === 'def' || word === 'async' || word === 'class')
      return word === 'async' && head[1]!.text !== 'def' && yields(inner!);
    const lambda = head.some(({ text, kind }) => kind === 'name' && text === 'lambda');
    if (!lambda && head.some(({ text, kind }) => kind === 'name' && text === 'yield')) return true;
    return inner !== null && yields(inner);
  });
}
