import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';

/** What is kept of a command's output to explain its failure. */
const TAIL_LINES = 15;

export interface CommandOptions {
  /** Called with each line of stderr, and of stdout unless `stdout` is given. */
  onLine?: (line: string) => void;
  /** Takes stdout as a stream; the command counts as done when this has settled too. */
  stdout?: (stream: Readable) => Promise<void>;
}

/**
 * Runs a program to its end and returns what it wrote to stdout (nothing where `stdout` takes it).
 * Throws with the last lines of its output when it is missing or exits other than with 0.
 */
export async function command(file: string, args: string[], options: CommandOptions = {}): Promise<string> {
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const tail: string[] = [];
  let output = '';
  const keep = (line: string) => {
    tail.push(line);
    if (tail.length > TAIL_LINES) tail.shift();
    options.onLine?.(line);
  };
  const ended = new Promise<string | null>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code, signal) =>
      resolve(code === 0 ? null : `it ended with ${signal ?? `code ${code}`}`),
    );
  });
  eachLine(child.stderr, keep);
  let reader = Promise.resolve('');
  if (options.stdout) {
    reader = options.stdout(child.stdout).then(
      () => '',
      (error: Error) => {
        child.kill();
        return error.message;
      },
    );
  } else {
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    eachLine(child.stdout, keep);
  }
  const [failure, refusal] = await Promise.all([ended, reader]);
  // Either may have brought down the other, so both are told.
  if (failure !== null || refusal)
    throw new Error([`${file} failed: ${failure ?? ''}`, refusal, ...tail].filter(Boolean).join('\n'));
  return output;
}

function eachLine(stream: Readable, onLine: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split(/\r?\n|\r/);
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim()) onLine(line);
  });
  stream.on('end', () => {
    if (rest.trim()) onLine(rest);
  });
}
