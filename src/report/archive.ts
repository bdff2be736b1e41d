import { createHash, type Hash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ZipArchive } from 'archiver';
import type { Report } from '../../contract/report.ts';
import { type Entry, entries, entryNames } from './entries.ts';
import { equityCurve } from './equity.ts';
import { ARCHIVE, replaceOut } from './folder.ts';
import { buildReport, capitalOf, type ReportInput } from './report.ts';

export interface ReportExtras {
  /** manifest.json as it was submitted. */
  readonly manifest_text: string;
  /** What differs between two runs of the same: run id, image digest, sandbox kind, machine, wall times. */
  readonly provenance: Readonly<Record<string, unknown>>;
}

export interface WrittenReport {
  readonly report: Report;
  /** Path of the zip. */
  readonly archive: string;
  /** sha256 of sha256sums.txt, and so over names and contents of all files but provenance.json. */
  readonly result_digest: string;
}

/**
 * Builds the report and writes it to the folder `out`: every file of it, and `report.zip` with the same files. All or
 * nothing; throws an Error as `prepareOut` does.
 */
export async function writeReport(
  input: ReportInput,
  extras: ReportExtras,
  out: string,
): Promise<WrittenReport> {
  const curve = equityCurve(capitalOf(input), input.units);
  const report = buildReport(input, curve);
  let result_digest = '';
  await replaceOut(out, async (folder) => {
    let sums = '';
    for (const entry of entries(input, report, curve, extras.manifest_text)) {
      sums += `${await write(folder, entry)}  ${entry.name}\n`;
    }
    result_digest = await write(folder, { name: 'sha256sums.txt', chunks: [sums] });
    const provenance = JSON.stringify({ ...extras.provenance, result_digest }, null, 2);
    await write(folder, { name: 'provenance.json', chunks: [`${provenance}\n`] });
    const files = entryNames.map((name) => ({ name, path: join(folder, name) }));
    await zip(join(folder, ARCHIVE), files);
  });
  return { report, archive: join(out, ARCHIVE), result_digest };
}

/** Writes a file and returns its sha256. */
async function write(folder: string, entry: Entry): Promise<string> {
  const hash = createHash('sha256');
  await writeFile(join(folder, entry.name), hashed(entry.chunks, hash));
  return hash.digest('hex');
}

async function* hashed(chunks: Entry['chunks'], hash: Hash): AsyncGenerator<string | Buffer> {
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
}

/** The earliest time that a zip can hold. */
const ZIP_EPOCH = new Date(Date.UTC(1980, 0, 1));

/** One zip for a sweep: `cells.json`, which says what became of each cell, and the files of every report in `folders`. */
export async function zipCells(
  target: string,
  index: string,
  folders: readonly { readonly name: string; readonly folder: string }[],
): Promise<void> {
  await zip(target, [
    { name: 'cells.json', path: index },
    ...folders.flatMap(({ name, folder }) =>
      entryNames.map((entry) => ({ name: `${name}/${entry}`, path: join(folder, entry) })),
    ),
  ]);
}

/** Same files, same bytes: fixed order (one stat at a time keeps it), times and modes. */
async function zip(
  target: string,
  files: readonly { readonly name: string; readonly path: string }[],
): Promise<void> {
  const archive = new ZipArchive({ statConcurrency: 1 });
  for (const { name, path } of files) archive.file(path, { name, date: ZIP_EPOCH, mode: 0o644 });
  await Promise.all([pipeline(archive, createWriteStream(target)), archive.finalize()]);
}
