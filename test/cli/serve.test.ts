import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, test, vi } from 'vitest';
import { type Run, run as runSchema, submitAnswer } from '../../contract/api.ts';
import { serving } from './serving.ts';
import { backtest, folder, jsonOf, strategy } from './support.ts';

/** A server on one's own machine: what it prints works, and what it knows outlives it. */

vi.setConfig({ testTimeout: 180_000 });

const shell = promisify(execFile);

/** Making a database takes some seconds. */
const shared = serving();

const audit = (data: string) => backtest(['credits', 'audit', '--json'], { env: { BACKTEST_DATA: data } });
const clean = { code: 0, stdout: '{"ok":true,"violations":[]}\n' };

/** Takes a seventh of a second for each of its markets. */
const SLOW = `const used = () => process.cpuUsage().user + process.cpuUsage().system;
export class Strategy {
  onStart() {
    const until = used() + 150_000;
    while (used() < until);
  }
}
`;

test.concurrent('the printed line for curl is accepted as it stands, and its run becomes done', async () => {
  const { said, key, env } = await shared;
  expect(said).not.toContain(key);
  const line = said.split('\n').find((text) => text.trim().startsWith('curl '))!;
  const { stdout } = await shell('sh', ['-c', line], { cwd: folder(), env: { PATH: process.env.PATH } });
  const { run_id } = submitAnswer.parse(JSON.parse(stdout));
  const ended = await backtest(['status', run_id, '--watch', '--json'], { env });
  expect(ended).toMatchObject({ code: 0 });
  expect(runSchema.parse(jsonOf(ended))).toMatchObject({
    status: 'done',
    credits_spent: 2,
    archive_available: true,
  });
});

test.concurrent('a second start goes on with the same key, runs and credits, and nobody else may read the key', async () => {
  const first = await serving();
  const dir = strategy('node', 'export class Strategy { onBook() {} }');
  const submitted = await backtest(['submit', dir, '--days', '1', '--yes', '--watch', '--json'], {
    env: first.env,
  });
  expect(submitted).toMatchObject({ code: 0 });
  expect(first.said).toMatch(/credits +1000$/m);
  expect(await first.stop()).toMatchObject({ code: 0 });
  expect(statSync(join(first.data, 'key')).mode & 0o777).toBe(0o600);
  expect(await audit(first.data)).toMatchObject(clean);

  const second = await serving({ data: first.data });
  expect(second.key).toBe(first.key);
  expect(second.said).toMatch(/credits +998$/m);
  const { runs } = jsonOf(await backtest(['status', '--json'], { env: second.env })) as { runs: Run[] };
  expect(runs).toMatchObject([{ run_id: (jsonOf(submitted) as Run).run_id, status: 'done' }]);
});

test.concurrent('killed in the middle of a run, it finishes that run after the next start and charges it once', async () => {
  const env = { BACKTEST_LEASE_MS: '5000', BACKTEST_SWEEP_MS: '300' };
  const first = await serving({ env });
  const dir = strategy('node', SLOW);
  const submitted = await backtest(['submit', dir, '--days', '2', '--yes', '--json'], { env: first.env });
  const { run_id } = submitAnswer.parse(jsonOf(submitted));
  for (let status = ''; status !== 'running'; await sleep(50)) {
    const answer = await fetch(`${first.url}/v1/backtest/run/${run_id}`, {
      headers: { authorization: `Bearer ${first.key}` },
    });
    ({ status } = runSchema.parse(await answer.json()));
    expect(['queued', 'staging', 'running']).toContain(status);
  }
  await first.kill();

  const second = await serving({ data: first.data, env });
  const ended = await backtest(['status', run_id, '--watch', '--json'], { env: second.env });
  expect(runSchema.parse(jsonOf(ended))).toMatchObject({ status: 'done', credits_spent: 4 });
  expect(await second.stop()).toMatchObject({ code: 0 });
  expect(await audit(first.data)).toMatchObject(clean);
});

test.concurrent('it says what stands in its way, and what to do', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as { port: number };
  const { data } = await shared;
  const attempt = (...args: string[]) =>
    backtest(['serve', '--sandbox', 'process', ...args], { env: { DOCKER_HOST: 'unix:///nowhere.sock' } });
  const [other, there, nowhere, boxless] = await Promise.all([
    attempt('--data', folder(), '--port', String(port)),
    attempt('--data', data, '--port', '1'),
    attempt('--data', folder(), '--archive', '/nowhere/at-all'),
    attempt('--data', folder(), '--sandbox', 'docker'),
  ]);
  taken.close();
  expect(other).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(`Port ${port} .*in use.*--port`),
  });
  expect(there).toMatchObject({
    code: 3,
    stdout: '',
    stderr: expect.stringContaining(`${data}/database is in use`),
  });
  expect(nowhere).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('/nowhere/at-all: there is no such folder'),
  });
  expect(boxless).toMatchObject({
    code: 3,
    stdout: '',
    stderr: expect.stringContaining('npx backtest doctor'),
  });
});
