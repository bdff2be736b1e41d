import { z } from 'zod';
import { archiveAnswer, archiveQuery, run, runsAnswer, runsQuery } from '../../contract/index.ts';
import { balance as balanceAnswer } from '../../contract/ledger.ts';
import { archiveOf, listRuns, readRun } from '../fleet/runs.ts';
import { balance, history } from '../ledger/transfer.ts';
import {
  badRequest,
  conflict,
  keyed,
  limited,
  notFound,
  redirect,
  unauthorized,
  unavailable,
} from './document.ts';
import { Refusal } from './errors.ts';
import type { Api, App } from './parts.ts';

const MOST_RUNS = 100;
/** Anything else was never a run, and need not be asked for. */
const RUN_ID = /^[A-Za-z0-9_-]{1,64}$/;

const params = z.object({ id: z.string() });
const common = { ...unauthorized(), ...limited, ...unavailable };

/** What a customer has: credits, runs, and their archives. */
export function runs(app: App, { db, store, fleet, authenticate }: Api): void {
  app.get(
    '/v1/backtest/balance',
    {
      onRequest: authenticate,
      schema: {
        summary: 'Credits and the newest entries of the account',
        security: keyed,
        response: { 200: balanceAnswer.describe('the account'), ...common },
      },
    },
    async ({ customer }) => ({
      balance: await balance(db, customer!),
      history: await history(db, customer!),
    }),
  );
  app.get(
    '/v1/backtest/runs',
    {
      onRequest: authenticate,
      schema: {
        summary: `The newest runs, at most ${MOST_RUNS}`,
        security: keyed,
        querystring: runsQuery,
        response: { 200: runsAnswer, ...badRequest('limit is no integer >= 1'), ...common },
      },
    },
    async ({ customer, query }) => ({
      runs: await listRuns(db, customer!, Math.min(query.limit, MOST_RUNS)),
    }),
  );
  app.get(
    '/v1/backtest/run/:id',
    {
      onRequest: authenticate,
      schema: { summary: 'A run', security: keyed, params, response: { 200: run, ...notFound, ...common } },
    },
    async (request) => {
      const found = await readRun(db, request.customer!, runId(request));
      if (found === null) throw noRun();
      return found;
    },
  );
  app.get(
    '/v1/backtest/run/:id/archive',
    {
      onRequest: authenticate,
      schema: {
        summary: 'The archive of a run, by a link that is good for 15 minutes',
        security: keyed,
        params,
        querystring: archiveQuery,
        response: {
          200: archiveAnswer.meta({ description: 'with as=json', headers: digest }),
          ...redirect('to the archive', { location: { type: 'string' }, ...digest }),
          ...badRequest('as is not json'),
          ...notFound,
          ...conflict,
          ...common,
        },
      },
    },
    async (request, reply) => {
      const id = runId(request);
      const archive = await archiveOf(db, request.customer!, id);
      if (archive === undefined) throw noRun();
      if (archive === null)
        throw new Refusal(409, 'no archive for this run: it is not finished, or made no report');
      const link = await store.signGet(archive.object, fleet.download_s, `${id}.zip`);
      reply.header('x-service-sha256', archive.sha256);
      if (request.query.as === undefined) return reply.redirect(link.url, 302);
      return { url: link.url, expires_in: link.expires_in };
    },
  );
}

const digest = { 'x-service-sha256': { type: 'string', description: 'of the archive, lower-case hex' } };

const noRun = () => new Refusal(404, 'no such run');

function runId(request: { readonly params: { readonly id: string }; run: string | null }): string {
  if (!RUN_ID.test(request.params.id)) throw noRun();
  request.run = request.params.id;
  return request.params.id;
}
