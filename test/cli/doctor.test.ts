import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { backtest, folder, jsonOf } from './support.ts';

interface Doctored {
  readonly ok: boolean;
  readonly findings: {
    readonly name: string;
    readonly ok: boolean;
    readonly needed: boolean;
    readonly detail: string;
  }[];
}

test.concurrent('where all is there, doctor says so and exits with 0', async () => {
  const ended = await backtest(['doctor', '--json']);
  const { ok, findings } = jsonOf(ended) as Doctored;
  expect(findings.filter((finding) => finding.needed && !finding.ok)).toEqual([]);
  expect({ ok, code: ended.code }).toEqual({ ok: true, code: 0 });
  const engine = findings.find(({ name }) => name === 'Docker engine');
  expect(engine?.detail).toMatch(/\d+\.\d+.* at unix:.*cgroup v[12]/);
});

test.concurrent('what is missing comes with what mends it, and exit code 1', async () => {
  const cwd = folder();
  writeFileSync(join(cwd, 'file'), '');
  const env = { DOCKER_HOST: `unix://${cwd}/nothing.sock`, BACKTEST_CACHE: `${cwd}/file/cache` };
  const ended = await backtest(['doctor', '--json'], { env });
  const { ok, findings } = jsonOf(ended) as Doctored;
  expect({ ok, code: ended.code }).toEqual({ ok: false, code: 1 });
  const missing = Object.fromEntries(
    findings.filter((one) => one.needed && !one.ok).map((one) => [one.name, one.detail]),
  );
  expect(missing).toMatchObject({
    'Docker engine': expect.stringMatching(/nothing\.sock.*DOCKER_HOST/),
    cache: expect.stringMatching(/file\/cache.*BACKTEST_CACHE/),
  });
});

test.concurrent('doctor tells the same in words', async () => {
  const { stdout } = await backtest(['doctor'], { env: { DOCKER_HOST: 'unix:///nothing.sock' } });
  expect(stdout).toMatch(/^ok +Node\.js +v/m);
  expect(stdout).toMatch(/^MISSING +Docker engine +No Docker engine answers at unix:\/\/\/nothing\.sock/m);
  expect(stdout).toMatch(/Mend what is MISSING/);
});
