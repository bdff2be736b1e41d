import { buffer } from 'node:stream/consumers';
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import {
  approximate,
  checkAnswer,
  insufficientAnswer,
  type PricedQuote,
  type Quote,
  quoteAnswer,
  quoteRequest,
  Rejection,
  submitAnswer,
  submitHeaders,
  submitRequest,
} from '../../contract/index.ts';
import { resolveScope } from '../archive/scope.ts';
import { submit } from '../fleet/submit.ts';
import { InsufficientCredits } from '../ledger/refused.ts';
import { type Prepared, prepare } from '../run/prepare.ts';
import { keyed, limited, rejected, unauthorized, unavailable } from './document.ts';
import { BUSY, Refusal } from './errors.ts';
import { doorFor } from './line.ts';
import type { Api, App } from './parts.ts';
import { uploadsOf } from './upload.ts';

/** Of the largest submissions so many may be in memory at once, or more of smaller ones. */
const ROOM = { all: 128, each: 32 };

const common = { ...rejected, ...limited, ...unavailable };

/** From a question about the price to a run. */
export function submission(app: App, api: Api): void {
  const { archive, limits } = api;

  app.post(
    '/v1/backtest/quote',
    {
      config: { submission: Object.keys(quoteRequest.shape) },
      schema: {
        summary: 'What a run would cost. Free',
        body: quoteRequest,
        response: { 200: quoteAnswer, ...common },
      },
    },
    async ({ body: { mode, intervals, language: _, ...scope } }) => {
      const cells = scope.sweep_cells ?? 1;
      if (cells > limits.sweep_cells)
        throw new Rejection('E_LIMIT', `sweep_cells: at most ${limits.sweep_cells}, this is ${cells}`);
      const { quote } = await resolveScope(archive, scope, [...new Set(intervals)], mode, cells);
      return { ok: true as const, quote: priced(quote) };
    },
  );

  // Source as JSON: a letter of two bytes may be written as six characters.
  const bodyLimit = 3 * limits.source_bytes + 65_536;
  const door = doorFor(ROOM.all * bodyLimit, ROOM.each * bodyLimit);
  const enter = async (request: FastifyRequest) => {
    const length = Number(request.headers['content-length'] ?? bodyLimit);
    door(clientOf(request), request.answered, Math.min(length, bodyLimit));
  };
  const submitted = {
    bodyLimit,
    config: { submission: Object.keys(submitRequest.shape), answer_ms: 3 * api.rate.answer_ms },
  };
  app.post(
    '/v1/backtest/check',
    {
      ...submitted,
      onRequest: enter,
      schema: {
        summary: 'Whether a submission would be taken, and what it would cost. Free',
        description: 'Takes what submit takes, and needs a key only where uploads are named.',
        security: [{}, ...keyed],
        body: submitRequest,
        response: {
          200: checkAnswer,
          ...unauthorized('uploads are named without a valid backtest key'),
          ...common,
        },
      },
    },
    async (request) => {
      if (Object.keys(request.body.uploads).length > 0) await api.authenticate(request);
      const { checked, quote } = await inLine(
        api,
        request,
        async () => (await prepared(api, request)).prepared,
      );
      const { manifest, hooks, files, total_bytes, imports } = checked;
      return { ok: true as const, manifest, hooks, files, total_bytes, imports, quote: priced(quote) };
    },
  );

  app.post(
    '/v1/backtest/submit',
    {
      ...submitted,
      onRequest: [api.authenticate, enter],
      schema: {
        summary: 'Holds the credits and queues the run',
        security: keyed,
        headers: submitHeaders,
        body: submitRequest,
        response: {
          202: submitAnswer,
          ...unauthorized(),
          402: insufficientAnswer.meta({ description: 'not enough credits' }),
          ...common,
        },
      },
    },
    async (request, reply) => {
      const answer = await inLine(api, request, () => accept(api, request));
      request.run = answer.run_id;
      return reply.code(202).send(answer);
    },
  );
}

type Request = FastifyRequest & { readonly body: z.infer<typeof submitRequest> };

const clientOf = ({ customer, ip }: FastifyRequest): string => customer ?? ip;

const inLine = <T>({ line }: Api, request: Request, work: () => Promise<T>): Promise<T> =>
  line(clientOf(request), request.answered, work);

async function accept(api: Api, request: Request) {
  const { prepared: found, uploads } = await prepared(api, request);
  // Who was told to ask again must not find that this one was taken too.
  if (request.answered.aborted) throw new Refusal(503, BUSY);
  const quote = priced(found.quote);
  const taken = await submit(
    api,
    {
      customer: request.customer!,
      prepared: found,
      uploads,
      locale: request.body.locale,
      email: request.body.email ?? null,
      repeat: (request.headers['idempotency-key'] as string | undefined) ?? null,
    },
    api.fleet,
  ).catch((error) => {
    if (!(error instanceof InsufficientCredits)) throw error;
    const { balance, required, message } = error;
    throw new Refusal(402, `not enough credits: ${message}`, { balance, required, quote });
  });
  const { source_sha256 } = found.checked;
  return { ok: true as const, ...taken, status: 'queued' as const, quote, source_sha256 };
}

/** Checks and prices a submission. */
async function prepared(
  { db, store, archive, limits, fleet }: Api,
  { customer, body: { files, uploads: named, email: _e, locale: _l, ...scope } }: Request,
): Promise<{ prepared: Prepared; uploads: Map<string, string> }> {
  const uploads = await uploadsOf({ db, store, limits, fleet }, customer, named);
  const read = async (key: string) => {
    const stream = await store.get(key);
    if (stream === null) throw new Rejection('E_SERIES', 'an upload was removed meanwhile; upload it again');
    return buffer(stream);
  };
  return {
    prepared: await prepare({ files, series: uploads }, archive, scope, limits, null, read),
    uploads,
  };
}

function priced(quote: Quote): PricedQuote {
  const approx = approximate(quote.credits);
  return { ...quote, approxUsd: approx.usd, approx };
}
