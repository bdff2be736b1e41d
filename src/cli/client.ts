import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import {
  archiveAnswer,
  insufficientAnswer,
  type QuoteRequest,
  quoteAnswer,
  type Run,
  run,
  runsAnswer,
  type SubmitAnswer,
  type SubmitRequest,
  submitAnswer,
  uploadAnswer,
} from '../../contract/api.ts';
import { type Balance, balance } from '../../contract/ledger.ts';
import type { PricedQuote } from '../../contract/quote.ts';
import { Rejection, rejection } from '../../contract/rejection.ts';
import { readConfig } from '../config.ts';
import { Mistake, messageOf } from './failure.ts';

const ATTEMPTS = 5;
/** Before the second attempt; it doubles with each. */
const PAUSE_MS = 500;
const ANSWER_MS = 30_000;
/** A submission is checked before it is answered. */
const SUBMIT_MS = 60_000;
const UPLOAD_MS = 300_000;
/** A server that asks for more patience than this is told of instead. */
const PATIENCE_S = 60;

/** The part of a command line that says whom to ask. */
export interface ServerOptions {
  readonly server?: string;
  readonly key?: string;
}

/** The server was asked several times and gave no usable answer. */
export class NoAnswer extends Error {}

/**
 * A server's api. What it refuses is thrown as a Rejection or a Mistake; whatever may pass is tried again for some
 * seconds and then thrown as NoAnswer. Nothing thrown or printed holds the key.
 */
export interface Client {
  readonly server: string;
  quote(request: QuoteRequest): Promise<PricedQuote>;
  /** Returns the key by which a submission names the upload. */
  upload(bytes: Uint8Array<ArrayBuffer>): Promise<string>;
  /** `name` tells this submission from all others: however often it arrives, it is one run. */
  submit(request: SubmitRequest, name: string): Promise<SubmitAnswer>;
  run(id: string): Promise<Run>;
  /** The newest first. */
  runs(): Promise<Run[]>;
  balance(): Promise<Balance>;
  /** A link to a run's archive that needs no key and is good for some minutes. */
  archive(id: string): Promise<string>;
}

/** Throws a Mistake where server or key are missing or cannot be any. */
export function openClient(options: ServerOptions): Client {
  const { server, key } = target(options);
  const ask = <T>(schema: z.ZodType<T>, path: string, body?: unknown, headers = {}, limit_ms = ANSWER_MS) =>
    asked(server, schema, `${server}/v1/backtest/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      redirect: 'error',
      limit_ms,
    });
  const path = (id: string) => `run/${encodeURIComponent(id)}`;
  return {
    server,
    quote: async (request) => (await ask(quoteAnswer, 'quote', request)).quote,
    async upload(bytes) {
      for (let attempt = 1; ; attempt++) {
        const { url, key, headers } = await ask(uploadAnswer, 'upload', { bytes: bytes.length });
        // A link takes one PUT: where that broke, nobody knows whether it arrived, and a new link costs nothing.
        const problem = await put(url, headers, bytes);
        if (problem === null) return key;
        if (attempt === ATTEMPTS) throw new NoAnswer(`An upload to ${new URL(url).host} failed: ${problem}.`);
        await pause(attempt);
      }
    },
    submit: (request, name) => ask(submitAnswer, 'submit', request, { 'idempotency-key': name }, SUBMIT_MS),
    run: (id) => ask(run, path(id)),
    runs: async () => (await ask(runsAnswer, 'runs')).runs,
    balance: () => ask(balance, 'balance'),
    archive: async (id) => (await ask(archiveAnswer, `${path(id)}/archive?as=json`)).url,
  };
}

/** Waits before the next attempt, longer each time. */
export const pause = (attempt: number): Promise<void> => sleep(PAUSE_MS * 2 ** (attempt - 1));

/** Why a request got no answer: `fetch` hides it in a cause. */
export function reasonOf(error: unknown): string {
  const { name, cause } = error as Error;
  return name === 'TimeoutError' ? 'it takes too long' : messageOf(cause ?? error);
}

function target(options: ServerOptions): { server: string; key: string } {
  const config = readConfig();
  const server = (options.server ?? config.server)?.replace(/\/+$/, '');
  const key = options.key ?? config.key;
  if (!server)
    throw new Mistake(
      'Which server? Give --server or set BACKTEST_SERVER, such as http://127.0.0.1:8080. One on this machine: npx backtest serve',
    );
  if (!URL.canParse(server) || !/^https?:$/.test(new URL(server).protocol))
    throw new Mistake(`--server ${server}: this is no address that begins with http:// or https://`);
  const { username, password } = new URL(server);
  if (username || password)
    throw new Mistake(
      'The address of the server holds a name or a password. Leave them out: only the key counts.',
    );
  if (!key) throw new Mistake(`Which key? Give --key or set BACKTEST_KEY to your key for ${server}`);
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new Mistake('The key holds characters that no key has. Copy it again.');
  return { server, key };
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly retryAfter: string | null;
}

async function asked<T>(
  server: string,
  schema: z.ZodType<T>,
  url: string,
  { limit_ms, ...request }: RequestInit & { readonly limit_ms: number },
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const answer = await exchange(url, { ...request, signal: AbortSignal.timeout(limit_ms) });
    const last = attempt === ATTEMPTS;
    if (typeof answer === 'string') {
      if (last)
        throw new NoAnswer(`${server} does not answer: ${answer}. Is the address right, and is it running?`);
      await pause(attempt);
    } else if (answer.status === 429) {
      const seconds = Math.max(1, Math.ceil(Number(answer.retryAfter)) || 1);
      if (last || seconds > PATIENCE_S)
        throw new NoAnswer(`${server} is asked too often. Try again in ${seconds} s.`);
      process.stderr.write(`${server} asks to wait ${seconds} s\n`);
      await sleep(seconds * 1000);
    } else if (answer.status >= 500) {
      if (last)
        throw new NoAnswer(`${server} cannot answer at the moment (${answer.status}): ${errorOf(answer)}`);
      await pause(attempt);
    } else return understood(server, schema, answer);
  }
}

