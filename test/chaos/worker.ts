// A worker process of a chaos case: what worker/main.ts is to a fleet, with limits as short as the case wants them.
import { randomUUID } from 'node:crypto';
import { FLEET_LIMITS, LIMITS } from '../../contract/index.ts';
import { openDatabase, openQueue, openStore } from '../../src/compose.ts';
import { readConfig } from '../../src/config.ts';
import { Slot } from '../../src/fleet/slot.ts';
import { startWorker } from '../../src/fleet/worker.ts';

const config = readConfig();
const limits = { ...FLEET_LIMITS, ...JSON.parse(process.env.CHAOS_LIMITS ?? '{}') };
const sandbox = process.env.BACKTEST_SANDBOX === 'docker' ? 'docker' : 'process';
const say = (message: object) => process.stdout.write(`${JSON.stringify(message)}\n`);

const [db, queue, store] = await Promise.all([openDatabase(config), openQueue(config), openStore(config)]);
const worker = await startWorker({
  id: randomUUID(),
  db,
  queue,
  store,
  slots: Array.from({ length: config.slots ?? 1 }, () => new Slot({ config, sandbox, limits: LIMITS })),
  limits,
  tell: say,
});
say({ event: 'ready' });
process.once('SIGTERM', async () => {
  await worker.stop();
  await Promise.all([queue.close(), db.close(), store.close()]);
  process.exit();
});
