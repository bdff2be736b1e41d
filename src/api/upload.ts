import { randomBytes } from 'node:crypto';
import { Rejection, uploadAnswer, uploadRequest } from '../../contract/index.ts';
import { shown } from '../check/text.ts';
import { badRequest, keyed, limited, unauthorized, unavailable } from './document.ts';
import { Refusal } from './errors.ts';
import type { Api, App } from './parts.ts';

const KEY = /^upload\/[0-9a-f]{32}$/;

/** Grants of uploads. */
export function upload(app: App, { db, store, limits, fleet, authenticate }: Api): void {
  app.post(
    '/v1/backtest/upload',
    {
      onRequest: authenticate,
      schema: {
        summary: 'A link to upload one series',
        security: keyed,
        body: uploadRequest,
        response: {
          200: uploadAnswer,
          ...badRequest('bad size'),
          ...unauthorized(),
          ...limited,
          ...unavailable,
        },
      },
    },
    async ({ customer, body: { bytes } }) => {
      if (bytes > limits.series_bytes)
        throw new Refusal(400, `bytes: a series has at most ${limits.series_bytes} bytes, this one ${bytes}`);
      const key = `upload/${randomBytes(16).toString('hex')}`;
      await db.query(
        'insert into upload (key, customer, bytes, expires_ms) values ($1, $2, $3, now_ms() + $4::bigint)',
        [key, customer, bytes, fleet.upload_s * 1000],
      );
      const { url, headers, expires_in } = await store.signPut(key, bytes, fleet.upload_s);
      return { url, key, bytes, expires_in, headers: { ...headers } };
    },
  );
}

/**
 * The objects of a submission's uploads by the file that each stands for. Throws a Rejection, E_SERIES, for a key that is
 * not this customer's, and for one that nothing was uploaded for.
 */
export async function uploadsOf(
  { db, store, limits }: Pick<Api, 'db' | 'store' | 'limits'>,
  customer: string | null,
  named: Readonly<Record<string, string>>,
): Promise<Map<string, string>> {
  const uploads = Object.entries(named);
  if (uploads.length > limits.series)
    throw new Rejection('E_SERIES', `uploads: at most ${limits.series}, here are ${uploads.length}`);
  for (const [file, key] of uploads) {
    const found = KEY.test(key)
      ? await db.query('select 1 from upload where key = $1 and customer = $2', [key, customer])
      : [];
    if (found.length === 0)
      throw new Rejection(
        'E_SERIES',
        `uploads: ${shown(file)} names no upload of yours; use the key of its grant`,
      );
    if ((await store.head(key)) === null)
      throw new Rejection('E_SERIES', `uploads: nothing was uploaded for ${shown(file)}; PUT the file first`);
  }
  return new Map(uploads);
}
