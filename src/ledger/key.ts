import { createHash, randomBytes } from 'node:crypto';
import type { Sql } from '../database/database.ts';

const FORM = /^bk_[A-Za-z0-9_-]{43}$/;

/** A key as it is listed: never the key itself, of which only a digest is stored. */
export type Key = {
  readonly id: string;
  /** The customer's name. */
  readonly customer: string;
  readonly created_ms: number;
  readonly expires_ms: number | null;
  readonly revoked_ms: number | null;
};

/** Makes a key for a customer, by id. `expires_ms`: ms since 1970; without it the key is good until it is revoked. */
export async function createKey(
  sql: Sql,
  customer: string,
  { expires_ms = null }: { readonly expires_ms?: number | null } = {},
): Promise<{ id: string; key: string }> {
  const id = `key_${randomBytes(8).toString('hex')}`;
  const key = `bk_${randomBytes(32).toString('base64url')}`;
  await sql.query('insert into api_key (id, customer, sha256, expires_ms) values ($1, $2, $3, $4)', [
    id,
    customer,
    digest(key),
    expires_ms,
  ]);
  return { id, key };
}

/** The id of the customer whose key it is; null for one that is unknown, revoked or expired. */
export async function customerOf(sql: Sql, key: string): Promise<string | null> {
  if (!FORM.test(key)) return null;
  const [found] = await sql.query<{ customer: string }>(
    `select customer from api_key
     where sha256 = $1 and revoked_ms is null and (expires_ms is null or expires_ms > now_ms())`,
    [digest(key)],
  );
  return found?.customer ?? null;
}

/** Ends a key for good. False: there is none of that id, or no such key. */
export async function revokeKey(sql: Sql, idOrKey: string): Promise<boolean> {
  const found = await sql.query(
    'update api_key set revoked_ms = coalesce(revoked_ms, now_ms()) where id = $1 or sha256 = $2 returning id',
    [idOrKey, digest(idOrKey)],
  );
  return found.length > 0;
}

/** All keys, the newest first. */
export async function listKeys(sql: Sql): Promise<Key[]> {
  return sql.query<Key>(
    `select api_key.id, customer.name as customer, api_key.created_ms, expires_ms, revoked_ms
     from api_key join customer on customer.id = api_key.customer order by api_key.created_ms desc, api_key.id`,
  );
}

const digest = (key: string): string => createHash('sha256').update(key).digest('hex');
