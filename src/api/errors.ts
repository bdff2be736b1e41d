import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { Rejection, Unreachable } from '../../contract/index.ts';
import { didYouMean, shown } from '../check/text.ts';
import { Refused } from '../store/refused.ts';

/** A request that is answered with a status and a reason. */
export class Refusal extends Error {
  readonly status: number;
  /** Further fields of the body. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    reason: string,
    fields: Readonly<Record<string, unknown>> = {},
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(reason);
    this.name = 'Refusal';
    this.status = status;
    this.fields = fields;
    this.headers = headers;
  }
}

export interface Answer {
  readonly status: number;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

export const BUSY = 'temporarily unavailable: ask again in a moment';
const FAULT = 'internal error: asking again is safe';

/**
 * What a client is told of an error. `known`: the fields of a submission's body, whose faults are Rejections; null
 * elsewhere. Nothing of the error gets out that was not written for its reader.
 */
export function answerTo(error: unknown, known: readonly string[] | null): Answer {
  if (error instanceof Refusal)
    return {
      status: error.status,
      body: { error: error.message, ...error.fields },
      headers: error.headers,
    };
  if (error instanceof Rejection) return { status: error.status, body: error.toJSON() };
  if (error instanceof Refused) return { status: error.status, body: { error: error.message } };
  if (error instanceof Unreachable) return { status: 503, body: { error: BUSY } };
  const { code, statusCode = 500 } = error as { code?: string; statusCode?: number };
  if (hasZodFastifySchemaValidationErrors(error))
    return refused(new Rejection(...flaw(error.validation[0], error.validationContext, known ?? [])), known);
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return refused(new Rejection('E_LIMIT', 'the body is larger than any submission may be'), known);
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    return refused(new Rejection('E_BODY', 'send the body as content-type: application/json'), known);
  if (statusCode < 500) return refused(new Rejection('E_BODY', 'the body is no JSON'), known);
  return { status: 500, body: { error: FAULT } };
}

const refused = (rejection: Rejection, known: readonly string[] | null): Answer =>
  known === null ? { status: 400, body: { error: rejection.message } } : answerTo(rejection, known);

interface Issue {
  readonly keyword: string;
  readonly instancePath: string;
  readonly message?: string;
  readonly params: Record<string, unknown>;
}

const NOT_OF_SCOPE = ['files', 'uploads', 'email', 'locale'];

/** The first thing that is wrong with what was sent: its code, and where it stands. */
function flaw(
  { keyword, instancePath, message = 'is wrong', params }: Issue,
  context: string | undefined,
  known: readonly string[],
): ['E_BODY' | 'E_SCOPE', string] {
  const path = instancePath.slice(1);
  const place = path.length > 80 ? `${path.slice(0, 77)}...` : path;
  if (keyword === 'unrecognized_keys') {
    const [key] = params.keys as string[];
    const where = place === '' ? '' : ` in ${place}`;
    return ['E_BODY', `unknown field ${shown(key)}${where}.${place === '' ? didYouMean(key, known) : ''}`];
  }
  const [field] = path.split('/');
  const ofScope = context === 'body' && field !== '' && !NOT_OF_SCOPE.includes(field);
  return [ofScope ? 'E_SCOPE' : 'E_BODY', `${place === '' ? 'the body' : place}: ${message}`];
}

/** What a log may hold of an error: no message, since that may quote source or what a client sent. */
export function logged(error: unknown): object {
  const { name, code, cause, stack } = error as Error & { code?: string };
  const reason = cause as (Error & { code?: string }) | undefined;
  return {
    error: name,
    code: code ?? reason?.code,
    // Of ours, and what it says of its cause is what a driver says of its connection.
    ...(error instanceof Unreachable ? { what: error.message.replace(/\?\S*/g, '?...') } : {}),
    at: stack
      ?.split('\n')
      .filter((line) => /^\s+at /.test(line))
      .map((line) => line.trim()),
  };
}
