import type { z } from 'zod';
import { didYouMean, orList, shown } from './text.ts';

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** One thing wrong with a value: where, in words, and whether the key rather than the value is at fault. */
export interface Complaint {
  readonly path: Path;
  readonly at: 'key' | 'value';
  readonly text: string;
}

/** Says what zod found, one sentence each. `value` is what was parsed, `schema` what it was parsed with. */
export function complaints(issues: readonly Issue[], value: unknown, schema: z.ZodType): Complaint[] {
  return issues.flatMap((issue) => complain(issue, value, schema));
}

function complain(issue: Issue, value: unknown, schema: z.ZodType): Complaint[] {
  const { path } = issue;
  const found = at(value, path);
  if (issue.code === 'unrecognized_keys') {
    const known = keysAt(schema, path);
    return issue.keys.map((key) => ({
      path: [...path, key],
      at: 'key',
      text: `unknown key ${shown(key)}${inside(path)}.${didYouMean(key, known) || ` Known here: ${known.join(', ')}.`}`,
    }));
  }
  if (issue.code === 'invalid_key') {
    return [{ path, at: 'key', text: `${named(path)}: ${plain(issue.issues[0]!, path.at(-1))}.` }];
  }
  if (issue.code === 'invalid_union') {
    // What was meant is the alternative that got furthest into the value.
    const inner = issue.errors.find((errors) =>
      errors.some((one) => one.path.length > 0 || one.code === 'unrecognized_keys' || one.code === 'custom'),
    );
    if (inner !== undefined && isObject(found)) {
      return inner.flatMap((one) => complain({ ...one, path: [...path, ...one.path] }, value, schema));
    }
  }
  if (found === undefined) {
    return [{ path, at: 'value', text: `${named(path)} is missing: ${plain(issue, found)}.` }];
  }
  // What ends with a question needs no full stop.
  return [{ path, at: 'value', text: `${named(path)}: ${plain(issue, found)}.`.replace(/\?\.$/, '?') }];
}

/** What was expected and what is there, without a full stop. */
function plain(issue: Issue, found: unknown): string {
  const got = found === undefined ? '' : `, found ${describe(found)}`;
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${typeName(issue.expected)}${got}`;
    case 'invalid_value':
      return `expected ${orList(issue.values.map((one) => JSON.stringify(one)))}${got}${meant(issue.values, found)}`;
    case 'too_big':
    case 'too_small':
      return bound(issue, got);
    case 'invalid_union':
      return `expected ${orList([...new Set(issue.errors.flat().flatMap(alternatives))])}${got}`;
    default:
      return `${issue.message.replace(/\.$/, '')}${got}`;
  }
}

function meant(values: readonly unknown[], found: unknown): string {
  const words = values.filter((one) => typeof one === 'string');
  const hint = typeof found === 'string' ? didYouMean(found, words) : '';
  return hint && `.${hint}`;
}

function bound(issue: Extract<Issue, { code: 'too_big' | 'too_small' }>, got: string): string {
  const limit = issue.code === 'too_big' ? issue.maximum : issue.minimum;
  const words = issue.code === 'too_big' ? 'at most' : 'at least';
  if (issue.origin === 'string') return `expected ${words} ${limit} characters`;
  if (issue.origin === 'array') return `expected ${words} ${limit} ${Number(limit) === 1 ? 'item' : 'items'}`;
  return `expected ${words} ${limit}${got}`;
}

function alternatives(issue: Issue): string[] {
  if (issue.code === 'invalid_value') return issue.values.map((one) => JSON.stringify(one));
  if (issue.code === 'invalid_type') return [typeName(issue.expected)];
  if (issue.code === 'too_big') return [`a value of at most ${issue.maximum}`];
  if (issue.code === 'too_small') return [`a value of at least ${issue.minimum}`];
  return [];
}

function typeName(expected: string): string {
  const names: Record<string, string> = {
    string: 'a text',
    number: 'a number',
    int: 'a whole number',
    boolean: 'true or false',
    array: 'a list',
    object: 'an object',
    record: 'an object',
  };
  return names[expected] ?? expected;
}

function describe(value: unknown): string {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return shown(value);
  return Array.isArray(value) ? 'a list' : 'an object';
}

/** `execution.latency_ms.entry`, `series[0].file`. */
export function named(path: Path): string {
  if (path.length === 0) return 'the manifest';
  return path
    .map((part, i) => (typeof part === 'number' ? `[${part}]` : `${i > 0 ? '.' : ''}${String(part)}`))
    .join('');
}

const inside = (path: Path): string => (path.length === 0 ? '' : ` in ${named(path)}`);
const isObject = (value: unknown): value is Record<PropertyKey, unknown> =>
  typeof value === 'object' && value !== null;

function at(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, part) => (isObject(inner) ? inner[part] : undefined), value);
}

/** The keys that the object at a path of the schema knows. */
function keysAt(schema: z.ZodType, path: Path): string[] {
  let inner = [schema];
  for (const part of [...path, null]) {
    inner = inner.flatMap(unwrap);
    if (part === null) break;
    inner = inner.flatMap((one) => {
      const { def } = one as z.ZodObject | z.ZodArray;
      if (def.type === 'object') return part in def.shape ? [def.shape[String(part)] as z.ZodType] : [];
      return def.type === 'array' ? [def.element as z.ZodType] : [];
    });
  }
  return inner.flatMap((one) => {
    const { def } = one as z.ZodObject;
    return def.type === 'object' ? Object.keys(def.shape) : [];
  });
}

function unwrap(schema: z.ZodType): z.ZodType[] {
  const { def } = schema as unknown as { def: { innerType?: z.ZodType; options?: z.ZodType[] } };
  return (def.innerType ? [def.innerType] : (def.options ?? null))?.flatMap(unwrap) ?? [schema];
}
