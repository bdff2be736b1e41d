import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { connectEngine, DEFAULT_HOST, engineProblem, engineState } from '../../src/sandbox/engine.ts';

test('each way an engine can be away names the command that mends it', () => {
  expect(engineProblem('ENOENT', DEFAULT_HOST, 'linux')).toContain('sudo systemctl start docker');
  expect(engineProblem('EACCES', DEFAULT_HOST, 'linux')).toContain('sudo usermod -aG docker');
  expect(engineProblem('TIMEOUT', DEFAULT_HOST, 'linux')).toContain('sudo systemctl restart docker');
  expect(engineProblem('ENOENT', DEFAULT_HOST, 'darwin')).toContain('Start Docker Desktop');
  expect(engineProblem('ECONNREFUSED', 'tcp://10.0.0.1:2375', 'linux')).toContain('Check DOCKER_HOST');
});

test('an engine that is away is an error to connect to and a state to report', async () => {
  const host = 'unix:///nowhere/docker.sock';
  await expect(connectEngine({ host })).rejects.toThrow(
    'No Docker engine answers at unix:///nowhere/docker.sock',
  );
  expect(await engineState({ host })).toMatchObject({ reachable: false, host });
});

test('a DOCKER_HOST that is no address is refused with an example of one', async () => {
  await expect(connectEngine({ host: 'docker' })).rejects.toThrow(
    'It must be like unix:///var/run/docker.sock',
  );
});

test('an engine is found by TCP address', async () => {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url!);
    response.end('OK');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await connectEngine({ host: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}` });
    expect(paths).toEqual(['/_ping']);
  } finally {
    server.close();
  }
});
