import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Sql } from '../database/database.ts';
import { customerOf } from '../ledger/key.ts';
import { Refusal } from './errors.ts';
import type { Api, Rate } from './parts.ts';

/** Knows customers by their keys, and how often each has come within the last minute. */
export function authentication(app: FastifyInstance, sql: Sql, rate: Rate): Api['authenticate'] {
  const visit = app.createRateLimit({
    max: rate.per_customer_and_minute,
    timeWindow: 60_000,
    keyGenerator: (request) => request.customer!,
  });
  return async (request) => {
    const key = keyOf(request);
    if (key === null) throw new Refusal(401, 'missing API key');
    request.customer = await customerOf(sql, key);
    if (request.customer === null) throw new Refusal(401, 'invalid or expired API key');
    const visits = await visit(request);
    if (!visits.isAllowed && visits.isExceeded) throw tooMany(visits.ttlInSeconds);
  };
}

export function tooMany(seconds: number): Refusal {
  const wait = Math.max(1, seconds);
  return new Refusal(429, `too many requests: ask again in ${wait} s`, {}, { 'retry-after': String(wait) });
}

function keyOf({ headers }: FastifyRequest): string | null {
  const [, bearer] = /^Bearer +(\S+) *$/.exec(headers.authorization ?? '') ?? [];
  if (bearer !== undefined) return bearer;
  const header = headers['x-backtest-key'];
  return typeof header === 'string' && header !== '' ? header : null;
}
