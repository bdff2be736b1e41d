import { Rejection } from '../../contract/rejection.ts';
import type { SourceFile } from '../../contract/source.ts';
import type { Line } from './pylex.ts';
import type { Token } from './pytoken.ts';
import { place } from './text.ts';

/** A statement. A compound one has a head, up to its colon, and a body; `body` is null for a simple one. */
export interface Statement {
  readonly head: readonly Token[];
  readonly body: Statement[] | null;
}

const compound = new Set([
  'if',
  'elif',
  'else',
  'for',
  'while',
  'try',
  'except',
  'finally',
  'with',
  'def',
  'class',
]);

/** Reads the block structure of a Python file. Throws `Rejection` (E_SYNTAX). */
export function readBlocks(file: SourceFile, lines: readonly Line[]): Statement[] {
  const top: Statement[] = [];
  // The statements that the next line may belong to, one list per level.
  const open: Statement[][] = [top];
  let heading: Token | null = null;
  const fail = (token: Token, message: string): never => {
    throw new Rejection('E_SYNTAX', `${place(file.name, file.content, token.from)}: ${message}`);
  };

  for (const line of lines) {
    const first = line.tokens[0]!;
    if (heading !== null && line.level < open.length - 1)
      fail(first, `expected an indented block after ${heading.text}.`);
    if (heading === null && line.level > open.length - 1)
      fail(first, 'this line is indented, but nothing before it opens a block.');
    open.length = line.level + 1;
    const statements = readLine(line, fail);
    open[line.level]!.push(...statements);
    const { body } = statements[0]!;
    heading = body !== null && body.length === 0 ? keyword(line.tokens) : null;
    if (heading !== null) open.push(body!);
  }
  if (heading !== null) fail(heading, `expected an indented block after ${heading.text}.`);
  return top;
}

function readLine({ tokens }: Line, fail: (token: Token, message: string) => never): Statement[] {
  const word = keyword(tokens);
  const hard = word.kind === 'name' && compound.has(word.text);
  const soft =
    (word.text === 'match' || word.text === 'case') && tokens.length > 2 && tokens.at(-1)!.text === ':';
  const colon = hard ? headColon(tokens) : soft ? tokens.length - 1 : softColon(tokens);
  if (hard && colon < 0)
    fail(tokens.at(-1)!, `expected : at the end of the line that starts with ${word.text}.`);
  if (colon < 0) {
    const statements = split(tokens);
    return statements.length > 0
      ? statements
      : fail(tokens[0]!, 'expected a statement before the semicolon.');
  }
  const body = split(tokens.slice(colon + 1));
  return [{ head: tokens.slice(0, colon), body }];
}

/** Where the head of `case 1: return x` ends; -1 for anything else, such as `case: int = 1`. */
function softColon(tokens: readonly Token[]): number {
  const [word, next] = tokens;
  if (word!.text !== 'case' || next === undefined || (next.kind === 'op' && !'([{-*'.includes(next.text)))
    return -1;
  const colon = headColon(tokens);
  return colon > 1 ? colon : -1;
}

/** The word that says what a line is. */
function keyword(tokens: readonly Token[]): Token {
  const [first, second] = tokens;
  return first!.text === 'async' && second !== undefined && compound.has(second.text) ? second : first!;
}

/** Position of the colon that ends a head: outside of brackets, and not a lambda's. */
function headColon(tokens: readonly Token[]): number {
  let depth = 0;
  let lambdas = 0;
  for (const [i, { text, kind }] of tokens.entries()) {
    if (kind === 'name' && text === 'lambda' && depth === 0) lambdas++;
    if (kind !== 'op') continue;
    if ('([{'.includes(text)) depth++;
    else if (')]}'.includes(text)) depth--;
    else if (text === ':' && depth === 0 && lambdas-- <= 0) return i;
  }
  return -1;
}

/** Simple statements between semicolons. */
function split(tokens: readonly Token[]): Statement[] {
  return cut(tokens, ';').map((head) => ({ head, body: null }));
}

/** Pieces of a token list between separators that stand outside of brackets; empty pieces are left out. */
export function cut(tokens: readonly Token[], separator: string): Token[][] {
  const pieces: Token[][] = [[]];
  let depth = 0;
  for (const token of tokens) {
    if (token.kind === 'op' && '([{'.includes(token.text)) depth++;
    if (token.kind === 'op' && ')]}'.includes(token.text)) depth--;
    if (depth === 0 && token.kind === 'op' && token.text === separator) pieces.push([]);
    else pieces.at(-1)!.push(token);
  }
  return pieces.filter((piece) => piece.length > 0);
}
