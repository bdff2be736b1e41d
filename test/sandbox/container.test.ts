import { expect, test } from 'vitest';
import { LIMITS } from '../../contract/index.ts';
import { containerConfig, containerName } from '../../src/sandbox/container.ts';

const request = {
  name: 'run-1',
  language: 'python@3.14',
  limits: LIMITS,
  deadline_ms: 1_700_000_000_000,
} as const;
const config = containerConfig(request, 'sha256:abc', '/tmp/box-1/wire', 'owner');

test('a container is told every limit and every prohibition that a box stands for', () => {
  const MiB = 1024 * 1024;
  expect(config).toEqual({
    name: 'backtest-fleet-run-1',
    Image: 'sha256:abc',
    Entrypoint: [],
    Cmd: ['python3', '-s', '-P', '/opt/harness/main.py', '/wire', '/work'],
    User: '10001:10001',
    WorkingDir: '/work',
    Hostname: 'box',
    Env: expect.any(Array),
    Labels: {
      'backtest-fleet.box': 'run-1',
      'backtest-fleet.deadline': '1700000000000',
      'backtest-fleet.owner': 'owner',
    },
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
      Binds: ['/tmp/box-1/wire:/wire:ro'],
      ReadonlyRootfs: true,
      Tmpfs: {
        '/work': 'rw,noexec,nosuid,nodev,size=67108864,nr_inodes=1024,uid=10001,gid=10001,mode=0700',
      },
      Privileged: false,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges:true'],
      MaskedPaths: expect.arrayContaining(['/proc/kcore', '/proc/keys', '/sys/firmware', '/sys/fs/cgroup']),
      ReadonlyPaths: ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'],
      Memory: 2048 * MiB,
      MemorySwap: 2048 * MiB,
      OomScoreAdj: 1000,
      NanoCpus: 1_000_000_000,
      PidsLimit: 64,
      Ulimits: [
        { Name: 'nofile', Soft: 256, Hard: 256 },
        { Name: 'fsize', Soft: 64 * MiB, Hard: 64 * MiB },
        { Name: 'core', Soft: 0, Hard: 0 },
        { Name: 'memlock', Soft: 0, Hard: 0 },
        { Name: 'msgqueue', Soft: 0, Hard: 0 },
      ],
      LogConfig: { Type: 'none', Config: {} },
      RestartPolicy: { Name: 'no' },
      Init: true,
      AutoRemove: false,
    },
  });
});

test('the environment holds what makes runs equal, and nothing of ours', () => {
  expect(config.Env).toEqual(
    expect.arrayContaining([
      'PYTHONHASHSEED=0',
      'PYTHONDONTWRITEBYTECODE=1',
      'OPENBLAS_NUM_THREADS=1',
      'OMP_NUM_THREADS=1',
      'TZ=UTC',
      'LANG=C.UTF-8',
      'HOME=/work',
    ]),
  );
  expect(config.Env!.length).toBeLessThan(12);
});

test('a Node.js box collects its garbage before the kernel would kill it', () => {
  const { Cmd } = containerConfig({ ...request, language: 'nodejs@24' }, 'i', '/f', 'o');
  expect(Cmd).toEqual(['node', '--max-old-space-size=1536', '/opt/harness/main.mjs', '/wire', '/work']);
});

test('a name that the engine would not take, or that hides a path, is refused', () => {
  expect(containerName('run-1.cell_2')).toBe('backtest-fleet-run-1.cell_2');
  for (const name of ['', '../x', 'a b', '-a', 'x'.repeat(102)])
    expect(() => containerName(name)).toThrow(/cannot name a box/);
});
