import type { ContainerCreateOptions } from 'dockerode';
import type { Language } from '../../contract/index.ts';
import type { BoxRequest } from './sandbox.ts';

/** Labels of a container: every one of ours, the box's name, when it may be removed (epoch ms), and whose it is. */
export const Label = {
  app: 'backtest-fleet.box',
  deadline: 'backtest-fleet.deadline',
  owner: 'backtest-fleet.owner',
} as const;

const MiB = 1024 * 1024;
/** The images make their folders for this user; it has no name and no rights. */
const UID = 10001;

const PLAIN_ENV = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  HOME: '/work',
  TMPDIR: '/work',
  TZ: 'UTC',
  LANG: 'C.UTF-8',
};

/** The environment of a harness: nothing secret, and nothing that could make two runs differ. */
export const ENV: Readonly<Record<Language, Readonly<Record<string, string>>>> = {
  'python@3.14': {
    ...PLAIN_ENV,
    PYTHONHASHSEED: '0',
    PYTHONDONTWRITEBYTECODE: '1',
    // One thread and one kernel family: sums come out the same on every machine of a kind.
    OPENBLAS_NUM_THREADS: '1',
    OMP_NUM_THREADS: '1',
    ...(process.arch === 'x64' ? { OPENBLAS_CORETYPE: 'Haswell' } : {}),
  },
  'nodejs@24': PLAIN_ENV,
};

/**
 * Arguments that start a harness at `main`. Python's `-I` would be shorter than `-s -P`, but it ignores PYTHONHASHSEED too. Node's
 * heap gets three quarters of the memory, so that it collects its garbage before the kernel kills it.
 */
export function harnessArguments(language: Language, memory_bytes: number, main: string): string[] {
  return language === 'python@3.14'
    ? ['-s', '-P', main]
    : [`--max-old-space-size=${Math.floor((memory_bytes * 0.75) / MiB)}`, main];
}

/** What is in /proc and /sys about the machine, its other users and the box's own CPU clock. */
const MASKED = [
  '/proc/acpi',
  '/proc/asound',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/loadavg',
  '/proc/sched_debug',
  '/proc/scsi',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/sys/devices/virtual/dmi',
  '/sys/devices/virtual/powercap',
  '/sys/firmware',
  '/sys/fs/cgroup',
  '/sys/kernel',
];
const READONLY = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];

/**
 * Everything that the engine is told about a box. `image` is an id, never a tag; `folder` holds the sockets; `owner`
 * names this process.
 */
export function containerConfig(
  { name, language, limits, deadline_ms }: BoxRequest,
  image: string,
  folder: string,
  owner: string,
): ContainerCreateOptions {
  const [program, main] =
    language === 'python@3.14' ? ['python3', '/opt/harness/main.py'] : ['node', '/opt/harness/main.mjs'];
  return {
    name: containerName(name),
    Image: image,
    Entrypoint: [],
    Cmd: [program, ...harnessArguments(language, limits.memory_bytes, main), '/wire', '/work'],
    User: `${UID}:${UID}`,
    WorkingDir: '/work',
    Hostname: 'box',
    Env: Object.entries(ENV[language]).map(([key, value]) => `${key}=${value}`),
    Labels: { [Label.app]: name, [Label.deadline]: String(deadline_ms), [Label.owner]: owner },
    Healthcheck: { Test: ['NONE'] },
    NetworkDisabled: true,
    AttachStdin: false,
    AttachStdout: true,
    AttachStderr: true,
    OpenStdin: false,
    Tty: false,
    HostConfig: {
      NetworkMode: 'none',
      IpcMode: 'none',
      Binds: [`${folder}:/wire:ro`],
      ReadonlyRootfs: true,
      Tmpfs: {
        '/work': `rw,noexec,nosuid,nodev,size=${limits.work_bytes},nr_inodes=${limits.work_inodes},uid=${UID},gid=${UID},mode=0700`,
      },
      Privileged: false,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges:true'],
      MaskedPaths: MASKED,
      ReadonlyPaths: READONLY,
      Memory: limits.memory_bytes,
      MemorySwap: limits.memory_bytes,
      OomScoreAdj: 1000,
      NanoCpus: Math.round(limits.cpus * 1e9),
      PidsLimit: limits.pids,
      Ulimits: [
        { Name: 'nofile', Soft: limits.open_files, Hard: limits.open_files },
        { Name: 'fsize', Soft: limits.work_bytes, Hard: limits.work_bytes },
        { Name: 'core', Soft: 0, Hard: 0 },
        { Name: 'memlock', Soft: 0, Hard: 0 },
        { Name: 'msgqueue', Soft: 0, Hard: 0 },
      ],
      LogConfig: { Type: 'none', Config: {} },
      RestartPolicy: { Name: 'no' },
      Init: true,
      // Its end is inspected first; we remove it ourselves.
      AutoRemove: false,
    },
  };
}

/** The same for the same box, so that a repeat finds what an earlier attempt has left. */
export function containerName(box: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,100}$/.test(box))
    throw new Error(`"${box}" cannot name a box: letters, digits, dot, dash and underscore, 101 at most.`);
  return `backtest-fleet-${box}`;
}
