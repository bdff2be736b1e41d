import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterEach, expect, test } from 'vitest';
import { connectEngine } from '../../src/sandbox/engine.ts';
import { resolveImage } from '../../src/sandbox/images.ts';
import { canStartDockerd, startDockerd } from './dockerd.ts';
import { startPostgres } from './postgres.ts';
import { startProxy } from './proxy.ts';
import { startRedis } from './redis.ts';

const cleanup: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo();
});
const started = async <S extends { stop(): Promise<void> }>(starting: Promise<S>): Promise<S> => {
  const service = await starting;
  cleanup.push(() => service.stop());
  return service;
};

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client(url);
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query({ text, rowMode: 'array' })).rows;
  } finally {
    await client.end();
  }
}

test('Postgres keeps what is committed when it is killed', async () => {
  const postgres = await started(startPostgres());
  await query(postgres.url, 'create table kept as select 7 as seven');
  await postgres.kill();
  await expect(query(postgres.url, 'select 1')).rejects.toThrow('ECONNREFUSED');
  await postgres.restart();
  expect(await query(postgres.url, 'select seven from kept')).toEqual([[7]]);
  await postgres.restart();
  expect(await query(postgres.url, 'select seven from kept')).toEqual([[7]]);
});

test('a frozen Postgres says nothing, on open connections too, until it goes on', async () => {
  const postgres = await started(startPostgres());
  const client = new pg.Client(postgres.url);
  cleanup.push(() => client.end());
  await client.connect();
  await postgres.pause();
  let answered = false;
  const answer = client.query('select 1').then(() => {
    answered = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(answered).toBe(false);
  await postgres.resume();
  await answer;
});

test('Redis keeps its keys when it is killed, and loses all when it is flushed', async () => {
  const redis = await started(startRedis());
  const client = new Redis(redis.url);
  client.on('error', () => {});
  cleanup.push(() => client.disconnect());
  await client.set('key', 'kept');
  await redis.kill();
  await redis.restart();
  expect(await client.get('key')).toBe('kept');
  await redis.flush();
  expect(await client.get('key')).toBe(null);
});

test('servers end with the process that started them, even frozen ones of a killed process', async () => {
  const code = `
    const { startPostgres } = await import('${new URL('./postgres.ts', import.meta.url)}');
    const { startRedis } = await import('${new URL('./redis.ts', import.meta.url)}');
    const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
    await postgres.pause();
    console.log(JSON.stringify([postgres.url, redis.url]));
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code]);
  const [line] = await once(child.stdout, 'data');
  const ports = (JSON.parse(String(line)) as string[]).map((url) => Number(new URL(url).port));
  expect(await Promise.all(ports.map(listens))).toEqual([true, true]);
  child.kill('SIGKILL');
  await expect.poll(() => Promise.all(ports.map(listens)), { timeout: 20_000 }).toEqual([false, false]);
});

/** What has ended has no command line, even if nobody has reaped it. */
function runs(pid: number): boolean {
  return existsSync(`/proc/${pid}`) && readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== '';
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    }).on('error', () => resolve(false));
  });
}

test('a proxy passes bytes, loses them without a word, and lets new connections pass again', async () => {
  const redis = await started(startRedis());
  const proxy = await started(startProxy(redis.url));
  const client = new Redis(proxy.url, { commandTimeout: 300, retryStrategy: null });
  let closed = false;
  client
    .on('error', () => {})
    .on('close', () => {
      closed = true;
    });
  cleanup.push(() => client.disconnect());
  expect(await client.ping()).toBe('PONG');
  proxy.cut();
  await expect(client.ping()).rejects.toThrow('timed out');
  proxy.heal();
  await expect(client.ping()).rejects.toThrow('timed out');
  expect(closed).toBe(false);
  const next = new Redis(proxy.url);
  cleanup.push(() => next.disconnect());
  expect(await next.ping()).toBe('PONG');
});

test.skipIf(canStartDockerd() !== null)(
  'an engine for tests has the sandbox images, may be killed and started again, and leaves the machine’s engine alone',
  async () => {
    const sleeper = async (docker: Awaited<ReturnType<typeof connectEngine>>) => {
      const image = await resolveImage(docker, 'nodejs@24');
      const container = await docker.createContainer({
        Image: image.id,
        Entrypoint: ['sleep', '1000'],
        StopSignal: 'SIGKILL',
        NetworkDisabled: true,
      });
      cleanup.push(() => container.remove({ force: true }).catch(() => {}));
      await container.start();
      return container;
    };
    const neighbour = await sleeper(await connectEngine());
    const engine = await started(startDockerd());
    const docker = await connectEngine({ host: engine.host });
    const container = await sleeper(docker);
    await engine.kill();
    await expect(connectEngine({ host: engine.host })).rejects.toThrow('No Docker engine answers');
    await engine.restart();
    expect((await container.inspect()).State.Running).toBe(false);
    const other = await sleeper(docker);
    const { Pid } = (await other.inspect()).State;
    expect(runs(Pid)).toBe(true);
    await engine.stop();
    const left = readFileSync('/proc/mounts', 'utf8').split('\n');
    expect(left.filter((line) => line.includes('test-engine') || line.includes('fleet-dockerd'))).toEqual([]);
    expect(existsSync(dirname(new URL(engine.host).pathname))).toBe(false);
    await expect.poll(() => runs(Pid)).toBe(false);
    expect((await neighbour.inspect()).State.Running).toBe(true);
  },
);
