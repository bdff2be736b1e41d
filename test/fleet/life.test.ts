import { afterEach, expect, test } from 'vitest';
import { violations } from '../../src/ledger/invariants.ts';
import { balance } from '../../src/ledger/transfer.ts';
import { strategy } from '../run/runs.ts';
import { Fleet } from './fleet.ts';

let fleet: Fleet;
afterEach(async () => {
  expect(await violations(fleet.db)).toEqual([]);
  await fleet.close();
});

test('a submitted run is replayed, paid for and has an archive', async () => {
  fleet = await Fleet.open();
  const customer = await fleet.customer('first', 100);
  await fleet.work(2);
  const { run_id, credits_held } = await fleet.submit(customer, strategy('momentum-node'));
  const run = await fleet.over(customer, run_id);
  console.log(run, fleet.events);
  expect(run).toMatchObject({ status: 'done', credits_spent: credits_held, archive_available: true });
  expect(await balance(fleet.db, customer)).toBe(100 - credits_held);
});
