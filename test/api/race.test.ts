import { expect, test } from 'vitest';
import { openPostgres } from '../../src/database/postgres.ts';
import { startPostgres } from '../services/postgres.ts';
import { filesOf, startApi } from './api.ts';

test('of 200 submits at once the balance pays for 50, and 50 are taken', async () => {
  const postgres = await startPostgres();
  const db = openPostgres(postgres.url);
  const api = await startApi({ db });
  try {
    const { key } = await api.customer(50 * 4);
    const files = await filesOf('momentum-python');
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => api.call('POST', '/v1/backtest/submit', { key, body: { files } })),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(50).fill(202), ...Array(150).fill(402)]);
    expect((await api.call('GET', '/v1/backtest/balance', { key })).body.balance).toBe(0);
    const [{ runs, held }] = await db.query<{ runs: number; held: number }>(
      `select (select count(*) from run) as runs, (select sum(amount) from posting where account = 'holds') as held`,
    );
    expect([runs, held]).toEqual([50, 200]);
  } finally {
    await api.close();
    await db.close();
    await postgres.stop();
  }
});
