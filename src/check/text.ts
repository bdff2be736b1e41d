import { closest, distance } from 'fastest-levenshtein';

/** `line:column` of an offset, both counted from 1. */
export function lineColumn(text: string, offset: number): string {
  const before = text.slice(0, offset).split(/\r\n?|\n/);
  return `${before.length}:${before.at(-1)!.length + 1}`;
}

/** `file:line:column` of an offset. */
export const place = (name: string, text: string, offset: number): string =>
  `${name}:${lineColumn(text, offset)}`;

/** The known word closest to what was written, or undefined when none is close enough to have been meant. */
export function nearest(written: string, known: readonly string[]): string | undefined {
  if (known.length === 0 || written.length > 200) return undefined;
  const found = closest(written.toLowerCase(), [...known]);
  return distance(written.toLowerCase(), found.toLowerCase()) <= Math.max(2, found.length / 3)
    ? found
    : undefined;
}

/** ` Did you mean x?`, or nothing. */
export function didYouMean(written: string, known: readonly string[]): string {
  const found = nearest(written, known);
  return found === undefined ? '' : ` Did you mean ${found}?`;
}

/** Text from outside, quoted and cut, fit for one line of a message. */
export function shown(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 77)}...` : text);
}

/** `a`, `a or b`, `a, b or c`. */
export function orList(words: readonly string[], last = 'or'): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`;
}
