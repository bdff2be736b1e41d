/** JSON with the place of every value and key, so that what is wrong with a value can be said where it stands. */
export interface Located {
  readonly value: unknown;
  /** Offset of the value at a path; of the nearest value around it where the path leads nowhere. */
  readonly valueAt: (path: readonly PropertyKey[]) => number;
  /** Offset of the key that ends a path; of the value around it where there is none. */
  readonly keyAt: (path: readonly PropertyKey[]) => number;
}

export class JsonFlaw extends Error {
  readonly offset: number;
  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

const MAX_DEPTH = 32;
const SPACE = /[ \t\r\n]*/y;
const STRING = /"(?:[^"\\\r\n]|\\.)*"/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /[A-Za-z]+/y;
const words = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/** Parses strict JSON, a key given once per object. Throws `JsonFlaw`. */
export function parseJson(text: string): Located {
  const values = new Map<string, number>();
  const keys = new Map<string, number>();
  let at = text.startsWith('\ufeff') ? 1 : 0;

  const match = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0] ?? null;
    if (found !== null) at += found.length;
    return found;
  };
  const skip = (): void => void match(SPACE);
  const what = (): string =>
    at < text.length ? `found ${text.slice(at).match(/^\w+|./su)![0]}` : 'the file ends';
  const fail = (message: string): never => {
    throw new JsonFlaw(at, message);
  };

  const string = (): string => {
    const start = at;
    try {
      return JSON.parse(match(STRING) ?? '') as string;
    } catch {
      at = start;
      return fail('this text has no end, or holds a tab or an unknown escape.');
    }
  };

  const member = (path: readonly PropertyKey[], target: Record<string, unknown>): void => {
    const start = at;
    if (text[at] === "'") fail('JSON texts stand in double quotes.');
    if (text[at] === '}') fail('remove the comma before this.');
    if (text[at] !== '"') fail(`expected a key in double quotes, ${what()}.`);
    const key = string();
    if (key === '__proto__') throw new JsonFlaw(start, 'this key is not allowed.');
    if (Object.hasOwn(target, key)) throw new JsonFlaw(start, `the key ${JSON.stringify(key)} stands twice.`);
    keys.set(JSON.stringify([...path, key]), start);
    skip();
    if (text[at] !== ':') fail(`expected : after the key, ${what()}.`);
    at++;
    target[key] = value([...path, key]);
  };

  /** Members of an object or items of a list, up to and including the closing bracket. */
  const members = (close: '}' | ']', one: () => void): void => {
    at++;
    skip();
    while (text[at] !== close) {
      one();
      skip();
      if (text[at] === ',') {
        at++;
        skip();
        if (text[at] === close) fail(`remove the comma before this ${close}.`);
      } else if (text[at] !== close) fail(`expected , or ${close}, ${what()}.`);
    }
    at++;
  };

  const value = (path: readonly PropertyKey[]): unknown => {
    skip();
    values.set(JSON.stringify(path), at);
    if (path.length > MAX_DEPTH) fail('nested too deeply.');
    if (text[at] === '{') {
      const target: Record<string, unknown> = {};
      members('}', () => member(path, target));
      return target;
    }
    if (text[at] === '[') {
      const target: unknown[] = [];
      members(']', () => target.push(value([...path, target.length])));
      return target;
    }
    if (text[at] === '"') return string();
    const number = match(NUMBER);
    if (number !== null) {
      if (/[\w.]/.test(text[at] ?? '')) fail('not a JSON number.');
      return Number(number);
    }
    const start = at;
    const word = match(WORD);
    if (word !== null && words.has(word)) return words.get(word);
    at = start;
    if (text.startsWith('//', at) || text.startsWith('/*', at)) fail('JSON has no comments; remove this.');
    return fail(`expected a value, ${what()}.`);
  };

  const result = value([]);
  skip();
  if (at < text.length) fail(`expected nothing more, ${what()}.`);
  const around = (path: readonly PropertyKey[]): number => {
    for (let length = path.length; length >= 0; length--) {
      const found = values.get(JSON.stringify(path.slice(0, length)));
      if (found !== undefined) return found;
    }
    return 0;
  };
  return { value: result, valueAt: around, keyAt: (path) => keys.get(JSON.stringify(path)) ?? around(path) };
}
