import type { Readable } from 'node:stream';

/** What a client needs to PUT or GET an object without a key of ours. */
export interface Signed {
  readonly url: string;
  /** To be sent along, as they are. */
  readonly headers: Readonly<Record<string, string>>;
  readonly expires_in: number;
}

/**
 * Objects by key (`[a-z0-9._/-]`, at most 512 characters; segments of at most 250, none empty or dots). An object appears
 * whole or not at all and never changes. Every operation throws `Unreachable` when the store is away, in bounded time,
 * and so does a stream that breaks off.
 */
export interface ObjectStore {
  readonly kind: 'folder' | 's3';
  /** Stores what is not there yet. A key that is there keeps what it has, and that is no error. */
  put(key: string, body: Uint8Array | { readonly file: string }): Promise<void>;
  /** Null when there is no such object. A caller that stops early destroys the stream. */
  get(key: string): Promise<Readable | null>;
  /** Its size in bytes; null when there is no such object. */
  head(key: string): Promise<number | null>;
  /** No error when there is none. */
  remove(key: string): Promise<void>;
  /** A link to download the object for `expires_s` seconds, by Range too; `filename` is what a browser calls it. */
  signGet(key: string, expires_s: number, filename: string): Promise<Signed>;
  /** A link for one PUT of exactly `bytes` bytes within `expires_s` seconds, refused once the object is there. */
  signPut(key: string, bytes: number, expires_s: number): Promise<Signed>;
  /** Writes, reads and removes a probe. Throws with what to mend. */
  probe(): Promise<void>;
  close(): Promise<void>;
}
