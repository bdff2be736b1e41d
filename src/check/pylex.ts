import type { SourceFile } from '../../contract/source.ts';
import { skipString } from './pystring.ts';
import {
  BLANK,
  closes,
  MAX_BRACKETS,
  NAME,
  NUMBER,
  OPERATOR,
  SPACE,
  strange,
  type Token,
} from './pytoken.ts';
import { type Scanner, scan } from './scanner.ts';
import { lineColumn } from './text.ts';

/** A logical line: its tokens, and how many blocks it stands in. */
export interface Line {
  readonly level: number;
  readonly tokens: readonly Token[];
}

const LINE_END = /\r\n?|\n/y;
const COMMENT = /#[^\r\n]*/y;
/** Words that may follow a number without a space. */
const AFTER_NUMBER = /(?:and|else|for|if|in|is|not|or)\b/y;
const MAX_LEVELS = 100;

/** Splits Python 3.14 into logical lines. Throws `Rejection` (E_SYNTAX) with the place of what cannot be a token. */
export function lexPython(file: SourceFile): Line[] {
  const s = scan(file);
  const levelOf = indentation(s);
  const lines: Line[] = [];
  while (s.at < s.text.length) {
    if (s.match(BLANK)) continue;
    const level = levelOf(s.match(SPACE)![0].split('\\')[0]!);
    const tokens = readLine(s);
    if (tokens.length > 0) lines.push({ level, tokens });
  }
  return lines;
}

/** Turns the indentation of one line after the other into the number of blocks that the line stands in. */
function indentation(s: Scanner): (indent: string) => number {
  // Columns of the open blocks: with a tab to the next multiple of 8 and, to find mixtures, with a tab as one column.
  const open = [{ wide: 0, narrow: 0 }];
  return (indent) => {
    let wide = 0;
    let narrow = 0;
    for (const char of indent) {
      wide = char === '\t' ? wide - (wide % 8) + 8 : char === '\f' ? 0 : wide + 1;
      narrow = char === '\f' ? 0 : narrow + 1;
    }
    if (wide > open.at(-1)!.wide) open.push({ wide, narrow });
    else while (wide < open.at(-1)!.wide) open.pop();
    const own = open.at(-1)!;
    if (own.wide !== wide) s.fail('this line is indented like no block around it.');
    if (own.narrow !== narrow || (open.length > 1 && narrow <= open.at(-2)!.narrow)) {
      s.fail('tabs and spaces are mixed; indent with spaces only.');
    }
    if (open.length > MAX_LEVELS) s.fail('too many levels of indentation.');
    return open.length - 1;
  };
}

/** Reads the tokens of a logical line and moves past its end. */
function readLine(s: Scanner): Token[] {
  const tokens: Token[] = [];
  const open: Token[] = [];
  for (;;) {
    s.match(SPACE);
    s.match(COMMENT);
    if (s.at >= s.text.length) break;
    if (s.match(LINE_END)) {
      if (open.length === 0) break;
      continue;
    }
    const from = s.at;
    const kind = readToken(s);
    const token: Token = { kind, text: kind === 'string' ? '' : s.text.slice(from, s.at), from, to: s.at };
    tokens.push(token);
    if (kind === 'op') balance(s, token, open);
  }
  const last = open.at(-1);
  if (last !== undefined) s.fail(`${last.text} is never closed.`, last.from);
  return tokens;
}

function readToken(s: Scanner): Token['kind'] {
  if (skipString(s)) return 'string';
  if (s.match(NAME)) return 'name';
  if (skipNumber(s)) return 'number';
  return s.match(OPERATOR) ? 'op' : strange(s);
}

function skipNumber(s: Scanner): boolean {
  const start = s.at;
  const found = s.match(NUMBER)?.[0];
  if (found === undefined) return false;
  if (/^0[\d_]*[1-9][\d_]*$/.test(found))
    s.fail('a number must not start with 0; octal is written 0o17.', start);
  AFTER_NUMBER.lastIndex = s.at;
  if (/\p{XID_Continue}/u.test(s.text[s.at] ?? '') && !AFTER_NUMBER.test(s.text)) {
    s.fail('neither a number nor a name; a name cannot start with a digit.', start);
  }
  return true;
}

/** Keeps the list of open brackets. */
function balance(s: Scanner, token: Token, open: Token[]): void {
  if ('([{'.includes(token.text)) {
    open.push(token);
    if (open.length > MAX_BRACKETS) s.fail('too many nested brackets.', token.from);
  } else if (token.text in closes) {
    const opener = open.pop();
    if (opener === undefined) s.fail(`unmatched ${token.text}.`, token.from);
    else if (opener.text !== closes[token.text]) {
      s.fail(
        `${token.text} does not close the ${opener.text} of ${lineColumn(s.text, opener.from)}.`,
        token.from,
      );
    }
  }
}
