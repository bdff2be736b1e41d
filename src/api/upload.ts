import { randomBytes } from 'node:crypto';
import { Rejection, uploadAnswer, uploadRequest } from '../../contract/index.ts';
import { shown } from '../check/text.ts';
import { tooMany } from './auth.ts';
import { badRequest, keyed, limited, unauthorized, unavailable } from './document.ts';
import { Refusal } from './errors.ts';
import type { Api, App } from './parts.ts';

/** As many of the largest size, or more of smaller ones: the store is everybody's. */
const UPLOADS_AN_HOUR = 64;
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
      const granted = await db.query(
        `insert into upload (key, customer, bytes, expires_ms)
         select $1, $2, $3::bigint, now_ms() + $4::bigint
         where $3::bigint + (select coalesce(sum(bytes), 0) from upload
           where customer = $2 and created_ms > now_ms() - 3600000) <= $5::bigint returning key`,
        [key, customer, bytes, fleet.upload_s * 1000, UPLOADS_AN_HOUR * limits.series_bytes],
      );
      if (granted.length === 0) throw tooMany(3600);
      const { url, headers, expires_in } = await store.signPut(key, bytes, fleet.upload_s);
      return { url, key, bytes, expires_in, headers: { ...headers } };
    },
  );
}

/**
 * The objects of a submission's uploads by the file that each stands for. Throws a Rejection, E_SERIES, for a key that is
 * not this customer's or too old, and for one that nothing was uploaded for.
 */
export async function uploadsOf(
  { db, store, limits, fleet }: Pick<Api, 'db' | 'store' | 'limits' | 'fleet'>,
  customer: string | null,
  named: Readonly<Record<string, string>>,
): Promise<Map<string, string>> {
  const uploads = Object.entries(named);
  if (uploads.length > limits.series)
    throw new Rejection('E_SERIES', `uploads: at most ${limits.series}, here are ${uploads.length}`);
  for (const [file, key] of uploads) {
    const found = KEY.test(key)
      ? await db.query(
          'select 1 from upload where key = $1 and customer = $2 and created_ms > now_ms() - $3::bigint',
          [key, customer, fleet.leftovers_ms],
        )
      : [];
    if (found.length === 0)
      throw new Rejection(
        'E_SERIES',
        `uploads: ${shown(file)} names no upload of yours, or one that is gone; upload the file and use the key of its grant`,
      );
    if ((await store.head(key)) === null)
      throw new Rejection('E_SERIES', `uploads: nothing was uploaded for ${shown(file)}; PUT the file first`);
  }
  return new Map(uploads);
}
