import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { runResult } from '../../contract/run.ts';
import { Label } from '../../src/sandbox/container.ts';
import { connectEngine } from '../../src/sandbox/engine.ts';
import { ARCHIVE, type Ended, folder, found, jsonOf, SCOPE, start, strategy } from './support.ts';

/** Waits in each hook; the limits of a hook are seconds away when the test is done. */
const SLEEPER = `import time

class Strategy:
    def on_book(self, ctx, change):
        while True:
            time.sleep(0.01)
`;

const begin = (sandbox: string, cwd: string, ...args: string[]) =>
  start(['run', strategy('python', SLEEPER), '--archive', ARCHIVE, '--sandbox', sandbox, ...SCOPE, ...args], {
    cwd,
  });

test.concurrent('Ctrl-C ends a run with 130 when its containers are gone and nothing is written', async () => {
  const docker = await connectEngine();
  const cwd = folder();
  const { child, ended } = begin('docker', cwd, '--json');
  const containers = async () => {
    const all = await docker.listContainers({ all: true, filters: { label: [Label.app] } });
    return all.filter(({ Labels }) => Labels[Label.owner]?.split('/')[2] === String(child.pid));
  };
  await until(async () => (await containers()).some(({ State }) => State === 'running'), ended);
  child.kill('SIGINT');
  const end = await ended;
  expect(end).toMatchObject({ code: 130, stderr: expect.stringContaining('no report was written') });
  expect(runResult.parse(jsonOf(end))).toMatchObject({ outcome: 'fault', report: null });
  expect(await containers()).toEqual([]);
  expect(found(join(cwd, 'out'))).toEqual([]);
});

// Who started whom is read from /proc.
describe.skipIf(process.platform !== 'linux')('in plain processes', () => {
  test.concurrent.each([
    ['Ctrl-C', ['SIGINT'], 130],
    ['a second Ctrl-C', ['SIGINT', 'SIGINT'], 130],
    ['SIGTERM', ['SIGTERM'], 143],
  ] as const)(
    '%s ends a run when its harnesses are gone, with %j answered by %i',
    async (_, signals, code) => {
      const cwd = folder();
      const { child, ended } = begin('process', cwd);
      await until(async () => childrenOf(child.pid!).length > 0, ended);
      const harnesses = childrenOf(child.pid!);
      for (const signal of signals) child.kill(signal);
      expect(await ended).toMatchObject({ code, stdout: '' });
      expect(harnesses.filter(lives)).toEqual([]);
      expect(found(join(cwd, 'out'))).toEqual([]);
    },
  );
});

/** Waits for something that is to happen before the process ends. */
async function until(happened: () => Promise<boolean>, ended: Promise<Ended>): Promise<void> {
  while (!(await happened())) {
    const early = await Promise.race([ended, sleep(50)]);
    if (early) throw new Error(`it ended with ${early.code}: ${early.stderr}`);
  }
}

/** The harnesses that a process has started, by pid. */
function childrenOf(pid: number): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((one) => parentOf(one) === pid && told(one, 'cmdline').includes('harness'));
}

const parentOf = (pid: number): number => Number(/\) \S (\d+)/.exec(told(pid, 'stat'))?.[1]);
const lives = (pid: number): boolean => /\) [^ZX]/.test(told(pid, 'stat'));

function told(pid: number, what: string): string {
  try {
    return readFileSync(`/proc/${pid}/${what}`, 'utf8');
  } catch {
    return '';
  }
}
