import { stripTypeScriptTypes } from 'node:module';
import { describe, expect, test } from 'vitest';
import { accepted, JS, node, refused, strategy } from './written.ts';

const ok = (source: string, more: Record<string, string> = {}, entry = 'main.js') =>
  accepted(strategy({ ...node, entry }, { [entry]: source, ...more }));
const said = (source: string, more: Record<string, string> = {}, entry = 'main.js') =>
  refused(strategy({ ...node, entry }, { [entry]: source, ...more }));
const method = (text: string) => `export class Strategy {\n  onStart(ctx) {}\n  ${text}\n}\n`;

describe('syntax', () => {
  test.each(
    [
      'using x = open(); await using y = open();',
      'const { a = 1, ...rest } = b ?? {}; a ||= b?.[c]?.(d);',
      'class A { static #x = 1; static { this.#x; } get #y() { return #x in this; } static async *z() {} }',
      'label: for await (const x of y) { if (x) continue label; }',
      'const r = /(?<year>\\d{4})[\\p{L}--[a-z]]/v, n = 1_000n;',
      'import data from "./data.json" with { type: "json" }; export * as ns from "./other.js";',
      'export default async () => { await 0; new.target; }; await 0; import.meta.url;',
      '#!/usr/bin/env node\n',
    ].map((source) => [source]),
  )('%j passes', (source) => {
    const text = source.startsWith('#!')
      ? source + JS
      : source.includes('new.target')
        ? JS + source.replace('new.target; ', '')
        : JS + source;
    expect(ok(text, { 'other.js': '', 'data.json': '{}' }).hooks).toEqual(['onBook']);
  });

  test.each([
    ['const x = ;', '4:11'],
    ['let a; let a;', '4:'],
    ['return 1', '4:1'],
    ['@logged class A {}', '4:1'],
    ['class A { accessor x = 1 }', '4:11'],
    ['const é = "😀"; const = 1', '4:23'],
    ['const x: number = 1;', '4:7: this is TypeScript; name the file main.ts.'],
    ['const x = <div/>;', '4:11'],
    ['with (a) b;', '4:1'],
  ])('%j is refused where it is wrong', (source, at) => {
    expect(said(JS + source)).toMatch(/^E_SYNTAX main\.js:\d+:\d+: .*[.?]$/s);
    expect(said(JS + source)).toContain(`main.js:${at}`);
  });
});

const TS =
  'import type { Ctx } from "backtest";\nexport class Strategy {\n  private n?: number;\n  onBook(this: Strategy, ctx: Ctx, change?: unknown): void {}\n}\n';

describe('TypeScript', () => {
  test.each([
    'type A<T> = T extends string ? 1 : 2; interface B { x: number }',
    'const x = { a: 1 } as const satisfies object; let y = x!; function f<T,>(a: T): asserts a is T {}',
    'declare enum E { A } declare namespace N { const x: number } declare const z: number; declare module "x" {}',
    'namespace OnlyTypes { export type A = 1; interface B {} }',
    'abstract class A<T> { abstract x(): void; declare y: string; constructor(readonly_: number); constructor(a?: unknown) {} }',
    'import { type A } from "./types.ts"; export type { A }; import type Z = require("z");',
    'function over(a: string): void; function over(a: number): void; function over(a: unknown) {}',
  ])('%j passes, and Node.js strips it', (source) => {
    expect(ok(TS + source, { 'types.ts': 'export type A = 1' }, 'main.ts').hooks).toEqual(['onBook']);
    expect(() => stripTypeScriptTypes(TS + source)).not.toThrow();
  });

  test.each([
    ['enum E { A }', 'an enum is more than a type; write const E = { ... } as const.'],
    ['const enum E { A }', 'an enum is more than a type'],
    ['namespace N { export const x = 1 }', 'a namespace is more than a type'],
    ['class A { constructor(private x: number) {} }', 'a parameter property is more than a type'],
    ['import fs = require("fs");', 'import = is more than a type'],
    ['const x = <number>y;', 'write x as T'],
  ])('%j is refused, and Node.js does not strip it', (source, message) => {
    expect(said(TS + source, {}, 'main.ts')).toMatch(
      /^E_SYNTAX main\.ts:6:\d+: types are left out before the source runs, and /,
    );
    expect(said(TS + source, {}, 'main.ts')).toContain(message);
    expect(() => stripTypeScriptTypes(TS + source)).toThrow();
  });

  test.each([
    ['class C { override m() {} }', /^E_SYNTAX main\.ts:6:11: .*'override'/],
    ['export as namespace Foo;', /^E_SYNTAX main\.ts:6:8: without its types this is no JavaScript: /],
  ])('%j, which only the parser takes, is refused by the check and not by the run', (source, message) => {
    expect(said(TS + source, {}, 'main.ts')).toMatch(message);
  });
});

