import { parser } from '@lezer/python';
import { Rejection } from '../../contract/rejection.ts';
import type { SourceFile } from '../../contract/source.ts';
import type { Statement } from './pyblocks.ts';
import type { Line } from './pylex.ts';
import type { Token } from './pytoken.ts';
import { place, shown } from './text.ts';

const MANY_TOKENS = 500;

/**
 * Looks for syntax errors inside of statements. The parser knows an older Python, so what is newer, or what it never
 * learnt, is first replaced by something that it knows: a valid file passes. What this lets through is refused by
 * Python itself. Throws `Rejection` (E_SYNTAX).
 */
export function checkGrammar(
  { name, content }: SourceFile,
  lines: readonly Line[],
  blocks: readonly Statement[],
): void {
  const { text, tokens } = familiar(lines, blocks);
  const fail = (offset: number, message: string): void => {
    throw new Rejection('E_SYNTAX', `${place(name, content, offset)}: ${message}`);
  };
  const cursor = parser.parse(text).cursor();
  do {
    if (!cursor.type.isError && cursor.name !== 'PrintStatement') continue;
    const token = tokenAt(tokens, cursor.from);
    const offset = token?.from ?? content.trimEnd().length;
    // The parser gives up on expressions of hundreds of operands, which Python takes.
    const line = lines.findLast(({ tokens: own }) => own[0]!.from <= offset);
    if (line !== undefined && line.tokens.length > MANY_TOKENS) return;
    if (token === undefined) fail(offset, 'the file ends in the middle of a statement.');
    else if (cursor.type.isError)
      fail(offset, `invalid syntax at ${shown(content.slice(offset, token.to))}.`);
    else if (/^print\s+["'\w]/.test(content.slice(offset, offset + 80)))
      fail(offset, 'print is a function; write print(...).');
  } while (cursor.next());
}

/** Where a token of the file stands in the text given to the parser. */
interface Written {
  readonly at: number;
  readonly token: Token;
}

/** The first token that ends behind an offset. */
function tokenAt(tokens: readonly Written[], offset: number): Token | undefined {
  let low = 0;
  let high = tokens.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (tokens[middle]!.at < offset) low = middle + 1;
    else high = middle;
  }
  return tokens[low]?.token;
}

/** The file in the Python that the parser knows: a line for each logical line, a space between tokens. */
function familiar(lines: readonly Line[], blocks: readonly Statement[]): { text: string; tokens: Written[] } {
  const simple = headsToSimplify(blocks);
  const written: Written[] = [];
  let text = '';
  for (const { level, tokens } of lines) {
    text += ' '.repeat(level);
    const open: string[] = [];
    for (let i = 0; i < tokens.length; i++) {
      const token = tokens[i]!;
      written.push({ at: text.length, token });
      const part = simple.get(token);
      if (part !== undefined) {
        text += `${part.text} `;
        i = tokens.indexOf(part.last, i);
        continue;
      }
      if (token.kind === 'string') while (tokens[i + 1]?.kind === 'string') i++;
      text += `${familiarToken(token, tokens[i - 1], tokens[i + 1], open.at(-1))} `;
      if (token.kind !== 'op') continue;
      if ('([{'.includes(token.text)) open.push(token.text);
      else if (')]}'.includes(token.text)) open.pop();
    }
    text += '\n';
  }
  return { text, tokens: written };
}

function familiarToken(
  token: Token,
  before: Token | undefined,
  after: Token | undefined,
  open: string | undefined,
): string {
  const { text } = token;
  if (token.kind === 'string') return '""';
  if (token.kind === 'number') return '1';
  const next = after?.kind === 'string' ? '""' : (after?.text ?? ';');
  if (text === 'yield' && /^[)\]},;=]$/.test(next)) return 'a';
  if (token.kind !== 'op' || before === undefined) return text;
  if (text === '/' && before.text === ',' && /^[,):]$/.test(next)) return 'a';
  if (text === ':=' && open === '{') return '==';
  if (text !== '*') return text;
  // Stars that the parser does not expect: in subscripts, annotations, what a `for` walks and what it assigns to. One
  // behind a comma means nothing to it, unless it stands alone among the parameters of a function.
  if (before.text === ',') return /^[,:)]$/.test(next) ? text : '';
  return /^(:|in|for)$/.test(before.text) || (open === '[' && before.text === '[') ? '' : text;
}

/**
 * Parts of heads that the parser does not read in full, by their first token: what to write there, and the last token.
 * Targets of `with` and `except`, patterns, decorators and type parameters.
 */
function headsToSimplify(
  blocks: readonly Statement[],
): Map<Token, { readonly text: string; readonly last: Token }> {
  const found = new Map<Token, { text: string; last: Token }>();
  const put = (tokens: readonly Token[], text: string): void => {
    if (tokens.length > 0) found.set(tokens[0]!, { text, last: tokens.at(-1)! });
  };
  const visit = (inner: readonly Statement[], inMatch: boolean): void => {
    for (const { head, body } of inner) {
      const word = head[0]!.text;
      const matching = body !== null && word === 'match';
      if (word === '@') put(head.slice(1), 'a');
      if (body !== null && /^(with|except|match)$/.test(word)) put(head.slice(1), 'a');
      if (body !== null && word === 'async' && head[1]!.text === 'with') put(head.slice(2), 'a');
      if (inMatch && word === 'case') put(head.slice(1), 'a');
      if (/^(class|def|async|type)$/.test(word)) {
        const bracket = word === 'async' ? 3 : 2;
        if (head[bracket]?.text === '[' && head[bracket - 1]!.kind === 'name') put(group(head, bracket), '');
      }
      if (body !== null) visit(body, matching);
    }
  };
  visit(blocks, false);
  return found;
}

/** The tokens of the bracket that opens at a position, it and its end included. */
export function group(tokens: readonly Token[], start: number): Token[] {
  let depth = 0;
  for (let i = start; i < tokens.length; i++) {
    const { kind, text } = tokens[i]!;
    if (kind !== 'op') continue;
    if ('([{'.includes(text)) depth++;
    else if (')]}'.includes(text) && --depth === 0) return tokens.slice(start, i + 1);
  }
  return tokens.slice(start);
}
