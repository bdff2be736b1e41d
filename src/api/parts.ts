import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest, RawServerDefault } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { FleetLimits, Limits } from '../../contract/index.ts';
import type { Archive } from '../archive/catalogue.ts';
import type { Database } from '../database/database.ts';
import type { RunQueue } from '../queue/queue.ts';
import type { ObjectStore } from '../store/store.ts';
import type { Line } from './line.ts';

/** What the api is made of. */
export interface ApiParts {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly queue: RunQueue;
  readonly archive: Archive;
  readonly limits: Limits;
  readonly fleet: FleetLimits;
  readonly log: ApiLog | false;
  readonly rate: Rate;
  /** Where clients reach it, such as https://host. */
  readonly public_url: string;
}

/** Takes lines of plain fields; a pino logger will do. */
export interface ApiLog {
  info(line: object): void;
  warn(line: object): void;
  error(line: object): void;
}

export interface Rate {
  readonly per_address_and_minute: number;
  readonly per_customer_and_minute: number;
  /** Proxies in front of us, whose word on the client's address is taken. */
  readonly proxies: number;
  /** Within this time every request is answered. A submission may take three times as long. */
  readonly answer_ms: number;
}

/** Far above what a person or a script needs, and below what would hurt anybody else. */
export const RATE: Rate = Object.freeze({
  per_address_and_minute: 1_200,
  per_customer_and_minute: 600,
  proxies: 0,
  answer_ms: 10_000,
});

/** What the handlers share. */
export interface Api extends ApiParts {
  /** For submissions: they cost most. */
  readonly line: Line;
  /** Makes the customer known whose key a request carries. Throws a Refusal, 401 or 429. */
  readonly authenticate: (request: FastifyRequest) => Promise<void>;
}

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose key it carries; null where none was asked for. */
    customer: string | null;
    /** Which run it was about, for the log. */
    run: string | null;
    /** Ends with the answer, or with the connection. */
    answered: AbortSignal;
  }
  interface FastifyContextConfig {
    /** Within which time it is answered; without it, as all are. */
    readonly answer_ms?: number;
    /** Its body is a submission of these fields: what is wrong with it is a Rejection. */
    readonly submission?: readonly string[];
  }
}
