import type { Scanner } from './scanner.ts';

/** A token of Python. What a string holds is of no interest; an f-string is one token. */
export interface Token {
  readonly kind: 'name' | 'number' | 'string' | 'op';
  /** Empty for strings. */
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

export const NAME = /[\p{XID_Start}_]\p{XID_Continue}*/uy;
export const NUMBER =
  /0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|(?:\d(?:_?\d)*(?:\.(?:\d(?:_?\d)*)?)?|\.\d(?:_?\d)*)(?:[eE][+-]?\d(?:_?\d)*)?[jJ]?/y;
export const OPERATOR =
  /\*\*=|\/\/=|>>=|<<=|\.\.\.|[-+*/%@&|^=<>!:]=|->|\*\*|\/\/|<<|>>|[-+*/%@&|^~<>=()[\]{}.,:;]/y;
/** Spaces, and line breaks after a backslash. */
export const SPACE = /(?:[ \t\f]|\\(?:\r\n?|\n))*/y;
/** The rest of a line that holds nothing, or a comment. */
export const BLANK = /[ \t\f]*(?:#[^\r\n]*)?(?:\r\n?|\n|$)/y;
export const closes: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };
/** As deep as Python itself goes. */
export const MAX_BRACKETS = 200;

/** Refuses the character at the current place. */
export function strange(s: Scanner): never {
  const char = String.fromCodePoint(s.text.codePointAt(s.at)!);
  if (char === '\\') s.fail('a backslash may only stand at the end of a line.');
  const code = `U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
  const hint = /[“”‘’]/.test(char) ? '; use straight quotes' : '';
  return s.fail(`${JSON.stringify(char)} (${code}) has no meaning in Python${hint}.`);
}
