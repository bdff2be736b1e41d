import { spawn } from 'node:child_process';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Rejection, rejection } from '../../contract/rejection.ts';
import { type Checked, checked, type SourceFile } from '../../contract/source.ts';
import type { CheckOptions } from './analyse.ts';
import type { Request } from './reader.ts';
import { checkSource } from './source.ts';

const READER = fileURLToPath(new URL(`./reader${extname(import.meta.url)}`, import.meta.url));
/** Longer than the largest source takes by far; only source made to be slow needs more. */
const READ_MS = 20_000;
const HEAP_MIB = 512;

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
  throw new Error(`the check of a source failed (${died}): ${last?.fault ?? 'it did not start'}`);
}

interface Line {
  readonly reading?: string;
  readonly checked?: unknown;
  readonly rejection?: unknown;
  readonly fault?: string;
}

function read(request: Request): Promise<{ lines: Line[]; died: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [`--max-old-space-size=${HEAP_MIB}`, READER], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: {},
      timeout: READ_MS,
      killSignal: 'SIGKILL',
    });
    const chunks: Buffer[] = [];
    child.on('error', reject);
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    // A child that dies early reads no further; what became of it is told by its end.
    child.stdin.on('error', () => {});
    child.on('close', (code, signal) => {
      const lines = Buffer.concat(chunks).toString('utf8').split('\n').filter(Boolean);
      resolve({ lines: lines.map((line) => JSON.parse(line) as Line), died: signal ?? `exit ${code}` });
    });
    child.stdin.end(JSON.stringify(request));
  });
}
