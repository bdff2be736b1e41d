import { BLANK, closes, MAX_BRACKETS, NAME, NUMBER, OPERATOR, SPACE, strange } from './pytoken.ts';
import type { Scanner } from './scanner.ts';

const STRING = /(?:[rR]?[bB]|[bB][rR]|[uU]|([rR]?[fFtT]|[fFtT][rR])|([rR]))?('''|"""|'|")/y;
const MAX_NESTED = 20;

/** Moves past a string, f-strings with all that they hold; false where none stands. `nested`: f-strings around it. */
export function skipString(s: Scanner, nested = 0): boolean {
  const start = s.at;
  const open = s.match(STRING);
  if (open === null) return false;
  const quote = open[3]!;
  const format = open[1] !== undefined;
  const raw = /[rR]/.test(open[0]);
  for (;;) {
    if (s.at >= s.text.length) s.fail('this string is never closed.', start);
    if (s.text.startsWith(quote, s.at)) {
      s.at += quote.length;
      return true;
    }
    const char = s.text[s.at]!;
    if (quote.length === 1 && (char === '\n' || char === '\r'))
      s.fail('this string is not closed on its line.', start);
    if (char === '\\') s.at += escapeLength(s, format, raw);
    else if (format && s.text.startsWith('{{', s.at)) s.at += 2;
    else if (format && char === '{') skipReplacement(s, nested);
    else s.at++;
  }
}

function escapeLength(s: Scanner, format: boolean, raw: boolean): number {
  if (format && s.text[s.at + 1] === '{') return 1;
  if (format && !raw && s.text.startsWith('\\N{', s.at)) return 3;
  return s.text.startsWith('\\\r\n', s.at) ? 3 : 2;
}

/** Moves past the `{...}` of an f-string: an expression, then perhaps a format that holds more of them. */
function skipReplacement(s: Scanner, nested: number): void {
  const start = s.at++;
  if (nested >= MAX_NESTED) s.fail('f-strings nested too deeply.');
  const unclosed = (): void => {
    if (s.at >= s.text.length) s.fail('this { of an f-string is never closed.', start);
  };
  const open: string[] = [];
  for (;;) {
    while (s.at < s.text.length && (s.match(SPACE)![0] || s.match(BLANK)?.[0]));
    unclosed();
    const char = s.text[s.at]!;
    if (open.length === 0 && (char === '}' || char === ':')) break;
    if (skipString(s, nested + 1) || s.match(NAME) || s.match(NUMBER)) continue;
    if ('([{'.includes(char)) open.push(char);
    else if (char in closes && open.pop() !== closes[char]) s.fail(`unmatched ${char} in an f-string.`);
    if (open.length > MAX_BRACKETS) s.fail('too many nested brackets.');
    if (char === '!') s.at++;
    else if (s.match(OPERATOR) === null) strange(s);
  }
  if (s.text[s.at++] === '}') return;
  while (s.text[s.at] !== '}') {
    unclosed();
    if (s.text[s.at] === '{') skipReplacement(s, nested + 1);
    else s.at++;
  }
  s.at++;
}
