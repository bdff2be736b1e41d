import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { SubmitRequest } from '../../contract/api.ts';
import { LIMITS } from '../../contract/limits.ts';
import { cellParams } from '../../contract/manifest.ts';
import type { PricedQuote } from '../../contract/quote.ts';
import { readSource } from '../check/read.ts';
import { checkAlone, covered } from './check.ts';
import { type Client, NoAnswer, openClient, type ServerOptions } from './client.ts';
import { Mistake } from './failure.ts';
import { download } from './fetch.ts';
import { type ScopeOptions, scopeOf } from './scope.ts';
import { describe, exitOf, watch } from './status.ts';

export interface SubmitOptions extends ScopeOptions, ServerOptions {
  readonly email?: string;
  readonly locale?: 'en' | 'zh';
  readonly yes?: boolean;
  readonly watch?: boolean;
  readonly out?: string;
  readonly json?: boolean;
}

/**
 * `backtest submit`. With `json`, stdout gets the service's answer; with `watch` too, the finished run and the path of
 * its archive where that was fetched.
 */
export async function submitCommand(dir: string, options: SubmitOptions): Promise<void> {
  const asks = process.stdin.isTTY === true && process.stderr.isTTY === true;
  if (!options.yes && !asks)
    throw new Mistake('A run costs credits, and there is no terminal to ask for consent on: give --yes.');
  if (options.out !== undefined && !options.watch)
    throw new Mistake('--out needs --watch. Of a run that is done: npx backtest fetch RUN');
  const client = openClient(options);
  const { request, series, quote } = await prepared(client, dir, options);
  const { balance } = await client.balance();
  process.stderr.write(told(quote, balance));
  if (balance < quote.credits)
    throw new Mistake(
      `There are not enough credits: the run needs ${quote.credits}, the balance is ${balance}. Nothing was submitted.`,
    );
  if (!options.yes && !(await consent(`Submit to ${client.server}? [y/N] `)))
    throw new Mistake('Nothing was submitted.');

  const uploads: Record<string, string> = {};
  for (const [file, bytes] of series) uploads[file] = await client.upload(bytes);
  const answer = await client.submit({ ...request, uploads }, randomUUID()).catch((error) => {
    if (!(error instanceof NoAnswer)) throw error;
    throw new NoAnswer(
      `${error.message}\nThe run may have been taken. Look before you submit again: npx backtest status`,
    );
  });
  if (options.watch) await follow(client, answer.run_id, options);
  else if (options.json) process.stdout.write(`${JSON.stringify(answer)}\n`);
  else {
    const { run_id, credits_held } = answer;
    process.stdout.write(
      `${run_id}: queued, ${credits_held} credits held\n  npx backtest status ${run_id} --watch\n`,
    );
  }
}

/** What is wrong with the strategy is found here, before anything is uploaded. */
async function prepared(client: Client, dir: string, options: SubmitOptions) {
  const scope = scopeOf(options);
  const source = await readSource(dir, LIMITS);
  const { manifest } = await checkAlone(source);
  const { email, locale } = options;
  const request: SubmitRequest = {
    ...scope,
    files: source.files,
    ...(email && { email }),
    ...(locale && { locale }),
  };
  const { mode, intervals, language } = manifest;
  const sweep_cells = cellParams(manifest).length;
  const quote = await client.quote({ ...scope, mode, intervals, language, sweep_cells });
  const series = new Map<string, Uint8Array<ArrayBuffer>>();
  for (const [file, path] of source.series) series.set(file, await readFile(path));
  return { request, series, quote };
}

async function follow(client: Client, id: string, { out, json }: SubmitOptions): Promise<void> {
  process.stderr.write(`${id}: submitted\n`);
  const run = await watch(client, id);
  process.exitCode = exitOf(run);
  const archive =
    out !== undefined && run.archive_available ? await download(client, run, join(out, `${id}.zip`)) : null;
  if (json) process.stdout.write(`${JSON.stringify({ ...run, archive })}\n`);
  else process.stdout.write(describe(run, archive ?? undefined));
}

function told(quote: PricedQuote, balance: number): string {
  const missing = quote.missing.length > 0 ? `not archived: ${quote.missing.join(', ')}\n` : '';
  return `${covered(quote)}\n${missing}${quote.credits} of your ${balance} credits, about ${quote.approxUsd.toFixed(2)} $\n`;
}

/** Whoever closes the terminal or leaves with Ctrl-C has not consented. */
async function consent(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await new Promise<string>((resolve) => {
      terminal.once('close', () => resolve(''));
      terminal.question(question, resolve);
    });
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}