describe('class Strategy', () => {
  const body = '{ onBook(ctx, change) {} }';
  const other = { 'other.js': `export class Strategy ${body}\nexport default class Base ${body}` };
  test.each([
    [`class S ${body}\nexport { S as Strategy };`, {}],
    [`export default class ${body}`, {}],
    [`export default class Mine ${body}`, {}],
    [`class Mine ${body}\nexport default Mine;`, {}],
    [`export const Strategy = class ${body};`, {}],
    ['export { Strategy } from "./other.js";', other],
    ['export * from "./other.js";', other],
    ['export { default as Strategy } from "./other.js";', other],
    ['import B from "./other.js"; export class Strategy extends B {}', other],
    ['import * as o from "./other.js"; export class Strategy extends o.Strategy {}', other],
    [`const A = class ${body}; export class Strategy extends A {}`, {}],
  ])('%j has the hooks of what it stands for', (source, more) => {
    expect(ok(source, more as Record<string, string>).hooks).toEqual(['onBook']);
  });

  test.each([
    `class Strategy ${body}\nmodule.exports = { Strategy };`,
    `module.exports = class ${body};`,
    `exports.Strategy = class ${body};`,
    `module.exports.Strategy = class ${body};`,
    'const { Strategy } = require("./base.cjs"); module.exports = { Strategy };',
    'const base = require("./base.cjs"); class Strategy extends base.Strategy {}\nmodule.exports = { Strategy };',
  ])('%j counts in a .cjs file', (source) => {
    expect(
      ok(source, { 'base.cjs': `class Strategy ${body}\nmodule.exports = { Strategy };` }, 'main.cjs').hooks,
    ).toEqual(['onBook']);
  });

  test('a class that is made when the file runs is left to the box', () => {
    expect(ok('export const Strategy = make();').hooks).toEqual([]);
    expect(ok('export class Strategy extends mixin(Object) {}').hooks).toEqual([]);
    expect(ok('export class Strategy {}\nStrategy.prototype.onBook = () => {};').hooks).toEqual([]);
  });

  test('its absence says what to do', () => {
    expect(said(`class Strategy ${body}`)).toMatch(
      /^E_ENTRY main.js: there is no class Strategy here; write export class Strategy;/,
    );
    expect(said('', other)).toContain('other.js has one; name that file as entry, or import it.');
    expect(said('export function Strategy() {}')).toMatch(/^E_ENTRY main.js:1:17: Strategy is a function/);
    expect(said('module.exports = { Strategy: class {} };')).toMatch(
      /^E_ENTRY .* in a \.cjs file, module\.exports/,
    );
  });
});

