import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type Docker from 'dockerode';
import type { Cache } from './archive/cache.ts';
import type { Archive } from './archive/catalogue.ts';
import type { Config } from './config.ts';
import type { Sandbox } from './sandbox/sandbox.ts';

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

function findPackage(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return folder;
}
