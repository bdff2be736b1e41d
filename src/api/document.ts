import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import { createJsonSchemaTransform } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { day, errorAnswer, rejection, unauthorizedAnswer } from '../../contract/index.ts';

/** Answers that a route may give beside its own. */
const error = (description: string) => errorAnswer.meta({ description });
export const unavailable = { 503: error('temporarily unavailable; asking again is safe') };
export const limited = {
  429: errorAnswer.meta({
    description: 'too many requests',
    headers: { 'retry-after': { type: 'integer', description: 'seconds' } },
  }),
};
export const badRequest = (description: string) => ({ 400: error(description) });
export const unauthorized = (description = 'no key came, or none that is good') => ({
  401: unauthorizedAnswer.meta({ description }),
});
export const notFound = { 404: error('no such run under this key') };
export const conflict = { 409: error('no archive for this run') };
export const rejected = {
  422: rejection.meta({ description: 'refused before anything ran; costs nothing' }),
};
/** A redirect: no body. */
export const redirect = (description: string, headers: object) => ({
  302: z.undefined().meta({ description, headers }),
});

/** Says that a route takes a backtest key. */
export const keyed = [{ bearer: [] }, { header: [] }];

/** How routes become the OpenAPI document. */
export function documentOptions(public_url: string): FastifyDynamicSwaggerOptions {
  return {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'backtest-fleet',
        version: '3.0.0',
        description: 'Backtests of strategies for prediction markets. 1 credit = 1 market-day.',
      },
      servers: [{ url: public_url }],
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer' },
          header: { type: 'apiKey', in: 'header', name: 'X-Backtest-Key' },
        },
      },
    },
    transform: createJsonSchemaTransform({ zodToJsonConfig: { override: asDocumented } }),
  };
}

type Override = Parameters<NonNullable<NonNullable<Parameters<typeof z.toJSONSchema>[1]>['override']>>[0];

function asDocumented({ zodSchema, jsonSchema }: Override): void {
  const { def } = zodSchema._zod;
  // What the document calls an answer without a body.
  if (def.type === 'undefined') jsonSchema.type = 'null';
  if (zodSchema === (day as unknown)) jsonSchema.format = 'date';
  // Answers may gain fields. Requests say by themselves whether they take others.
  if (def.type === 'object' && !('catchall' in def && def.catchall)) delete jsonSchema.additionalProperties;
}
