import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { cpuOf } from '../../src/sandbox/cgroup.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'cgroup-test-'));
});
afterEach(() => rm(root, { recursive: true }));

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}

test('CPU time is read where version 1 keeps it, controllers mounted together or apart', async () => {
  await put(
    'proc/7/cgroup',
    '9:name=systemd:/docker/a\n4:memory:/docker/a\n2:cpu,cpuacct:/docker/a\n0::/docker/a\n',
  );
  await put('sys/cpu,cpuacct/docker/a/cpuacct.usage', '1500000000\n');
  const cpuMs = await cpuOf(7, 'a', join(root, 'proc'), join(root, 'sys'));
  expect(await cpuMs!()).toBe(1500);
});

test('CPU time is read where version 2 keeps it', async () => {
  await put('proc/7/cgroup', '0::/system.slice/docker-a.scope\n');
  await put('sys/system.slice/docker-a.scope/cpu.stat', 'usage_usec 2500000\nuser_usec 1\n');
  const cpuMs = await cpuOf(7, 'a', join(root, 'proc'), join(root, 'sys'));
  expect(await cpuMs!()).toBe(2500);
});

test('what cannot be read is unknown, not zero', async () => {
  expect(await cpuOf(7, 'a', join(root, 'proc'), join(root, 'sys'))).toBe(null);
  await put('proc/7/cgroup', '0::/gone/a\n');
  expect(await (await cpuOf(7, 'a', join(root, 'proc'), join(root, 'sys')))!()).toBe(null);
});

test('the group of another process that has the same number here is not the container', async () => {
  await put('proc/7/cgroup', '0::/system.slice/worker.service\n');
  await put('sys/system.slice/worker.service/cpu.stat', 'usage_usec 2500000\n');
  expect(await cpuOf(7, 'c0ffee', join(root, 'proc'), join(root, 'sys'))).toBe(null);
});
