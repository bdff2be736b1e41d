import { existsSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SubmitRequest } from '../../contract/api.ts';
import { type Venue, venues } from '../../contract/datasets.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { Archive } from '../archive/catalogue.ts';
import { readSource } from '../check/read.ts';
import { PACKAGE } from '../compose.ts';
import type { Database } from '../database/database.ts';
import { createCustomer } from '../ledger/customer.ts';
import { createKey, customerOf } from '../ledger/key.ts';
import { balance, grant } from '../ledger/transfer.ts';

// What a server on one's own machine has beside the fleet's: a customer, a kept key, something to try.

const NAME = 'local';
const CREDITS = 1_000;

export interface Account {
  /** Where the key is kept, for nobody else to read. */
  readonly keyFile: string;
  readonly credits: number;
}

/** The customer of this machine, made by the first start: with some credits, and a key that is kept in `folder`. */
export async function openAccount(db: Database, folder: string): Promise<Account> {
  const { id } = await createCustomer(db, NAME);
  await grant(db, { id: `first-${NAME}`, customer: id, amount: CREDITS });
  const keyFile = join(folder, 'key');
  const kept = await readFile(keyFile, 'utf8').then(
    (text) => text.trim(),
    () => '',
  );
  if ((await customerOf(db, kept)) === id) return { keyFile, credits: await balance(db, id) };
  const { key } = await createKey(db, id);
  await writeFile(`${keyFile}.new`, `${key}\n`, { mode: 0o600 });
  await rename(`${keyFile}.new`, keyFile);
  return { keyFile, credits: await balance(db, id) };
}

/** The archive that comes along with a clone of the repository, and with nothing else. */
export const GENERATED = join(PACKAGE, 'fixtures/archive/synthetic');

/** A strategy to try. */
export function exampleStrategy(): string {
  const ours = join(PACKAGE, 'fixtures/strategies/momentum-node');
  return existsSync(ours) ? ours : join(PACKAGE, 'src/cli/templates/node');
}

/** Writes the body of a request that submits the example over the newest day of the first venue that has one. */
export async function writeExample(
  folder: string,
  archive: Archive,
): Promise<{ path: string; venue: Venue }> {
  const { files } = await readSource(exampleStrategy(), LIMITS);
  const days = await Promise.all(venues.map((venue) => archive.days(venue)));
  const venue = venues.find((_, at) => days[at]!.length > 0) ?? venues[0];
  const path = join(folder, 'example.json');
  await writeFile(path, `${JSON.stringify({ venue, days: 1, files } satisfies SubmitRequest, null, 2)}\n`);
  return { path, venue };
}
