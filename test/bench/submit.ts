import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import autocannon from 'autocannon';
import { FLEET_LIMITS, LIMITS } from '../../contract/index.ts';
import { RATE } from '../../src/api/parts.ts';
import { buildApi } from '../../src/api/server.ts';
import { openArchive } from '../../src/archive/catalogue.ts';
import { readSource } from '../../src/check/read.ts';
import { PACKAGE } from '../../src/compose.ts';
import { migrate } from '../../src/database/migrate.ts';
import { openPostgres } from '../../src/database/postgres.ts';
import { createCustomer } from '../../src/ledger/customer.ts';
import { createKey } from '../../src/ledger/key.ts';
import { grant } from '../../src/ledger/transfer.ts';
import { openBullQueue } from '../../src/queue/bullmq.ts';
import { openFolderStore } from '../../src/store/folder.ts';
import { SYNTHETIC, strategy } from '../run/runs.ts';
import { startPostgres } from '../services/postgres.ts';
import { startRedis } from '../services/redis.ts';
import { freePort } from '../services/service.ts';
import type { Row } from './row.ts';

const CLIENTS = 100;
const SUBMITS = 1_500;

/** How long a submit takes while 100 clients do nothing else, beside a question that only asks the database for a sign. */
export async function bench(print: (row: Row) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'backtest-bench-'));
  const [postgres, redis] = await Promise.all([startPostgres({ durable: true }), startRedis()]);
  const db = openPostgres(postgres.url);
  const queue = openBullQueue(redis.url);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const store = await openFolderStore(join(folder, 'objects'), {
    base_url: url,
    secret: 'a secret of this bench',
  });
  const much = { ...RATE, per_address_and_minute: 1e9, per_customer_and_minute: 1e9, answer_ms: 60_000 };
  const parts = {
    db,
    queue,
    store,
    archive: openArchive(SYNTHETIC),
    limits: LIMITS,
    fleet: FLEET_LIMITS,
    public_url: url,
  };
  const app = buildApi({ ...parts, log: false, rate: much });
  try {
    await migrate(db, join(PACKAGE, 'src/database/migrations'));
    const customer = await createCustomer(db, 'bench');
    await grant(db, { id: 'bench', customer: customer.id, amount: 10 * SUBMITS });
    const { key } = await createKey(db, customer.id);
    await app.listen({ port });
    const { files } = await readSource(strategy('momentum-python'), LIMITS);
    const submit: autocannon.Options = {
      url: `${url}/v1/backtest/submit`,
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ files, assets: ['BTC'], days: 1 }),
    };
    await load({ ...submit, amount: 200 });
    const submits = await load({ ...submit, amount: SUBMITS });
    const limit = await load({ url: `${url}/v1/health`, amount: SUBMITS });
    for (const at of ['p50', 'p99'] as const) {
      const name = `submit, ${CLIENTS} clients: ${at}`;
      print({
        name,
        value: submits.latency[at],
        unit: 'ms',
        limit: limit.latency[at],
        limitName: 'GET /v1/health',
      });
    }
    const [value, most] = [submits.requests.average, limit.requests.average];
    print({
      name: `submit, ${CLIENTS} clients`,
      value,
      unit: 'submits/s',
      limit: most,
      limitName: 'GET /v1/health',
    });
  } finally {
    await app.close();
    await Promise.all([db.close(), queue.close(), store.close()]);
    await Promise.all([postgres.stop(), redis.stop()]);
    rmSync(folder, { recursive: true });
  }
}

async function load(options: autocannon.Options): Promise<autocannon.Result> {
  const result = await autocannon({ ...options, connections: CLIENTS, timeout: 60 });
  if (result.non2xx + result.errors > 0)
    throw new Error(`${result.non2xx} answers were no success, ${result.errors} never came`);
  return result;
}
