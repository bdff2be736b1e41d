import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Request } from './reader.ts';

const READER = fileURLToPath(new URL(`./reader${extname(import.meta.url)}`, import.meta.url));
/** Longer than the largest source takes by far; only source made to be slow needs more. */
const READ_MS = 20_000;
const HEAP_MIB = 512;
/** A reader takes longer to start than most sources take to be read, so it stays this long for the next one. */
const IDLE_MS = 60_000;

/** What a reader says of a source, line by line; the last one is the result, unless it died first. */
export interface Reading {
  readonly lines: readonly {
    readonly reading?: string;
    readonly checked?: unknown;
    readonly rejection?: unknown;
    readonly fault?: string;
  }[];
  /** Signal or exit code; null: it lives. */
  readonly died: string | null;
}

type Reader = (request: Request) => Promise<Reading>;

const idle: Reader[] = [];

/** Reads a source in a process that reads nothing else meanwhile. How many are read at once is up to the caller. */
export async function read(request: Request): Promise<Reading> {
  for (let reader = idle.pop(); reader !== undefined; reader = idle.pop()) {
    const reading = await reader(request);
    // One that died while it was idle says nothing.
    if (reading.lines.length > 0) return reading;
  }
  return start()(request);
}

function start(): Reader {
  const child = spawn(process.execPath, [`--max-old-space-size=${HEAP_MIB}`, READER], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {},
  });
  let said = '';
  let died: string | null = null;
  let alarm: NodeJS.Timeout | undefined;
  let answer = () => {};

  const reader: Reader = (request) =>
    new Promise((resolve) => {
      said = '';
      answer = () => {
        answer = () => {};
        clearTimeout(alarm);
        // Of a line that was never finished nothing is known.
        const lines = said
          .slice(0, said.lastIndexOf('\n') + 1)
          .split('\n')
          .filter(Boolean);
        resolve({ lines: lines.map((line) => JSON.parse(line)), died });
        if (died === null) rest();
      };
      if (died !== null) return answer();
      clearTimeout(alarm);
      alarm = setTimeout(() => child.kill('SIGKILL'), READ_MS);
      for (const part of parts) part.ref();
      child.stdin.write(`${JSON.stringify(request)}\n`);
    });
  // While it is idle it keeps nobody alive: it ends with the process that started it.
  const parts = [child, child.stdin as Socket, child.stdout as Socket];
  const rest = () => {
    for (const part of parts) part.unref();
    if (idle.length >= availableParallelism()) return child.stdin.end();
    alarm = setTimeout(() => child.stdin.end(), IDLE_MS).unref();
    idle.push(reader);
  };
  const end = (how: string) => {
    died = how;
    if (idle.includes(reader)) idle.splice(idle.indexOf(reader), 1);
    answer();
  };

  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    if (said.endsWith('\n\n')) answer();
  });
  // A reader that dies early reads no further; what became of it is told by its end.
  child.stdin.on('error', () => {});
  child.on('error', (error) => end(error.message));
  child.on('close', (code, signal) => end(signal ?? `exit ${code}`));
  return reader;
}
