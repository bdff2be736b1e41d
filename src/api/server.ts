import { availableParallelism } from 'node:os';
import rateLimit from '@fastify/rate-limit';
import swagger from '@fastify/swagger';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import type { FolderStore } from '../store/folder.ts';
import { authentication, tooMany } from './auth.ts';
import { remembering } from './catalogue.ts';
import { documentOptions } from './document.ts';
import { answerTo, BUSY, logged, Refusal } from './errors.ts';
import { waitingLine } from './line.ts';
import { objects } from './objects.ts';
import type { Api, ApiParts } from './parts.ts';
import { runs } from './runs.ts';
import { service } from './service.ts';
import { submission } from './submission.ts';
import { upload } from './upload.ts';

/** Submissions that may wait for their turn, a few seconds' worth; each keeps its source in memory. */
const ROOM = 256;
/** For the slowest body, an object's; others are cut by the time limit of their route. */
const BODY_MS = 300_000;

const NO_ROUTE = 'no such route: /v1/openapi.json lists them';
const SLOW = 'the request took too long to arrive';

/** Every endpoint of the service; `listen` and `close` are the caller's. The parts stay open when it closes. */
export function buildApi(parts: ApiParts): FastifyInstance {
  const { rate, log } = parts;
  const app = fastify({
    // What is logged is decided in one place, below: the framework's own lines hold whole URLs and messages.
    logger: false,
    bodyLimit: 65_536,
    requestTimeout: BODY_MS,
    http: { headersTimeout: rate.answer_ms, connectionsCheckingInterval: 1_000 },
    trustProxy: (_address, hop) => hop < rate.proxies,
    routerOptions: { maxParamLength: 1_000 },
    frameworkErrors: (_error, request, reply) => refuse(new Refusal(404, NO_ROUTE), request, reply),
  }).withTypeProvider<ZodTypeProvider>();

  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.decorateRequest('customer', null);
  app.decorateRequest('run', null);
  app.decorateRequest('answered');

  const refuse = (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const { status, body, headers = {} } = answerTo(error, request.routeOptions.config.submission ?? null);
    if (status >= 500 && log) log[status === 500 ? 'error' : 'warn']({ ...about(request), ...logged(error) });
    // The rest of a body that nobody reads must not hold the connection.
    if (!request.raw.complete) reply.header('connection', 'close');
    return reply.code(status).headers(headers).send(body);
  };
  app.setErrorHandler((error, request, reply) => refuse(error, request, reply));
  app.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store');
    const { answer_ms = rate.answer_ms } = request.routeOptions.config;
    request.answered = inTime(request, reply, answer_ms);
  });
  app.addHook('onResponse', async (request, reply) => {
    if (!log) return;
    log.info({ ...about(request), status: reply.statusCode, ms: Math.round(reply.elapsedTime) });
  });

  app.register(rateLimit, {
    global: false,
    max: rate.per_address_and_minute,
    timeWindow: 60_000,
    errorResponseBuilder: (_request, { ttl }) => tooMany(Math.ceil(ttl / 1000)),
  });
  app.register(swagger, documentOptions(parts.public_url));
  app.after(() => {
    app.addHook('onRequest', app.rateLimit());
    app.setNotFoundHandler(() => {
      throw new Refusal(404, NO_ROUTE);
    });
    const api: Api = {
      ...parts,
      archive: remembering(parts.archive),
      line: waitingLine(2 * availableParallelism(), ROOM),
      authenticate: authentication(app, parts.db, rate),
    };
    for (const family of [service, submission, upload, runs]) family(app, api);
    if (parts.store.kind === 'folder') objects(app, parts.store as FolderStore);
  });
  return app;
}

/** Answers for a handler that takes too long, or ends what it began to send. The signal says that nobody waits any more. */
function inTime(request: FastifyRequest, reply: FastifyReply, ms: number): AbortSignal {
  const answered = new AbortController();
  const alarm = setTimeout(() => {
    if (reply.raw.headersSent) reply.raw.destroy();
    else reply.send(request.raw.complete ? new Refusal(503, BUSY) : new Refusal(408, SLOW));
  }, ms);
  // Of the answer: a request closes as soon as it is read.
  reply.raw.once('close', () => {
    clearTimeout(alarm);
    answered.abort();
  });
  return answered.signal;
}

const about = (request: FastifyRequest) => ({
  method: request.method,
  route: request.routeOptions.url ?? null,
  customer: request.customer,
  run: request.run,
});
