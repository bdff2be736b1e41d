import type { Limits } from '../../contract/limits.ts';
import { Rejection } from '../../contract/rejection.ts';
import type { Checked, SourceFile } from '../../contract/source.ts';
import { readManifest } from './manifest.ts';
import { checkNode } from './node.ts';
import { checkPython } from './python.ts';
import { bytesOf, checkSource, MANIFEST, sourceHash } from './source.ts';

export interface CheckOptions {
  readonly limits: Limits;
  /** Names of the series files that were supplied; left out where they are not known yet. */
  readonly series?: readonly string[];
}

/**
 * The check itself, in this process: see `check`. Source that nests deep enough ends the process, as the parser of
 * JavaScript is native code; `reading` hears which file comes next.
 */
export function analyse(
  given: readonly SourceFile[],
  { limits, series }: CheckOptions,
  reading: (file: string) => void = () => {},
): Checked {
  checkSource(given, limits);
  const files = given.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const written = files.find(({ name }) => name === MANIFEST);
  if (written === undefined) throw new Rejection('E_MANIFEST', `there is no ${MANIFEST} among the files.`);
  reading(MANIFEST);
  const manifest = readManifest(written.content, { files: files.map(({ name }) => name), series, limits });
  const source = files.filter((file) => file !== written);
  const language = manifest.language === 'python@3.14' ? checkPython : checkNode;
  const { hooks, imports } = language(source, manifest, reading);
  return {
    manifest,
    hooks,
    files: files.map(({ name, content }) => ({ name, bytes: bytesOf(content) })),
    total_bytes: files.reduce((sum, { content }) => sum + bytesOf(content), 0),
    imports,
    source_sha256: sourceHash(files),
    depth: source.some(({ content }) => /(?<![\p{ID_Continue}$])levels(?![\p{ID_Continue}$])/u.test(content)),
  };
}
