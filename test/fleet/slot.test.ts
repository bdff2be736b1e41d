import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { Slot } from '../../src/fleet/slot.ts';
import { Fleet } from './fleet.ts';

/** Processes of slots that this one has started and that are alive. */
const replayers = (): number => {
  const table = execFileSync('ps', ['-A', '-o', 'ppid=,args=']).toString().split('\n');
  return table.filter((line) => line.trim().startsWith(`${process.pid} `) && line.includes('replayer'))
    .length;
};

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
