import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * How to read the CPU time, ms, of the container `id` by its process `pid`, from its control group of version 1 or 2; the
 * reading is null once the group is gone. Null where it is not to be seen from here, as with an engine on another machine
 * or in another process namespace, where the same pid is somebody else: the group must bear the container's name.
 */
export async function cpuOf(
  pid: number,
  id: string,
  proc = '/proc',
  root = '/sys/fs/cgroup',
): Promise<(() => Promise<number | null>) | null> {
  const lines = await read(join(proc, String(pid), 'cgroup'));
  for (const line of lines?.split('\n') ?? []) {
    // number:controllers:path; version 2 has no controllers. Where both are mounted, version 1 is the one that counts and stands first.
    const [, names, path] = line.split(':');
    if (!path?.includes(id)) continue;
    if (names?.split(',').includes('cpuacct')) {
      const file = join(root, names, path, 'cpuacct.usage');
      return async () => number(/^(\d+)/, await read(file), 1e-6);
    }
    if (names === '') {
      const file = join(root, path, 'cpu.stat');
      return async () => number(/^usage_usec (\d+)$/m, await read(file), 1e-3);
    }
  }
  return null;
}

function number(pattern: RegExp, text: string | null, factor: number): number | null {
  const found = text === null ? null : pattern.exec(text);
  return found === null ? null : Number(found[1]) * factor;
}

async function read(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    return null;
  }
}
