// The process in which source is parsed. Each request is a line of JSON on stdin; each answer is lines of JSON on
// stdout, the last one the result, and an empty line.
import { writeSync } from 'node:fs';
import { Rejection } from '../../contract/rejection.ts';
import type { SourceFile } from '../../contract/source.ts';
import { analyse, type CheckOptions } from './analyse.ts';

export interface Request {
  readonly files: readonly SourceFile[];
  readonly options: CheckOptions;
}

const NEWLINE = 0x0a;

// Synchronous: source may crash the process while it is read, and what was said before must be out by then.
const say = (line: string): void => {
  const bytes = Buffer.from(`${line}\n`);
  for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at);
};

function answer({ files, options }: Request): void {
  try {
    const checked = analyse(files, options, (file) => say(JSON.stringify({ reading: file })));
    say(JSON.stringify({ checked }));
  } catch (error) {
    const fault = String((error as Error)?.stack ?? error);
    say(JSON.stringify(error instanceof Rejection ? { rejection: error } : { fault }));
  }
  say('');
}

let chunks: Buffer[] = [];
process.stdin.on('data', (chunk: Buffer) => {
  chunks.push(chunk);
  if (chunk.at(-1) !== NEWLINE) return;
  const request = JSON.parse(Buffer.concat(chunks).toString()) as Request;
  chunks = [];
  answer(request);
});
