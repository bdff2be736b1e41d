import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const ROOT = '/sys/fs/cgroup';

/** What the kernel has counted for a container. */
export interface Cgroup {
  /** CPU time of all its processes, ms; null once it cannot be read. */
  cpuMs(): Promise<number | null>;
  /** How many of its processes the kernel has killed for memory; null where it cannot be read. */
  oomKills(): Promise<number | null>;
}

/** The control group of a process of this machine, version 1 or 2; null where it is not to be seen, as on a remote engine. */
export async function cgroupOf(pid: number, proc = '/proc', root = ROOT): Promise<Cgroup | null> {
  const lines = await read(join(proc, String(pid), 'cgroup'));
  if (lines === null) return null;
  const folder = (controller: string) => {
    for (const line of lines.split('\n')) {
      const [, names, ...path] = line.split(':');
      if (names?.split(',').includes(controller)) return join(root, names, path.join(':'));
    }
    return null;
  };
  const cpu = folder('cpuacct');
  const memory = folder('memory');
  if (cpu !== null && memory !== null) {
    return {
      cpuMs: async () => scaled(await read(join(cpu, 'cpuacct.usage')), 1e-6),
      oomKills: async () => field(await read(join(memory, 'memory.oom_control')), 'oom_kill'),
    };
  }
  const unified = folder('');
  if (unified === null) return null;
  return {
    cpuMs: async () => {
      const usec = field(await read(join(unified, 'cpu.stat')), 'usage_usec');
      return usec === null ? null : usec / 1000;
    },
    oomKills: async () => field(await read(join(unified, 'memory.events')), 'oom_kill'),
  };
}

function scaled(text: string | null, factor: number): number | null {
  return text === null ? null : Number(text) * factor;
}

function field(text: string | null, name: string): number | null {
  const found = text === null ? null : new RegExp(`^${name} (\\d+)$`, 'm').exec(text);
  return found === null ? null : Number(found[1]);
}

async function read(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    return null;
  }
}
