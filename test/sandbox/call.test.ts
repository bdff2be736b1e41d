import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Docker from 'dockerode';
import { expect, test } from 'vitest';
import { engine, status } from '../../src/sandbox/call.ts';

test('an engine that takes a question and never answers holds nobody up', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'call-'));
  const silent = createServer().listen(join(folder, 'engine'));
  const docker = new Docker({ socketPath: join(folder, 'engine'), host: '' });
  // Of these two, only the second passes a signal on.
  const questions = [() => docker.getImage('x').inspect(), (call: object) => docker.listContainers(call)];
  for (const ask of questions)
    await expect(engine('answer', ask as () => Promise<unknown>, 50)).rejects.toThrow(
      'could not answer: no answer within 0.05 s',
    );
  silent.close();
  await rm(folder, { recursive: true });
});

test('a refusal is told in the engine’s words, and may be expected', async () => {
  const refused = () =>
    engine('do it', () => Promise.reject(Object.assign(new Error('in use '), { statusCode: 409 })));
  await expect(refused()).rejects.toThrow(/^The Docker engine could not do it: in use$/);
  await expect(status(refused(), [404])).rejects.toThrow('in use');
  expect(await status(refused(), [404, 409])).toBe(409);
  expect(await status(Promise.resolve(), [])).toBe(200);
});
