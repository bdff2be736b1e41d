import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Logger, pino } from 'pino';
import { FLEET_LIMITS, LIMITS, type SourceFile } from '../../contract/index.ts';
import { RATE, type Rate } from '../../src/api/parts.ts';
import { buildApi } from '../../src/api/server.ts';
import { openArchive } from '../../src/archive/catalogue.ts';
import { readSource } from '../../src/check/read.ts';
import { PACKAGE } from '../../src/compose.ts';
import type { Database } from '../../src/database/database.ts';
import { migrate } from '../../src/database/migrate.ts';
import { openPglite } from '../../src/database/pglite.ts';
import { createCustomer } from '../../src/ledger/customer.ts';
import { createKey } from '../../src/ledger/key.ts';
import { grant } from '../../src/ledger/transfer.ts';
import { openMemoryQueue } from '../../src/queue/memory.ts';
import { openFolderStore } from '../../src/store/folder.ts';
import type { ObjectStore } from '../../src/store/store.ts';
import { SYNTHETIC, strategy } from '../run/runs.ts';
import { freePort } from '../services/service.ts';
import { conformity } from './conformity.ts';

export interface Service {
  readonly url: string;
  readonly db: Database;
  readonly store: ObjectStore;
  /** A new customer with so many credits. */
  customer(credits: number): Promise<Customer>;
  /** One request; `body` is sent as JSON, and a text as it is. Every answer is held to the document. */
  call(method: string, path: string, options?: Call): Promise<Answer>;
  /** Which answers of the document came, and which it lists. */
  readonly answers: { readonly seen: ReadonlySet<string>; readonly listed: readonly string[] };
  close(): Promise<void>;
}

export interface Customer {
  readonly id: string;
  readonly key: string;
}

export interface Call {
  readonly key?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed, where it is JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at what it expects.
  readonly body: any;
  readonly text: string;
}

export interface Options {
  /** Stays open; default: one of its own, in memory. */
  readonly db?: Database;
  readonly archive?: string;
  readonly rate?: Partial<Rate>;
  readonly log?: Logger;
  readonly limits?: Partial<typeof LIMITS>;
}

/** The api on a port of its own, with a real database, a folder for objects, and nobody who works. */
export async function startApi(options: Options = {}): Promise<Service> {
  const folder = mkdtempSync(join(tmpdir(), 'backtest-api-'));
  const db = options.db ?? (await openPglite(null));
  await migrate(db, join(PACKAGE, 'src/database/migrations'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const store = await openFolderStore(folder, { base_url: url, secret: 'a secret of this test' });
  const queue = openMemoryQueue();
  const app = buildApi({
    db,
    store,
    queue,
    archive: openArchive(options.archive ?? SYNTHETIC),
    limits: { ...LIMITS, ...options.limits },
    fleet: FLEET_LIMITS,
    log: options.log ?? pino({ level: 'silent' }),
    rate: { ...RATE, per_address_and_minute: 1e6, per_customer_and_minute: 1e6, ...options.rate },
    public_url: url,
  });
  await app.listen({ port, host: '127.0.0.1' });
  const answers = conformity((await ask(url, 'GET', '/v1/openapi.json')).body);
  return {
    url,
    db,
    store,
    async customer(credits) {
      const name = `customer ${Math.random()}`;
      const { id } = await createCustomer(db, name);
      if (credits > 0) await grant(db, { id: `paid-${id}`, customer: id, amount: credits });
      return { id, key: (await createKey(db, id)).key };
    },
    async call(method, path, call) {
      const answer = await ask(url, method, path, call);
      answers.hold(method, path, answer);
      return answer;
    },
    answers,
    async close() {
      await app.close();
      await queue.close();
      if (!options.db) await db.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function ask(
  url: string,
  method: string,
  path: string,
  { key, body, headers = {} }: Call = {},
): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method,
    redirect: 'manual',
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const json = response.headers.get('content-type')?.startsWith('application/json');
  return { status: response.status, headers: response.headers, body: json ? JSON.parse(text) : null, text };
}

/** What a submission of one of the strategies in fixtures/ holds. */
export async function filesOf(name: string): Promise<SourceFile[]> {
  return (await readSource(strategy(name), LIMITS)).files;
}
