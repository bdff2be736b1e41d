import { Rejection } from '../../contract/rejection.ts';
import type { SourceFile } from '../../contract/source.ts';
import { place } from './text.ts';

/** A token of Python. What a string holds is of no interest; an f-string is one token. */
export interface Token {
  readonly kind: 'name' | 'number' | 'string' | 'op';
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

/** A logical line: its tokens, and how many blocks it stands in. */
export interface Line {
  readonly level: number;
  readonly tokens: readonly Token[];
}

const STRING = /(?:[rR]?[bB]|[bB][rR]|[uU]|([rR]?[fFtT]|[fFtT][rR])|([rR]))?('''|"""|'|")/y;
const NAME = /[\p{XID_Start}_]\p{XID_Continue}*/uy;
const NUMBER =
  /0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|(?:\d(?:_?\d)*(?:\.(?:\d(?:_?\d)*)?)?|\.\d(?:_?\d)*)(?:[eE][+-]?\d(?:_?\d)*)?[jJ]?/y;
const OPERATOR =
  /\*\*=|\/\/=|>>=|<<=|\.\.\.|[-+*/%@&|^=<>!:]=|->|\*\*|\/\/|<<|>>|[-+*/%@&|^~<>=()[\]{}.,:;]/y;
const AFTER_NUMBER = /(?:and|else|for|if|in|is|not|or)\b/y;
const SPACE = /(?:[ \t\f]|\\(?:\r\n?|\n))*/y;
const BLANK = /[ \t\f]*(?:#[^\r\n]*)?(?:\r\n?|\n|$)/y;
const LINE_END = /\r\n?|\n/y;
const closes: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };

/** As deep as Python itself goes. */
const MAX_BRACKETS = 200;
const MAX_LEVELS = 100;
const MAX_FSTRINGS = 20;

/** Splits Python 3.14 into logical lines. Throws `Rejection` (E_SYNTAX) with the place of what cannot be a token. */
export function lexPython({ name, content: text }: SourceFile): Line[] {
  const lines: Line[] = [];
  let at = text.startsWith('\ufeff') ? 1 : 0;

  const fail = (message: string, offset = at): never => {
    throw new Rejection('E_SYNTAX', `${place(name, text, offset)}: ${message}`);
  };
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found !== null) at += found[0].length;
    return found;
  };

  /** Moves past a string, `at` standing on it; false where none stands. */
  const string = (nested: number): boolean => {
    const start = at;
    const open = match(STRING);
    if (open === null) return false;
    const quote = open[3]!;
    const format = open[1] !== undefined;
    const raw = /[rR]/.test(open[0]);
    for (;;) {
      if (at >= text.length) fail('this string is never closed.', start);
      const char = text[at]!;
      if (text.startsWith(quote, at)) {
        at += quote.length;
        return true;
      }
      if (quote.length === 1 && (char === '\n' || char === '\r'))
        fail('this string is not closed on its line.', start);
      if (char === '\\') at += escape(format, raw);
      else if (format && text.startsWith('{{', at)) at += 2;
      else if (format && char === '{') replacement(nested);
      else at++;
    }
  };

  /** Length of the escape at a backslash. */
  const escape = (format: boolean, raw: boolean): number => {
    if (format && text[at + 1] === '{') return 1;
    if (format && !raw && text.startsWith('\\N{', at)) return 3;
    return text.startsWith('\\\r\n', at) ? 3 : 2;
  };

  /** Moves past the `{...}` of an f-string: an expression, then perhaps a format that holds more of them. */
  const replacement = (nested: number): void => {
    const start = at++;
    if (nested >= MAX_FSTRINGS) fail('f-strings nested too deeply.');
    const open: string[] = [];
    for (;;) {
      while (match(SPACE)![0] !== '' || match(BLANK)?.[0]) if (at >= text.length) break;
      if (at >= text.length) fail('this { of an f-string is never closed.', start);
      const char = text[at]!;
      if (open.length === 0 && (char === '}' || char === ':')) break;
      if (string(nested + 1) || match(NAME) || match(NUMBER)) continue;
      if ('([{'.includes(char)) open.push(char);
      else if (char in closes && open.pop() !== closes[char]) fail(`unmatched ${char} in an f-string.`);
      if (open.length > MAX_BRACKETS) fail('too many nested brackets.');
      if (char === '!') at++;
      else if (match(OPERATOR) === null) strange();
    }
    if (text[at++] === '}') return;
    for (; text[at] !== '}'; ) {
      if (at >= text.length) fail('this { of an f-string is never closed.', start);
      if (text[at] === '{') replacement(nested + 1);
      else at++;
    }
    at++;
  };

  const strange = (): never => {
    const char = String.fromCodePoint(text.codePointAt(at)!);
    const code = `U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
    if (char === '\\') return fail('a backslash may only stand at the end of a line.');
    return fail(
      `${JSON.stringify(char)} (${code}) has no meaning in Python${/[“”‘’]/.test(char) ? '; use straight quotes' : ''}.`,
    );
  };

  const number = (): boolean => {
    const start = at;
    if (!/[\d.]/.test(text[at]!)) return false;
    const found = match(NUMBER)?.[0];
    if (found === undefined) return false;
    if (/^0[\d_]*[1-9]/.test(found) && /^[\d_]+$/.test(found))
      fail('a number must not start with 0; octal is written 0o17.', start);
    AFTER_NUMBER.lastIndex = at;
    if (/[\p{XID_Continue}]/u.test(text[at] ?? '') && !AFTER_NUMBER.test(text))
      fail('not a number, and a name cannot start with a digit.', start);
    return true;
  };

  /** Tokens up to the end of the logical line, which `at` is moved past. */
  const logicalLine = (): Token[] => {
    const tokens: Token[] = [];
    const open: Token[] = [];
    for (;;) {
      match(SPACE);
      if (text[at] === '#') while (at < text.length && !/[\r\n]/.test(text[at]!)) at++;
      if (at >= text.length) break;
      if (match(LINE_END)) {
        if (open.length === 0) break;
        continue;
      }
      const from = at;
      const kind = string(0)
        ? 'string'
        : match(NAME)
          ? 'name'
          : number()
            ? 'number'
            : match(OPERATOR)
              ? 'op'
              : strange();
      const token: Token = { kind, text: kind === 'string' ? '' : text.slice(from, at), from, to: at };
      tokens.push(token);
      if (kind === 'op') bracket(token, open);
    }
    const last = open.at(-1);
    if (last !== undefined) fail(`${last.text} is never closed.`, last.from);
    return tokens;
  };

  const bracket = (token: Token, open: Token[]): void => {
    if ('([{'.includes(token.text)) {
      open.push(token);
      if (open.length > MAX_BRACKETS) fail('too many nested brackets.', token.from);
    } else if (token.text in closes) {
      const opener = open.pop();
      if (opener === undefined) fail(`unmatched ${token.text}.`, token.from);
      else if (opener.text !== closes[token.text]) {
        fail(
          `${token.text} does not close the ${opener.text} of ${place(name, text, opener.from)}.`,
          token.from,
        );
      }
    }
  };

  // Columns of the open blocks, with a tab to the next multiple of 8 and, to find mixtures, with a tab as one column.
  const columns: { readonly wide: number; readonly narrow: number }[] = [{ wide: 0, narrow: 0 }];
  const level = (indent: string): number => {
    let wide = 0;
    let narrow = 0;
    for (const char of indent) {
      wide = char === '\t' ? wide - (wide % 8) + 8 : char === '\f' ? 0 : wide + 1;
      narrow = char === '\f' ? 0 : narrow + 1;
    }
    if (wide > columns.at(-1)!.wide) columns.push({ wide, narrow });
    else while (wide < columns.at(-1)!.wide) columns.pop();
    const same = columns.at(-1)!;
    if (same.wide !== wide) fail('this line is indented like no block around it.');
    if (same.narrow !== narrow || (columns.length > 1 && narrow <= columns.at(-2)!.narrow)) {
      fail('tabs and spaces are mixed; indent with spaces only.');
    }
    if (columns.length > MAX_LEVELS) fail('too many levels of indentation.');
    return columns.length - 1;
  };

  while (at < text.length) {
    if (match(BLANK)) continue;
    const indent = match(SPACE)![0];
    if (at >= text.length) break;
    const depth = level(/\\/.test(indent) ? indent.slice(0, indent.indexOf('\\')) : indent);
    const tokens = logicalLine();
    if (tokens.length > 0) lines.push({ level: depth, tokens });
  }
  return lines;
}
