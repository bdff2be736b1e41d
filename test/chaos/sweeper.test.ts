import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sweep } from '../../src/fleet/sweeper.ts';
import { openMemoryQueue } from '../../src/queue/memory.ts';
import { Fleet } from '../fleet/fleet.ts';
import { strategy } from '../run/runs.ts';
import { ONE_DAY } from './ground.ts';

test('a store that is away keeps the sweeper from removing leftovers, and from nothing else', async () => {
  const fleet = await Fleet.open();
  const customer = await fleet.customer('first', 100);
  const worker = await fleet.work();
  const { run_id } = await fleet.submit(customer, strategy('idle-node'), ONE_DAY);
  await fleet.over(customer, run_id);
  await worker.stop();
  await fleet.submit(customer, strategy('idle-node'), ONE_DAY);

  const data = join(fleet.folder, 'data');
  await rename(data, `${data}-away`);
  // It has forgotten the bell for the second run.
  const queue = openMemoryQueue();
  const limits = { ...fleet.limits, leftovers_ms: -1 };
  await expect(sweep({ db: fleet.db, store: fleet.store, queue }, limits)).rejects.toThrow(
    'cannot be reached',
  );
  expect(await queue.depth()).toBe(1);
  await rename(`${data}-away`, data);
  expect(await sweep({ db: fleet.db, store: fleet.store, queue }, limits)).toMatchObject({ removed: 1 });
  await fleet.close();
});