describe('hooks', () => {
  test.each([
    ['onBok(ctx, change) {}', 'onBok is no hook. Did you mean onBook?'],
    ['on_book(ctx, change) {}', 'on_book is no hook. Did you mean onBook?'],
    [
      'async onBook(ctx, change) {}',
      'onBook is async, and nobody would await it; write onBook(ctx, change) { ... }',
    ],
    ['*onBook(ctx, change) {}', 'onBook is a generator'],
    ['static onBook(ctx, change) {}', 'onBook is static'],
    [
      'onBook = (ctx, change) => {};',
      'onBook is a field, and a hook must be a method; write onBook(ctx, change) { ... }',
    ],
    ['get onBook() { return 1; }', 'onBook is an accessor'],
    [
      'onBook(ctx, change, more) {}',
      'onBook is called with ctx and change; write onBook(ctx, change) { ... }',
    ],
    ['onSeries(ctx, row) {}', 'onSeries would never be called: it needs a series'],
  ])('%j is refused', (text, message) => {
    expect(said(method(text))).toMatch(/^E_HOOK main\.js:3:\d+: /);
    expect(said(method(text))).toContain(message);
  });

  test.each([
    'onBook() {}',
    'onBook(ctx, ...rest) {}',
    'onBook(ctx, change, more = 1) {}',
    '"onBook"(ctx, { market }) {}',
  ])('%j is a hook', (text) => {
    expect(ok(method(text)).hooks).toEqual(['onStart', 'onBook']);
  });

  test('fields and methods of other names are nobody else’s business', () => {
    expect(ok(method('onCooldown = false; only() {} #onBok() {}')).hooks).toEqual(['onStart']);
  });

  test('a class without any is refused', () => {
    expect(said('export class Strategy {}')).toMatch(
      /^E_HOOK main.js:1:14: class Strategy has no hook; implement at least one of onStart, /,
    );
  });

  test('inherited hooks are held to the same rules, where they stand', () => {
    const base = { 'base.js': 'export class B {\n  async onBook() {}\n}' };
    expect(said('import { B } from "./base.js";\nexport class Strategy extends B {}', base)).toMatch(
      /^E_HOOK base.js:2:9: /,
    );
  });
});

describe('imports', () => {
  test.each([
    ['import _ from "lodash";', 'there is no package "lodash".'],
    ['export * from "lodash/fp";', 'there is no package "lodash/fp".'],
    ['const x = await import("ws");', 'there is no package "ws".'],
    ['import x from "./other";', `there is no file "other". Write the file's whole name, with .js.`],
    ['import x from "./other.mjs";', `Write the file's whole name, with .js.`],
    ['import x from "other.js";', 'Did you mean ./other.js?'],
    ['import x from "./othr.js";', 'Did you mean other.js?'],
    ['import x from "../other.js";', 'there is no file "../other.js".'],
    ['import x from "/etc/passwd";', 'is absolute'],
    ['import "sqlite";', 'sqlite needs its prefix; write node:sqlite.'],
    ['import "node:fsx";', 'there is no package "node:fsx".'],
  ])('%j is refused', (source, message) => {
    const text = said(`${JS}${source}\n`, { 'other.js': '' });
    expect(text).toMatch(/^E_IMPORT main\.js:4:\d+: /);
    expect(text).toContain(message);
  });

  test.each([
    [
      'import fs, { readFileSync } from "fs"; import "node:test"; import "fs/promises";',
      ['node:fs', 'node:fs/promises', 'node:test'],
    ],
    ['import "./other.js"; import "./lib/a.js"; await import(`./other.js`);', []],
    ['try { await import("ws"); } catch {}', []],
    ['const name = "x"; await import(name);', []],
    ['// import "lodash"\nconst s = "import \'lodash\'";', []],
  ])('%j passes', (source, imports) => {
    expect(
      ok(JS + source, {
        'other.js': '',
        'lib/a.js': 'import "../other.js"; import "./b.js";',
        'lib/b.js': '',
      }).imports,
    ).toEqual(imports);
  });

  test('what a .cjs file requires is looked at as well', () => {
    const source = (specifier: string) =>
      `const x = require("${specifier}");\nmodule.exports = class { onStart(ctx) {} };`;
    expect(ok(source('fs'), {}, 'main.cjs').imports).toEqual(['node:fs']);
    expect(said(source('lodash'), {}, 'main.cjs')).toMatch(
      /^E_IMPORT main.cjs:1:11: there is no package "lodash"/,
    );
  });
});
