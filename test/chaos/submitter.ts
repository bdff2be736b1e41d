// An api process of a chaos case: takes one run, says its name once it is committed, and lives on until it is killed.
import { FLEET_LIMITS, LIMITS, scope } from '../../contract/index.ts';
import { openArchive } from '../../src/archive/catalogue.ts';
import { readSource } from '../../src/check/read.ts';
import { openDatabase, openQueue, openStore } from '../../src/compose.ts';
import { readConfig } from '../../src/config.ts';
import { submit } from '../../src/fleet/submit.ts';
import { prepare } from '../../src/run/prepare.ts';

const [customer, folder, wanted] = process.argv.slice(2) as [string, string, string];
const config = readConfig();
const [db, queue, store] = await Promise.all([openDatabase(config), openQueue(config), openStore(config)]);
const source = await readSource(folder, LIMITS);
const prepared = await prepare(
  source,
  openArchive(config.archive!),
  scope.parse(JSON.parse(wanted)),
  LIMITS,
  null,
);
const submission = { customer, prepared, uploads: new Map(), locale: 'en', email: null, repeat: null };
const submitted = await submit({ db, queue, store }, submission, FLEET_LIMITS);
process.stdout.write(`${JSON.stringify(submitted)}\n`);
setInterval(() => {}, 1_000);
