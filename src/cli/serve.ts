import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import type { SandboxKind } from '../compose.ts';
import { type Config, readConfig } from '../config.ts';
import { checksFor } from '../ops/checks.ts';
import { makeLog } from '../ops/log.ts';
import { makeMetrics } from '../ops/metrics.ts';
import { openParts, type Parts } from '../ops/parts.ts';
import { startApi, startFleetWorker } from '../ops/service.ts';
import { exitCode, Interrupted, Mistake } from './failure.ts';
import { type Account, exampleStrategy, GENERATED, openAccount, writeExample } from './local.ts';
import { advised } from './run.ts';
import { archiveOf } from './scope.ts';

export interface ServeOptions {
  readonly archive?: string;
  readonly host?: string;
  readonly port?: number;
  readonly data?: string;
  readonly slots?: number;
  readonly sandbox: SandboxKind;
}

type Closing = () => Promise<void>;

/** `backtest serve`: api and worker in this process, until Ctrl-C; a second one leaves what runs to the next start. */
export async function serve(options: ServeOptions): Promise<void> {
  const config = configOf(options);
  await archiveOf(config.archive!);
  const closings: Closing[] = [];
  const stopped = asked(config);
  try {
    await begin(config, closings);
    await stopped;
  } finally {
    for (const close of closings.reverse()) await close();
  }
}

function configOf(options: ServeOptions): Config {
  const config = readConfig();
  const host = options.host ?? config.host;
  const port = options.port ?? config.port;
  if (port < 1 || port > 65_535) throw new Mistake(`--port ${port}: a port is a number from 1 to 65535.`);
  if (options.slots !== undefined && options.slots < 1) throw new Mistake('--slots: at least 1 is needed.');
  const archive = options.archive ?? config.archive ?? GENERATED;
  if (archive === GENERATED && !existsSync(archive))
    throw new Mistake(
      'Name an archive with --archive: only a clone of the repository has one that comes along.',
    );
  return {
    ...config,
    host,
    port,
    public_url: config.public_url ?? addressOf(host, port),
    data_folder: resolve(options.data ?? config.data_folder),
    archive,
    slots: options.slots ?? config.slots ?? availableParallelism(),
    sandbox: options.sandbox,
  };
}

/** Starts everything, or throws at once; what has to be closed is in `closings`, the last first. */
async function begin(config: Config, closings: Closing[]): Promise<void> {
  const opening = openParts(config);
  closings.push(() => opening.close());
  const all = checksFor(config, opening, { work: true, api: true });
  const unboxed = checksFor({ ...config, sandbox: 'process' }, opening, { work: true, api: true });
  const ofBoxes = all.filter(({ name }) => !unboxed.some((other) => other.name === name));
  // Those of boxes first: a database takes longest to make, and is worth nothing without them.
  for (const { run } of ofBoxes) await advised(run);
  for (const { run } of unboxed) await run();
  const parts = await opening.all();
  const account = await openAccount(parts.db, config.data_folder);
  // A line for each request is too much for a terminal.
  const log = makeLog(config.log_level === 'info' ? 'warn' : config.log_level, {}, { write: tell });
  const api = await startApi(config, parts, log).catch((error) => {
    throw unheard(error, config);
  });
  closings.push(() => api.stop());
  const worker = await startFleetWorker(config, parts, config.slots!, log, makeMetrics(config.slots!));
  closings.push(() => worker.stop());
  process.stdout.write(await introduction(config, parts, account));
}

/** Resolves when the user has enough. Asked twice, this process ends as it stands; nothing is lost by that but time. */
function asked({ fleet }: Config): Promise<void> {
  return new Promise((enough) => {
    let before = false;
    const onSignal = (name: NodeJS.Signals): void => {
      if (before) process.exit(exitCode(new Interrupted(name)));
      before = true;
      process.stderr.write(
        `\nStopping once what runs is done, or handed back after ${fleet.grace_ms / 1000} s. Ctrl-C again to leave at once.\n`,
      );
      enough();
    };
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, onSignal);
  });
}

/** Where this machine reaches it. */
function addressOf(host: string, port: number): string {
  if (host === '0.0.0.0' || host === '::') return `http://127.0.0.1:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Why nobody can be listened to. */
function unheard(error: unknown, { host, port }: Config): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE')
    return new Mistake(`Port ${port} of ${host} is in use. Stop who uses it, or choose another: --port`);
  if (code === 'EACCES')
    return new Mistake(`Port ${port} is not for everybody. Choose one above 1023: --port`);
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new Mistake(`--host ${host}: this is no address of this machine.`);
  return error;
}

async function introduction(config: Config, { archive }: Parts, account: Account): Promise<string> {
  const address = addressOf(config.host, config.port);
  const { path, venue } = await writeExample(config.data_folder, archive);
  const key = `"$(cat ${quoted(account.keyFile)})"`;
  const generated = config.archive === GENERATED ? ' (generated; of your own: --archive)' : '';
  const elsewhere = venue === 'venue_a' ? '' : ` --venue ${venue}`;
  return `Serving ${address}, ${config.slots} at a time, sandbox ${config.sandbox}. Ctrl-C stops.

  archive  ${config.archive}${generated}
  data     ${config.data_folder}
  key      in ${account.keyFile}
  credits  ${account.credits}

Submit an example:
  curl -sS ${address}/v1/backtest/submit -H "Authorization: Bearer $(cat ${quoted(account.keyFile)})" -H 'Content-Type: application/json' --data-binary ${quoted(`@${path}`)}

Or from another terminal:
  export BACKTEST_SERVER=${address} BACKTEST_KEY=${key}
  npx backtest submit ${quoted(exampleStrategy())}${elsewhere} --days 1 --watch
`;
}

/** For a shell. */
const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** A line of the log as a person reads it. */
function tell(line: string): void {
  const { level: _, time, event, message, ...about } = JSON.parse(line);
  const rest = Object.entries(about).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  process.stderr.write(
    `${[String(time).slice(11, 19), event, message, ...rest].filter(Boolean).join(' ')}\n`,
  );
}
