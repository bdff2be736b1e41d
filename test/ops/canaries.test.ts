import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type Docker from 'dockerode';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIMITS } from '../../contract/index.ts';
import { connectEngine } from '../../src/sandbox/engine.ts';
import { resolveImage } from '../../src/sandbox/images.ts';
import { canaries } from '../../src/sandbox/preflight.ts';
import { remains } from '../sandbox/boxes.ts';

let docker: Docker;
let image: string;
const temp = mkdtempSync(join(tmpdir(), 'canaries-'));

beforeAll(async () => {
  docker = await connectEngine();
  image = (await resolveImage(docker, 'python@3.14')).id;
});
afterAll(() => rmSync(temp, { recursive: true }));

/** An engine that makes containers with other settings than it is told. */
const careless = (settings: object): Docker =>
  new Proxy(docker, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (name !== 'createContainer') return typeof value === 'function' ? value.bind(target) : value;
      return (config: Docker.ContainerCreateOptions) =>
        docker.createContainer({
          ...config,
          NetworkDisabled: false,
          HostConfig: { ...config.HostConfig, ...settings },
        });
    },
  });

const problemsOf = (engine: Docker) => canaries(engine, image, { temp, limits: LIMITS });

test('a box of this engine withstands every canary, and nothing is left of it', async () => {
  expect(await problemsOf(docker)).toEqual([]);
  expect(await remains(docker, 'canary')).toEqual([]);
});

test('an engine that heeds nothing is found out in every point', async () => {
  const settings = {
    NetworkMode: 'host',
    ReadonlyRootfs: false,
    CapDrop: [],
    SecurityOpt: ['seccomp=unconfined'],
    MaskedPaths: [],
    Binds: [],
    PidMode: 'host',
    PidsLimit: 0,
    Memory: 0,
    MemorySwap: 0,
    Ulimits: [],
    Tmpfs: { '/work': 'rw,exec,uid=10001' },
  };
  const problems = await problemsOf(careless(settings));
  for (const one of [
    'a box has capabilities',
    'a box may gain rights by a program of root',
    'a box has no system call filter',
    'a box sees processes that are not its own',
    'a box has a network',
    'a box writes to /tmp/canary',
    'a box reads /proc/loadavg',
    'a box reads /sys/kernel',
    'a box runs programs that it wrote',
    'a box writes more than it may',
    'a box may call unshare',
    'a box opens more files than it may',
    'a box starts more processes than it may',
    'a box that takes more memory than it may is not killed for it',
  ])
    expect(problems).toContain(one);
  expect(problems.join()).toContain('does not see the folder of its sockets');
});

test.each([
  ['the network of the host', { NetworkMode: 'host' }, ['a box has a network']],
  [
    'no system call filter',
    { SecurityOpt: ['no-new-privileges:true', 'seccomp=unconfined'] },
    ['a box has no system call filter', 'a box may call unshare'],
  ],
])('one prohibition that is left out is told by itself: %s', async (_what, settings, problems) => {
  expect(await problemsOf(careless(settings))).toEqual(expect.arrayContaining(problems));
});
