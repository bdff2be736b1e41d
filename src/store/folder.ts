import type { Readable } from 'node:stream';
import type { Link, Verdict } from './signed.ts';
import type { ObjectStore } from './store.ts';

/** How to answer a GET or HEAD. */
export interface Served {
  readonly status: 200 | 206 | 416;
  readonly headers: Readonly<Record<string, string>>;
  /** Ends or is destroyed with the reply; null with 416. */
  readonly body: Readable | null;
}

/** A store that needs somebody to serve its links: see signed.ts for the route. */
export interface FolderStore extends ObjectStore {
  readonly kind: 'folder';
  /** What the link of a request allows, if it is one of ours and still good. */
  verify(method: string, url: string): Verdict;
  /** Answers a verified GET, or a part of it: `range` as in the request's header. Null when there is no such object. */
  serve(link: Link, range?: string): Promise<Served | null>;
  /**
   * Stores a body of exactly `bytes` bytes under a key that is free, or nothing. Throws `Refused` when the body is of
   * another size, breaks off, or the key is taken (also by another upload that ends first).
   */
  receive(key: string, bytes: number, body: Readable): Promise<void>;
}

export interface FolderOptions {
  /** Where the api is reached, for links, such as https://host. */
  readonly base_url: string;
  /** Signs links; shared by all processes of the service. */
  readonly secret: string;
}

export async function openFolderStore(_folder: string, _options: FolderOptions): Promise<FolderStore> {
  throw new Error('not written yet');
}
