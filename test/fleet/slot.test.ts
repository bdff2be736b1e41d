import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { Slot } from '../../src/fleet/slot.ts';
import { Fleet } from './fleet.ts';

/** Processes of slots that this one has started and that are alive. */
const pids = (): number[] => {
  const table = execFileSync('ps', ['-A', '-o', 'ppid=,pid=,args=']).toString().split('\n');
  const own = table
    .map((line) => line.trim().split(/ +/))
    .filter(([parent]) => Number(parent) === process.pid);
  return own.filter((fields) => fields.join(' ').includes('replayer')).map(([, pid]) => Number(pid));
};
const replayers = (): number => pids().length;

test('a slot whose process did not come up starts another one, and has one process from then on', async () => {
  const fleet = await Fleet.open();
  const config = { ...fleet.config, archive: null as string | null };
  const slot = new Slot({ config, sandbox: 'process', limits: fleet.box });
  await expect(slot.warm()).rejects.toThrow('BACKTEST_ARCHIVE is not set');
  config.archive = fleet.config.archive;
  await slot.warm();
  await slot.warm();
  expect(replayers()).toBe(1);
  await slot.close();
  expect(replayers()).toBe(0);
  await fleet.close();
});

test('a process that hangs is ended, and what it was at is a fault', async () => {
  const fleet = await Fleet.open();
  const slot = new Slot({ config: fleet.config, sandbox: 'process', limits: fleet.box }, 500);
  await slot.warm();
  process.kill(pids()[0]!, 'SIGSTOP');
  const job = { kind: 'shard', run: 'run', number: 0, fence: 1, plan: 'plan/none' } as const;
  await expect(slot.run(job, new AbortController().signal, () => {})).rejects.toThrow(
    'the replayer died (SIGKILL)',
  );
  await slot.warm();
  expect(replayers()).toBe(1);
  await slot.close();
  await fleet.close();
});
