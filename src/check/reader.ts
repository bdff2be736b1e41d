// The process in which source is parsed: one request on stdin, lines of JSON on stdout, the last one the result.
import { readFileSync, writeSync } from 'node:fs';
import { Rejection } from '../../contract/rejection.ts';
import type { SourceFile } from '../../contract/source.ts';
import { analyse, type CheckOptions } from './analyse.ts';

export interface Request {
  readonly files: readonly SourceFile[];
  readonly options: CheckOptions;
}

const say = (line: object): void => {
  const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
  for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at);
};

const { files, options } = JSON.parse(readFileSync(0, 'utf8')) as Request;
try {
  say({ checked: analyse(files, options, (file) => say({ reading: file })) });
} catch (error) {
  say(
    error instanceof Rejection ? { rejection: error } : { fault: String((error as Error)?.stack ?? error) },
  );
}
