import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type Docker from 'dockerode';
import type { Cache } from './archive/cache.ts';
import type { Archive } from './archive/catalogue.ts';
import type { Config } from './config.ts';
import type { Database } from './database/database.ts';
import type { RunQueue } from './queue/queue.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import type { ObjectStore } from './store/store.ts';

// The only place where adapters are made. Each is loaded when it is asked for: a help text needs none of them.

export type SandboxKind = Sandbox['kind'];

/** This package's own folder, seen from src/ as from dist/. */
export const PACKAGE = findPackage();

/** Throws an Error that says what to do when no sandbox of that kind can be had. */
export async function openSandbox(kind: SandboxKind, config: Config): Promise<Sandbox> {
  const temp = config.temp_folder;
  if (kind === 'process') {
    const { processSandbox } = await import('./sandbox/process.ts');
    return processSandbox({ temp, harnesses: join(PACKAGE, 'sandbox-images') });
  }
  const docker = await connect(config);
  const { resolveImage } = await import('./sandbox/images.ts');
  const { dockerSandbox } = await import('./sandbox/docker.ts');
  return dockerSandbox(docker, async (language) => (await resolveImage(docker, language)).id, { temp });
}

/** Throws an Error that says what to do when no engine answers. */
export async function connect(config: Config): Promise<Docker> {
  const { connectEngine } = await import('./sandbox/engine.ts');
  return connectEngine({ host: config.docker_host ?? undefined });
}

/** `location`: a folder or an http(s) address. Nothing is read yet. */
export async function openArchive(location: string): Promise<Archive> {
  return (await import('./archive/catalogue.ts')).openArchive(location);
}

export async function openCache(config: Config): Promise<Cache> {
  return (await import('./archive/cache.ts')).openCache(config.cache_folder, config.cache_bytes);
}

/** With the schema of this version. Throws an Error that says what to do when there is no such database. */
export async function openDatabase(config: Config): Promise<Database> {
  const database = config.database_url
    ? (await import('./database/postgres.ts')).openPostgres(config.database_url)
    : await (await import('./database/pglite.ts')).openPglite(join(config.data_folder, 'database'));
  try {
    const { migrate } = await import('./database/migrate.ts');
    await migrate(database, join(PACKAGE, 'src/database/migrations'));
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

export async function openStore(config: Config): Promise<ObjectStore> {
  if (config.s3) {
    const { bucket, region, endpoint, credentials } = config.s3;
    const { openS3Store } = await import('./store/s3.ts');
    return openS3Store({
      bucket,
      region,
      ...(endpoint && { endpoint }),
      ...(credentials && { credentials }),
    });
  }
  const { openFolderStore } = await import('./store/folder.ts');
  return openFolderStore(join(config.data_folder, 'objects'), {
    base_url: config.public_url ?? `http://${config.host}:${config.port}`,
    secret: await secret(join(config.data_folder, 'secret')),
  });
}

export async function openQueue(config: Config): Promise<RunQueue> {
  if (config.redis_url) return (await import('./queue/bullmq.ts')).openBullQueue(config.redis_url);
  return (await import('./queue/memory.ts')).openMemoryQueue();
}

/** What signs links to objects: made once, shared by all processes that share the folder. */
async function secret(path: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  const made = `${path}-${randomBytes(6).toString('hex')}`;
  await writeFile(made, randomBytes(32).toString('hex'), { mode: 0o600 });
  // A link appears whole or not at all, and only where there is none.
  await link(made, path).catch((error) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await rm(made);
  return readFile(path, 'utf8');
}

function findPackage(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return folder;
}
