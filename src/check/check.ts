import { Rejection, rejection } from '../../contract/rejection.ts';
import { type Checked, checked, type SourceFile } from '../../contract/source.ts';
import type { CheckOptions } from './analyse.ts';
import { read } from './pool.ts';
import { checkSource } from './source.ts';

/**
 * Checks a strategy without running any of it: its files, its manifest, its syntax, its hooks and its imports. Throws
 * `Rejection` with the file, line and column of what is wrong. The parsers run in a process of their own, as source can
 * be written that crashes them or keeps them busy for hours.
 */
export async function check(files: readonly SourceFile[], options: CheckOptions): Promise<Checked> {
  checkSource(files, options.limits);
  const { lines, died } = await read({ files, options });
  const last = lines.at(-1);
  if (last?.checked !== undefined) return checked.parse(last.checked);
  if (last?.rejection !== undefined) {
    const { code, detail } = rejection.parse(last.rejection);
    throw new Rejection(code, detail);
  }
  if (last?.reading !== undefined) {
    const why = died === 'SIGSEGV' ? 'nests too deeply' : 'takes too much time or memory';
    throw new Rejection('E_LIMIT', `${last.reading}: the source ${why} to be read; simplify it.`);
  }
  throw new Error(
    `the check of a source failed (${died ?? 'a fault'}): ${last?.fault ?? 'it did not start'}`,
  );
}