/** The reason, where there is no answer. */
async function exchange(url: string, request: RequestInit): Promise<Answer | string> {
  try {
    const response = await fetch(url, request);
    const text = await response.text();
    return { status: response.status, text, retryAfter: response.headers.get('retry-after') };
  } catch (error) {
    return reasonOf(error);
  }
}

function understood<T>(server: string, schema: z.ZodType<T>, answer: Answer): T {
  const { status } = answer;
  const body = json(answer.text);
  if (status >= 200 && status < 300) {
    const parsed = schema.safeParse(body);
    if (parsed.success) return parsed.data;
    const { path, message } = parsed.error.issues[0]!;
    throw new Error(
      `${server} answered what this version does not understand: ${path.join('.') || 'the answer'}: ${message}. Is it a backtest server of this version?`,
    );
  }
  if (status === 422) {
    const refused = rejection.safeParse(body);
    if (refused.success) throw new Rejection(refused.data.code, refused.data.detail);
  }
  if (status === 401)
    throw new Mistake(`${server} does not take the key: ${errorOf(answer)}. Look at --key or BACKTEST_KEY.`);
  if (status === 404 && errorOf(answer) === 'no such run')
    throw new Mistake(`${server} knows no such run of yours: npx backtest status lists them`);
  const poor = status === 402 ? insufficientAnswer.safeParse(body).data : undefined;
  if (poor !== undefined)
    throw new Mistake(
      `There are not enough credits: the run needs ${poor.required}, the balance is ${poor.balance}. Nothing was submitted.`,
    );
  throw new Mistake(`${server} refused (${status}): ${errorOf(answer)}`);
}

function errorOf({ text }: Answer): string {
  const { error, detail } = (json(text) ?? {}) as { error?: unknown; detail?: unknown };
  return String(error ?? detail ?? text.trim().slice(0, 200)) || 'no reason was given';
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Null when it is there; else what went wrong. */
async function put(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array<ArrayBuffer>,
): Promise<string | null> {
  // `fetch` counts by itself, and sends no length twice.
  const { 'content-length': _, ...others } = headers;
  const signal = AbortSignal.timeout(UPLOAD_MS);
  const answer = await exchange(url, { method: 'PUT', headers: others, body, signal });
  if (typeof answer === 'string') return answer;
  return answer.status < 300 ? null : `${answer.status} ${errorOf(answer)}`;
}
