import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { strategy } from '../run/runs.ts';
import { type ArchiveServer, startArchive } from './archive.ts';
import { boxesOf, type Hand } from './crew.ts';
import { commitGate, endGate, runGate } from './gate.ts';
import { Ground, TWO_DAYS } from './ground.ts';
import { calm, sound } from './sound.ts';
import { until } from './until.ts';

// A worker is killed with -9 at one step of a run, and another one takes over: whoever rescued the last case's run is
// the victim of the next.

let ground: Ground;
let archive: ArchiveServer;
let customer: string;
let victim: Hand;

const STRATEGY = strategy('timers-node');

beforeAll(async () => {
  [ground, archive] = await Promise.all([Ground.open(), startArchive()]);
  customer = await ground.customer('victim', 1_000);
  victim = await start();
});
afterEach(() => sound(ground));
afterAll(async () => {
  await ground.close();
  await archive.stop();
  await calm.close();
});

/** Each worker has a cache of its own: staging is a step too. */
const start = (): Promise<Hand> => {
  caches += 1;
  return ground.worker({
    BACKTEST_ARCHIVE: archive.url,
    BACKTEST_CACHE: join(ground.folder, `cache-${caches}`),
  });
};
let caches = 0;

const submit = async (): Promise<string> => (await ground.submit(customer, STRATEGY, TWO_DAYS)).run_id;

/** Somebody else finishes the run. `faults`: how many of its tasks the dead one had. */
async function rescued(run: string, faults: number): Promise<void> {
  victim = await start();
  expect(await ground.over(run)).toBe('done');
  expect(await ground.faults(run)).toBe(faults);
}

const signal = (name: 'SIGSTOP' | 'SIGCONT') => (pids: readonly number[]) => {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // It was quicker.
    }
  }
};
const freeze = signal('SIGSTOP');
const thaw = signal('SIGCONT');

const taskIs = (run: string, status: string, kind = 'shard') =>
  until(`a task of ${run} is ${status}`, async () => {
    const rows = await ground.db.query(
      'select number from task where run = $1 and status = $2 and kind = $3',
      [run, status, kind],
    );
    return rows.length > 0;
  });

test('killed when it has claimed a shard and not begun', async () => {
  const replayers = victim.replayers();
  freeze(replayers);
  const run = await submit();
  await taskIs(run, 'claimed');
  await victim.kill();
  thaw(replayers);
  await rescued(run, 1);
});

test('killed while it stages', async () => {
  const asked = archive.hold();
  const run = await submit();
  await asked;
  await victim.kill();
  archive.serve();
  await rescued(run, 1);
});

test('killed while it replays', async () => {
  // However quick it is, it does not get away.
  const gate = await endGate(ground.postgres.url, 'shard');
  const run = await submit();
  const [replayer] = victim.replayers();
  const boxes = await until('a box is at work', () => {
    const found = boxesOf(replayer!);
    return found.length > 0 ? found : null;
  });
  freeze(boxes);
  await taskIs(run, 'claimed');
  await victim.kill();
  await gate.open();
  await rescued(run, 1);
});

test('killed when a shard lies in the store and is not brought in', async () => {
  const [replayer] = victim.replayers();
  freeze([replayer!]);
  const run = await submit();
  await taskIs(run, 'claimed');
  const gate = await runGate(ground.postgres.url, run);
  thaw([replayer!]);
  await until('a shard lies in the store', () => ground.objects(`run/${run}/shard/0`).length > 0);
  await gate.reached();
  await victim.kill();
  await gate.open();
  await rescued(run, 1);
});

test('killed when a shard is brought in and nobody told it so', async () => {
  const gate = await commitGate(ground.postgres.url, 'update on task', `new.status = 'done'`);
  const run = await submit();
  await gate.reached();
  await victim.kill();
  await gate.open();
  await rescued(run, 0);
});

test('killed when the last shard is brought in, before the bell for the assembly', async () => {
  const gate = await commitGate(ground.postgres.url, 'insert on task', `new.kind = 'assembly'`);
  const run = await submit();
  await gate.reached();
  await victim.kill();
  await gate.open();
  await rescued(run, 0);
});

test('killed while it assembles; its replayer goes on for a while', async () => {
  const gate = await endGate(ground.postgres.url, 'assembly');
  const begun = ground.assembles();
  const run = await submit();
  await begun;
  const replayers = victim.replayers();
  freeze(replayers);
  await victim.kill();
  await gate.open();
  thaw(replayers);
  await rescued(run, 1);
});

test('killed when the archive is uploaded and nothing is settled', async () => {
  const gate = await endGate(ground.postgres.url, 'assembly');
  const run = await submit();
  await gate.reached();
  expect(ground.objects(`run/${run}`).some((name) => /^\d+\+$/.test(name))).toBe(true);
  await victim.kill();
  await gate.open();
  await rescued(run, 1);
});

test('killed when the run is settled and nobody told it so', async () => {
  const gate = await commitGate(ground.postgres.url, 'update on run', `new.status = 'done'`);
  const run = await submit();
  await gate.reached();
  await victim.kill();
  await gate.open();
  expect(await ground.over(run)).toBe('done');
  await rescued(run, 0);
});
