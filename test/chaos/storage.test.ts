import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, statfsSync, symlinkSync, writeFileSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { SYNTHETIC, strategy } from '../run/runs.ts';
import { startArchive } from './archive.ts';
import { processesOf } from './crew.ts';
import { type Ground, ONE_DAY, TWO_DAYS } from './ground.ts';
import { chaos } from './scene.ts';
import { until } from './until.ts';

// What runs read and where they write is away or full for a while, or for too long.

const TIMERS = strategy('timers-node');

/** Waits until a task of the run met as many faults. */
const faulted = (ground: Ground, run: string, times = 1) =>
  until(`${run} met ${times} faults`, async () => (await ground.faults(run)) >= times);

const disk = smallDisk();
if (disk === null) test.skip('a disk that is full (mounting one takes root on Linux)', () => {});
else {
  const folder = mkdtempSync(join(tmpdir(), 'backtest-chaos-'));
  symlinkSync(disk, join(folder, 'data'));
  chaos(
    'a full disk is a fault: the run ends once there is room, and gives its credits back where there never is',
    async (ground, customer) => {
      await ground.worker();
      // The plan of the others is there already: they can be submitted.
      expect(await ground.over((await ground.submit(customer, TIMERS)).run_id)).toBe('done');
      const filler = fill(disk);
      const lasting = await ground.submit(customer, TIMERS);
      await faulted(ground, lasting.run_id, 2);
      rmSync(filler);
      expect(await ground.over(lasting.run_id)).toBe('done');
      fill(disk);
      const doomed = await ground.submit(customer, TIMERS);
      expect(await ground.over(doomed.run_id)).toBe('failed');
      rmSync(filler);
    },
    folder,
  );
}

chaos('an archive that is away is waited for', async (ground, customer) => {
  const archive = await startArchive();
  await ground.worker({ BACKTEST_ARCHIVE: archive.url });
  archive.refuse();
  const { run_id } = await ground.submit(customer, TIMERS, TWO_DAYS);
  await faulted(ground, run_id);
  archive.serve();
  expect(await ground.over(run_id)).toBe('done');
  await archive.stop();
});

for (const [what, leave] of [
  ['was moved away', () => {}],
  ['is an empty mount point', (folder: string) => mkdirSync(folder)],
] as const)
  chaos(
    `a folder of the archive that ${what} for a while is no archive without days`,
    async (ground, customer) => {
      const folder = join(ground.folder, 'archive');
      cpSync(SYNTHETIC, folder, { recursive: true });
      await ground.worker({ BACKTEST_ARCHIVE: folder });
      await rename(folder, `${folder}-away`);
      leave(folder);
      const { run_id } = await ground.submit(customer, TIMERS);
      await faulted(ground, run_id);
      rmSync(folder, { recursive: true, force: true });
      await rename(`${folder}-away`, folder);
      expect(await ground.over(run_id)).toBe('done');
    },
  );

chaos(
  'a store that is away is waited for; replayers that cannot open it leave nobody behind',
  async (ground, customer) => {
    const worker = await ground.worker();
    const data = join(ground.folder, 'data');
    const { run_id } = await ground.submit(customer, TIMERS, ONE_DAY);
    await rename(data, `${data}-away`);
    // Nobody can make a folder where a file is.
    writeFileSync(data, '');
    for (const pid of worker.replayers()) process.kill(pid, 'SIGKILL');
    await faulted(ground, run_id, 3);
    rmSync(data);
    await rename(`${data}-away`, data);
    expect(await ground.over(run_id)).toBe('done');
    // Itself and one replayer for its slot.
    expect(processesOf(ground.folder)).toHaveLength(2);
  },
);

/** A file system of a few megabytes; null where there can be none. */
function smallDisk(): string | null {
  const folder = mkdtempSync(join(tmpdir(), 'backtest-chaos-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    rmSync(folder, { recursive: true });
    return null;
  }
  afterAll(() => {
    execFileSync('umount', ['-l', folder]);
    rmSync(folder, { recursive: true });
  });
  return folder;
}

/** Fills a disk to the last page. */
function fill(folder: string): string {
  const { bavail, bsize } = statfsSync(folder);
  writeFileSync(join(folder, 'filler'), Buffer.alloc(bavail * bsize));
  return join(folder, 'filler');
}
