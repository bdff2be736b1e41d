import { createHash } from 'node:crypto';
import type { Limits } from '../../contract/limits.ts';
import { Rejection } from '../../contract/rejection.ts';
import type { SourceFile } from '../../contract/source.ts';
import { place, shown } from './text.ts';

export const MANIFEST = 'manifest.json';
export const bytesOf = (text: string): number => Buffer.byteLength(text, 'utf8');

/** Refuses files that are too many, too large, badly named or not text. Throws `Rejection` (E_LIMIT, E_SYNTAX). */
export function checkSource(files: readonly SourceFile[], limits: Limits): void {
  if (files.length > limits.files) {
    throw limit(
      `${files.length} files; a strategy has at most ${limits.files}. Merge some, or remove what it does not use.`,
    );
  }
  for (const { name } of files) checkName(name, limits);
  checkTwins(files.map((file) => file.name));
  const total = files.reduce((sum, file) => sum + bytesOf(file.content), 0);
  if (total > limits.source_bytes) {
    const largest = files.reduce((a, b) => (bytesOf(b.content) > bytesOf(a.content) ? b : a));
    throw limit(
      `${total} bytes of source; at most ${limits.source_bytes} are allowed. The largest file is ${largest.name} ` +
        `(${bytesOf(largest.content)}). Data belongs in a series.`,
    );
  }
  for (const file of files) checkText(file);
}

/** Refuses a file name that is not flat or one folder deep, or that not every system can hold. */
export function checkName(name: string, limits: Limits): void {
  const flaw = nameFlaw(name, limits);
  if (flaw !== null) throw limit(`file name ${shown(name)}: ${flaw}`);
}

function nameFlaw(name: string, limits: Limits): string | null {
  if (name === '') return 'is empty.';
  if (/\p{Surrogate}/u.test(name)) return 'is not valid Unicode.';
  if (bytesOf(name) > limits.file_name_bytes) {
    return `is ${bytesOf(name)} bytes long; at most ${limits.file_name_bytes} are allowed.`;
  }
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(name)) return 'holds a control character.';
  if (name.includes('\\')) return 'holds a backslash; use / between folder and file.';
  if (name.startsWith('/') || /^[A-Za-z]:/.test(name))
    return 'is absolute; give it relative to the strategy folder.';
  const parts = name.split('/');
  if (parts.some((part) => part === '')) return 'has an empty part; write folder/file.';
  if (parts.includes('..')) return 'leaves the strategy folder; `..` is not allowed.';
  if (parts.some((part) => part.startsWith('.'))) return 'has a part that starts with a dot; rename it.';
  if (parts.length > 2)
    return 'lies too deep; files may lie in the strategy folder or in one folder below it.';
  return null;
}

/** Two names that one disk may hold as one: equal, equal but for case, or a file named like a folder. */
function checkTwins(names: readonly string[]): void {
  const seen = new Map<string, string>();
  for (const name of names) {
    const folder = name.includes('/') ? name.slice(0, name.indexOf('/') + 1) : null;
    for (const path of folder === null ? [name] : [folder, name]) {
      const key = path.replace(/\/$/, '').normalize('NFKC').toUpperCase().toLowerCase();
      const twin = seen.get(key);
      if (twin !== undefined && !(twin === path && path === folder)) {
        throw limit(
          twin === path
            ? `file ${shown(name)} is given twice.`
            : `${shown(path)} and ${shown(twin)} are one name on some disks; rename one.`,
        );
      }
      seen.set(key, path);
    }
  }
}

function checkText({ name, content }: SourceFile): void {
  const nul = content.indexOf('\0');
  if (nul >= 0)
    throw new Rejection('E_SYNTAX', `${place(name, content, nul)}: a NUL character; source must be text.`);
  const half = content.search(/\p{Surrogate}/u);
  if (half >= 0) {
    throw new Rejection(
      'E_SYNTAX',
      `${place(name, content, half)}: half of a surrogate pair; save the file as UTF-8.`,
    );
  }
}

/**
 * Identity of a source: SHA-256 over its files by name, each as name and content, each of those after its length in
 * bytes (u32, little-endian). Lower-case hex; the order in which files are given does not matter.
 */
export function sourceHash(files: readonly SourceFile[]): string {
  const hash = createHash('sha256');
  for (const { name, content } of files.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    for (const text of [name, content]) {
      const length = Buffer.alloc(4);
      length.writeUInt32LE(bytesOf(text));
      hash.update(length).update(text, 'utf8');
    }
  }
  return hash.digest('hex');
}

const limit = (detail: string): Rejection => new Rejection('E_LIMIT', detail);
