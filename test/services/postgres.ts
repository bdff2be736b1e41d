import { execFile } from 'node:child_process';
import { chownSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort, newFolder, type Service, startService } from './service.ts';

const run = promisify(execFile);
const VERSIONS = '/usr/lib/postgresql';

export interface Postgres extends Service {
  readonly url: string;
}

/**
 * A Postgres server with an empty database. What is committed survives `kill()`; `durable` makes it wait for the disk
 * as in production, for tests that measure.
 */
export async function startPostgres({ durable = false } = {}): Promise<Postgres> {
  const bin = programs();
  const user = process.getuid?.() === 0 ? unprivileged() : undefined;
  const [folder, port] = [newFolder('postgres'), await freePort()];
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  if (user) chownSync(data, user.uid, user.gid);
  const init = ['--pgdata', data, '--username=postgres', '--auth=trust', '--encoding=UTF8', '--locale=C'];
  await run(join(bin, 'initdb'), [...init, '--no-sync', '--no-instructions'], { cwd: folder, ...user });
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    max_connections: 200,
    // Files in the data folder: what a killed server leaves in /dev/shm nobody removes.
    dynamic_shared_memory_type: 'mmap',
    ...(durable ? {} : { fsync: 'off', full_page_writes: 'off' }),
  };
  const service = await startService({
    name: 'Postgres',
    folder,
    command: [
      join(bin, 'postgres'),
      '-D',
      data,
      ...Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]),
    ],
    user,
    quit: 'SIGINT',
    // A killed server leaves a piece of shared memory, named in the seventh line of this file.
    sweep: `ipcrm -m $(awk 'NR == 7 { print $2 }' "$1/data/postmaster.pid")`,
    ready: () =>
      run(join(bin, 'pg_isready'), ['-q', '-h', '127.0.0.1', '-p', String(port)]).then(
        () => true,
        () => false,
      ),
  });
  return { ...service, url: `postgres://postgres@127.0.0.1:${port}/postgres` };
}

/** The folder of the newest version's programs. */
function programs(): string {
  const versions = readdirSync(VERSIONS).map(Number).filter(Number.isFinite);
  return join(VERSIONS, String(Math.max(...versions)), 'bin');
}

/** Postgres refuses to run as root. */
function unprivileged(): { uid: number; gid: number } {
  const users = readFileSync('/etc/passwd', 'utf8').split('\n');
  const line = users.find((one) => one.startsWith('postgres:')) ?? users.find((one) => /^nobody:/.test(one))!;
  const [, , uid, gid] = line.split(':');
  return { uid: Number(uid), gid: Number(gid) };
}
