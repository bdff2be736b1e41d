import { Rejection } from '../../contract/rejection.ts';
import type { SourceFile } from '../../contract/source.ts';
import { place } from './text.ts';

/** A position in a text that is read from front to back. */
export interface Scanner {
  readonly text: string;
  at: number;
  /** Moves past a sticky pattern and returns what it matched; null, without moving, where it does not match. */
  readonly match: (pattern: RegExp) => RegExpExecArray | null;
  /** Throws E_SYNTAX with the place of an offset, by default of the current one. */
  readonly fail: (message: string, offset?: number) => never;
}

export function scan({ name, content: text }: SourceFile): Scanner {
  const scanner: Scanner = {
    text,
    at: text.startsWith('\ufeff') ? 1 : 0,
    match: (pattern) => {
      pattern.lastIndex = scanner.at;
      const found = pattern.exec(text);
      if (found !== null) scanner.at += found[0].length;
      return found;
    },
    fail: (message, offset = scanner.at) => {
      throw new Rejection('E_SYNTAX', `${place(name, text, offset)}: ${message}`);
    },
  };
  return scanner;
}
