import { open, stat } from 'node:fs/promises';
import { PassThrough, pipeline, Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { Unreachable } from '../../contract/unreachable.ts';
import { attachment, contentType } from './download.ts';
import { checkKey } from './key.ts';
import { probeStore } from './probe.ts';
import type { ObjectStore } from './store.ts';

export interface S3Options {
  readonly bucket: string;
  readonly region: string;
  /** Of a server other than Amazon's, such as http://host:9000; it must be the one that clients of links reach. */
  readonly endpoint?: string | undefined;
  /** Without them: what the machine's role, profile or environment gives. */
  readonly credentials?:
    | { readonly accessKeyId: string; readonly secretAccessKey: string; readonly sessionToken?: string }
    | undefined;
  /** Goes before each key. */
  readonly prefix?: string | undefined;
}

const ATTEMPTS = 3;
const PAUSE_MS = 100;
/** How long an attempt may take to connect, and to be answered or be silent; and connections at once. */
const BOUNDS = { connect_ms: 3_000, request_ms: 30_000, sockets: 256 };
/** The slowest upload that is waited for. */
const BYTES_PER_MS = 256;
const NETWORK = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/**
 * Keeps objects in a bucket that is there. Asks nothing yet: call `probe` first, which also finds out whether the server
 * can keep a PUT from overwriting (`If-None-Match: *`). On one that can not (501), two puts of a key at once end with
 * either, and a link to PUT works until it expires.
 */
export function openS3Store(
  { bucket, region, endpoint, credentials, prefix = '' }: S3Options,
  { connect_ms, request_ms, sockets } = BOUNDS,
): ObjectStore {
  const where = `the bucket ${bucket} at ${endpoint ?? `S3 in ${region}`}`;
  const client = new S3Client({
    region,
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    ...(credentials === undefined ? {} : { credentials }),
    // Other servers than Amazon's know neither the trailing checksums nor the chunks that carry them.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // A file is sent again only by who can open it again: see `patiently`.
    maxAttempts: 1,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    requestHandler: {
      connectionTimeout: connect_ms,
      socketTimeout: request_ms,
      throwOnRequestTimeout: true,
      httpAgent: { keepAlive: true, maxSockets: sockets },
      httpsAgent: { keepAlive: true, maxSockets: sockets },
    },
  });
  const limit = { requestTimeout: request_ms };
  const target = (key: string): { Bucket: string; Key: string } => {
    checkKey(key);
    return { Bucket: bucket, Key: prefix + key };
  };
  /** False once the server has said that it cannot keep a PUT from overwriting; then a look before must do. */
  let conditional = true;
  const unlessThere = (): { IfNoneMatch?: string } => (conditional ? { IfNoneMatch: '*' } : {});

  const head = async (key: string): Promise<number | null> => {
    const found = await patiently(where, () => client.send(new HeadObjectCommand(target(key)), limit), [404]);
    return found?.ContentLength ?? null;
  };
  const store: Omit<ObjectStore, 'probe'> = {
    kind: 's3',
    async put(key, body) {
      // Spares the upload, and is all that protects the object on a server that overwrites.
      if ((await head(key)) !== null) return;
      const bytes = 'file' in body ? (await stat(body.file)).size : body.length;
      const send = async (condition: { IfNoneMatch?: string }): Promise<void> => {
        const Body = 'file' in body ? (await open(body.file)).createReadStream() : body;
        const type = { ContentLength: bytes, ContentType: contentType(key) };
        const command = new PutObjectCommand({ ...target(key), ...condition, ...type, Body });
        try {
          await client.send(command, { requestTimeout: request_ms + bytes / BYTES_PER_MS });
        } catch (error) {
          if (statusOf(error) !== 501 || condition.IfNoneMatch === undefined) throw error;
          conditional = false;
          await send({});
        } finally {
          if (Body instanceof Readable) Body.destroy();
        }
      };
      // 412: somebody was faster, or an attempt of our own whose answer got lost.
      await patiently(where, () => send(unlessThere()), [412]);
    },
    async get(key) {
      const found = await patiently(
        where,
        () => client.send(new GetObjectCommand(target(key)), limit),
        [404],
      );
      return found === null ? null : guarded(where, found.Body as Readable);
    },
    head,
    async remove(key) {
      await patiently(where, () => client.send(new DeleteObjectCommand(target(key)), limit), [404]);
    },
    async signGet(key, expires_s, filename) {
      const command = new GetObjectCommand({
        ...target(key),
        ResponseContentDisposition: attachment(filename),
        ResponseContentType: contentType(key),
      });
      return {
        url: await getSignedUrl(client, command, { expiresIn: expires_s }),
        headers: {},
        expires_in: expires_s,
      };
    },
    async signPut(key, bytes, expires_s) {
      const command = new PutObjectCommand({ ...target(key), ...unlessThere(), ContentLength: bytes });
      const headers = {
        'content-length': String(bytes),
        ...(conditional ? { 'if-none-match': '*' } : {}),
      };
      const url = await getSignedUrl(client, command, {
        expiresIn: expires_s,
        signableHeaders: new Set(['host', ...Object.keys(headers)]),
      });
      return { url, headers, expires_in: expires_s };
    },
    async close() {
      client.destroy();
    },
  };
  return { ...store, probe: () => probeStore(store, where) };
}

/** Tries again what may pass. Null when the server answers with one of the `expected` statuses. */
async function patiently<T>(
  where: string,
  work: () => Promise<T>,
  expected: readonly number[] = [],
): Promise<T | null> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const { name, message } = error as Error;
      const status = statusOf(error);
      if (expected.includes(status!) && name !== 'NoSuchBucket') return null;
      if (!mayPass(error))
        throw new Error(`${where} refuses: ${name}: ${message}${adviceFor(status)}`, { cause: error });
      if (attempt === ATTEMPTS) throw new Unreachable(where, error);
      await sleep(PAUSE_MS * 2 ** attempt * (0.5 + Math.random()));
    }
  }
}

const statusOf = (error: unknown): number | undefined =>
  (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;

function mayPass(error: unknown): boolean {
  const status = statusOf(error);
  if (status === undefined) {
    const { name, code } = error as NodeJS.ErrnoException;
    return name === 'TimeoutError' || NETWORK.has(code!);
  }
  // 409: two conditional writes of a key met.
  return [408, 409, 429].includes(status) || (status >= 500 && status !== 501);
}

function adviceFor(status: number | undefined): string {
  if (status === 404) return ' Create the bucket, or name another one.';
  // Without leave to list, Amazon's answers 403 for what is not there.
  if (status === 403)
    return ' Check the keys; they need leave to get, put and delete objects, and to list the bucket.';
  return '';
}

/** The stream of an answer; what breaks it is told like everything else. */
function guarded(where: string, answer: Readable): Readable {
  const stream = new PassThrough();
  answer.once('error', (error) => stream.destroy(new Unreachable(where, error)));
  return pipeline(answer, stream, () => {});
}
