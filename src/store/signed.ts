import { createHmac, timingSafeEqual } from 'node:crypto';

// Links to objects of a folder, signed and verified by the same secret. The api's route:
//
//   const link = store.verify(request.method, request.url);          store: FolderStore, see folder.ts
//   if (!link.ok) return 403, link.reason
//   GET, HEAD: const served = await store.serve(link, request.headers.range);
//              if (served === null) return 404
//              reply.code(served.status).headers(served.headers).send(served.body)
//   PUT:       await store.receive(link.key, link.bytes!, request.raw);     throws Refused: reason, status, message
//              (no body parser; request.raw.headers['content-length'] needs no look)

/** What a link allows. `bytes` is set for a PUT and `filename` for a GET. */
export interface Link {
  readonly method: 'GET' | 'PUT';
  readonly key: string;
  /** Epoch milliseconds. */
  readonly expires_ms: number;
  readonly bytes: number | null;
  readonly filename: string | null;
}

export type Verdict =
  | ({ readonly ok: true } & Link)
  | { readonly ok: false; readonly reason: 'expired' | 'invalid' };

/** Where the api serves them. */
export const OBJECTS = '/v1/objects/';

/** `base_url` without a slash at its end. */
export function sign(secret: string, base_url: string, link: Link): string {
  const query = new URLSearchParams({ expires: String(link.expires_ms) });
  if (link.bytes !== null) query.set('bytes', String(link.bytes));
  if (link.filename !== null) query.set('filename', link.filename);
  query.set('signature', signature(secret, link).toString('base64url'));
  return `${base_url}${OBJECTS}${link.key}?${query}`;
}

/** `url`: whole or from its path on. A link to GET an object allows HEAD as well. 'expired' only if it was once ours. */
export function verify(secret: string, method: string, url: string, now_ms: number): Verdict {
  const invalid = { ok: false, reason: 'invalid' } as const;
  const base = 'http://localhost';
  if (!URL.canParse(url, base)) return invalid;
  const { pathname, searchParams: query } = new URL(url, base);
  // A proxy may have put folders in front.
  const at = pathname.indexOf(OBJECTS);
  if (at < 0) return invalid;
  const bytes = query.get('bytes');
  const link: Link = {
    method: method === 'PUT' ? 'PUT' : 'GET',
    key: pathname.slice(at + OBJECTS.length),
    expires_ms: Number(query.get('expires')),
    bytes: bytes === null ? null : Number(bytes),
    filename: query.get('filename'),
  };
  const given = Buffer.from(query.get('signature') ?? '', 'base64url');
  const right = signature(secret, link);
  if (given.length !== right.length || !timingSafeEqual(given, right)) return invalid;
  if (!['GET', 'HEAD', 'PUT'].includes(method)) return invalid;
  return now_ms < link.expires_ms ? { ok: true, ...link } : { ok: false, reason: 'expired' };
}

function signature(secret: string, { method, key, expires_ms, bytes, filename }: Link): Buffer {
  // Said what it is for, so that no other use of the secret can make one.
  const message = JSON.stringify(['object link', method, key, expires_ms, bytes, filename]);
  return createHmac('sha256', secret).update(message).digest();
}
