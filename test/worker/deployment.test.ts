import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { FLEET_LIMITS, LIMITS, languages } from '../../contract/index.ts';
import { PACKAGE } from '../../src/compose.ts';
import { parse } from '../../src/config.ts';
import { roles } from '../../src/ops/service.ts';
import { connectEngine, DEFAULT_HOST } from '../../src/sandbox/engine.ts';
import { resolveImage } from '../../src/sandbox/images.ts';
import { canaries } from '../../src/sandbox/preflight.ts';

// Deployment files are code that no compiler reads.

// biome-ignore lint/suspicious/noExplicitAny: what stands in a file is what the tests look at
type Any = any;

const folder = join(PACKAGE, 'worker');
const read = (name: string): Any[] =>
  parseAllDocuments(readFileSync(join(folder, name), 'utf8'), { merge: true }).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS();
  });
const compose = read('compose.yaml')[0];
const names = readdirSync(join(folder, 'k8s'));
const k8s: Any[] = names.flatMap((name) => read(join('k8s', name)));
const find = (kind: string, name: string): Any =>
  k8s.find((one) => one.kind === kind && one.metadata?.name === name);
const pods = ['api', 'worker'].map((name) => find('Deployment', name).spec.template.spec);
const containers = pods.flatMap((pod) => [...pod.containers, ...(pod.initContainers ?? [])]);
const ours = containers.filter(({ image }) => image === 'backtest-fleet');
const dockerfile = readFileSync(join(folder, 'Dockerfile'), 'utf8');

/** Every variable that this program looks at. */
function known(): Set<string> {
  const seen = new Set(['HOME', 'TMPDIR', 'NODE_ENV', 'NODE_OPTIONS']);
  const env = new Proxy({} as Record<string, string>, {
    get(_, name: string) {
      seen.add(name);
      return name === 'BACKTEST_S3_BUCKET' ? 'bucket' : undefined;
    },
  });
  parse(env, '/home', '/tmp');
  return seen;
}

test('every variable that a deployment sets is one that the program reads', () => {
  const set = [
    ...['api', 'worker', 'prepare'].flatMap((name) => Object.keys(compose.services[name].environment)),
    ...Object.keys(find('ConfigMap', 'backtest-fleet').data),
    ...Object.keys(find('Secret', 'backtest-fleet').stringData),
    ...ours.flatMap(({ env = [] }) => env.map(({ name }: { name: string }) => name)),
    ...[...dockerfile.matchAll(/^(?:ENV | {4})([A-Z_0-9]+)=/gm)].map(([, name]) => name!),
  ];
  expect(set.length).toBeGreaterThan(20);
  expect(set.filter((name) => !known().has(name))).toEqual([]);
});

test('what a deployment sets is understood', () => {
  const { data } = find('ConfigMap', 'backtest-fleet');
  const { stringData } = find('Secret', 'backtest-fleet');
  expect(() => parse({ ...data, ...stringData }, '/', '/')).not.toThrow();
  const text = JSON.stringify(compose.services.worker.environment).replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1');
  expect(() => parse(JSON.parse(text), '/', '/')).not.toThrow();
});

test('every process is started in a role that there is', () => {
  const commands = [
    compose.services.api.command,
    compose.services.worker.command,
    ...ours.flatMap(({ args }) => (args ? [args] : [])),
  ];
  expect(commands).toHaveLength(4);
  for (const [role] of commands) expect(roles).toContain(role);
  expect(dockerfile).toContain('ENTRYPOINT ["node", "dist/worker/main.js"]');
});

test('the image is made from files that there are', () => {
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, paths]) =>
    paths!.split(' '),
  );
  expect(copied.length).toBeGreaterThan(8);
  expect(copied.filter((path) => !existsSync(join(PACKAGE, path)))).toEqual([]);
  expect(dockerfile).toMatch(/^ARG NODE=node:24-\S+@sha256:[0-9a-f]{64}$/m);
});

test('nobody is killed before the time is up that they may finish in', () => {
  const grace = Number(find('ConfigMap', 'backtest-fleet').data.BACKTEST_GRACE_MS);
  for (const { terminationGracePeriodSeconds } of pods)
    expect(terminationGracePeriodSeconds * 1000).toBeGreaterThanOrEqual(grace + 20_000);
  expect(Number.parseInt(compose.services.worker.stop_grace_period, 10) * 1000).toBeGreaterThanOrEqual(
    FLEET_LIMITS.grace_ms + 20_000,
  );
});

