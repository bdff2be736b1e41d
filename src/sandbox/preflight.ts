import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type Docker from 'dockerode';
import type { Limits } from '../../contract/index.ts';
import { first } from './box.ts';
import { engine } from './call.ts';
import { ATTACKS, EATER, MARK } from './canary.ts';
import { containerConfig } from './container.ts';
import { startContainer } from './docker.ts';
import { makeFolder, removeFolder } from './folder.ts';
import { owner } from './owner.ts';
import type { BoxRequest, Exit } from './sandbox.ts';

const MiB = 1024 * 1024;
const CANARY_MS = 20_000;
/** The memory of the box that eats too much, and how much it wants. */
const SMALL_BYTES = 64 * MiB;
/** The attacker has to fill its folder, which would take long at full size. */
const WORK_BYTES = MiB;

/**
 * What is wrong with the boxes of this engine, one sentence each; none where all is well. Starts two boxes as runs do,
 * with programs that try what no strategy may be able to; takes one to two seconds. `image`: the id of the Python one.
 * `temp`: where runs keep their sockets.
 */
export async function canaries(
  docker: Docker,
  image: string,
  { temp, limits }: { readonly temp: string; readonly limits: Limits },
): Promise<string[]> {
  const own = await makeFolder(temp);
  try {
    const folder = join(own, 'wire');
    await mkdir(folder, { mode: 0o755 });
    await writeFile(join(folder, MARK), '');
    const found = await Promise.all([
      attacked(docker, image, folder, limits),
      eaten(docker, image, folder, limits),
    ]);
    return [...lacking(await engine('describe itself', () => docker.info())), ...found.flat()];
  } finally {
    await removeFolder(own);
  }
}

/** Limits that this kernel does not know are ones that the engine silently leaves out. */
function lacking(info: Record<string, unknown>): string[] {
  const flags = { MemoryLimit: 'memory', SwapLimit: 'swap', CpuCfsQuota: 'CPU', PidsLimit: 'processes' };
  return Object.entries(flags)
    .filter(([flag]) => info[flag] !== true)
    .map(([, what]) => `the engine cannot limit ${what} here`);
}

async function attacked(docker: Docker, image: string, folder: string, limits: Limits): Promise<string[]> {
  const request = requestFor('attack', { ...limits, work_bytes: WORK_BYTES });
  const exit = await play(docker, image, folder, request, ({ HostConfig }) => [
    '-c',
    ATTACKS,
    JSON.stringify({ ...request.limits, masked: HostConfig!.MaskedPaths }),
  ]);
  if (exit === null) return [`a box that attacks did not end within ${CANARY_MS / 1000} s`];
  const lines = exit.diagnostics.trim().split('\n');
  if (lines.pop() !== 'done') return [`a box that attacks broke off: ${exit.diagnostics.slice(-300).trim()}`];
  return lines;
}

async function eaten(docker: Docker, image: string, folder: string, limits: Limits): Promise<string[]> {
  const request = requestFor('memory', { ...limits, memory_bytes: SMALL_BYTES });
  const exit = await play(docker, image, folder, request, () => ['-c', EATER, String(4 * SMALL_BYTES)]);
  return exit?.oom ? [] : ['a box that takes more memory than it may is not killed for it'];
}

const requestFor = (name: string, limits: Limits): BoxRequest => ({
  name: `canary-${name}-${randomBytes(6).toString('hex')}`,
  language: 'python@3.14',
  limits,
  deadline_ms: Date.now() + 3 * CANARY_MS,
});

/** Runs a Python program where a harness would be. Null: it did not end in time. */
async function play(
  docker: Docker,
  image: string,
  folder: string,
  request: BoxRequest,
  program: (config: Docker.ContainerCreateOptions) => string[],
): Promise<Exit | null> {
  const config = containerConfig(request, image, folder, owner());
  const host = await startContainer(docker, request, { ...config, Cmd: ['python3', ...program(config)] });
  try {
    const ended = await first([host.exited.then(() => true)], CANARY_MS);
    return ended ? await host.exit() : null;
  } finally {
    await host.remove();
  }
}