test('the queue of the compose file is one that a worker takes', () => {
  expect(compose.services.redis.command.join(' ')).toContain(
    '--appendonly yes --maxmemory-policy noeviction',
  );
});

test('as many workers are asked for as it takes slots', () => {
  const [trigger] = find('ScaledObject', 'worker').spec.triggers;
  const { env } = ours.find(({ name }) => name === 'worker');
  expect(env).toContainEqual({ name: 'BACKTEST_SLOTS', value: trigger.metadata.targetQueryValue });
});

test('nothing of ours runs as root, but what prepares a machine', () => {
  for (const pod of pods)
    for (const { name, securityContext } of [...pod.containers, ...(pod.initContainers ?? [])])
      if (name !== 'engine')
        expect({ ...pod.securityContext, ...securityContext }).toMatchObject({
          runAsNonRoot: true,
          allowPrivilegeEscalation: false,
        });
  for (const name of ['api', 'worker']) expect(compose.services[name]).not.toHaveProperty('user');
  expect(dockerfile).toMatch(/^USER 10002:10002$/m);
});

test('the engine is told where the sockets are by the name that the worker has for it', () => {
  const { worker } = compose.services;
  expect(worker.volumes).toContain(`${worker.environment.TMPDIR}:${worker.environment.TMPDIR}`);
  const mounts = (name: string) => containers.find((one) => one.name === name).volumeMounts;
  const boxes = { name: 'boxes', mountPath: '/boxes' };
  expect(mounts('worker')).toContainEqual(boxes);
  expect(mounts('engine')).toContainEqual(boxes);
  expect(dockerfile).toContain('TMPDIR=/boxes');
});

const rules: [string, string[]][] = [
  ['compose.yaml', compose.services.engine.command],
  ['k8s/worker.yaml', containers.find(({ name }) => name === 'engine-filter').args],
];
const closings: (() => void)[] = [];
afterAll(() => closings.forEach((close) => void close()));

/** The way to the engine as those rules have it: a request passes when method and path are allowed. */
async function filter(
  args: readonly string[],
): Promise<{ host: string; allows(method: string, path: string): boolean }> {
  const allowed = new Map(
    args.flatMap((arg) => {
      const [, method, pattern] = /^-allow([A-Z]+)=(.*)$/.exec(arg) ?? [];
      return method ? [[method, new RegExp(`^(?:${pattern})$`)] as const] : [];
    }),
  );
  const allows = (method: string, path: string) => allowed.get(method)?.test(path) ?? false;
  const server = createServer((from: IncomingMessage, to: ServerResponse) => {
    if (!allows(from.method!, decodeURIComponent(new URL(from.url!, 'http://engine').pathname)))
      return void to.writeHead(403).end(`{"message": "${from.method} ${from.url} is not allowed"}`);
    const socketPath = DEFAULT_HOST.slice('unix://'.length);
    const passed = request(
      { socketPath, method: from.method, path: from.url, headers: from.headers },
      (answer) => {
        to.writeHead(answer.statusCode!, answer.headers);
        to.flushHeaders();
        answer.pipe(to);
      },
    );
    to.on('close', () => passed.destroy());
    passed.on('error', () => to.destroy());
    from.pipe(passed);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closings.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return { host: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`, allows };
}

test.each(rules)('the way to the engine in %s lets boxes through and little else', async (_file, args) => {
  const { host, allows } = await filter(args);
  const docker = await connectEngine({ host });
  const [{ id }] = await Promise.all(languages.map((language) => resolveImage(docker, language)));
  expect(await canaries(docker, id!, { temp: tmpdir(), limits: LIMITS })).toEqual([]);
  await docker.version();
  for (const [method, path] of [
    ['POST', '/build'],
    ['POST', '/images/create'],
    ['POST', '/containers/x/exec'],
    ['POST', '/containers/x/update'],
    ['POST', '/containers/x/kill/../exec'],
    ['PUT', '/containers/x/archive'],
    ['GET', '/containers/x/archive'],
    ['GET', '/containers/x/export'],
    ['POST', '/volumes/create'],
    ['POST', '/networks/create'],
    ['DELETE', '/images/x'],
    ['GET', '/images/debian:12/json'],
    ['POST', '/swarm/init'],
    ['POST', '/plugins/pull'],
  ] as const)
    expect(allows(method, path), `${method} ${path}`).toBe(false);
  expect(args.some((arg) => arg.startsWith('-allowbindmountfrom=/'))).toBe(true);
});
