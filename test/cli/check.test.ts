import { expect, test } from 'vitest';
import { ARCHIVE, BUYER, backtest, jsonOf, SCOPE, strategy } from './support.ts';

test.concurrent('a good strategy is described: manifest, hooks, files, imports', async () => {
  const ended = await backtest(['check', strategy('python', `import json\n${BUYER.python}`), '--json']);
  expect(jsonOf(ended)).toMatchObject({
    ok: true,
    manifest: { name: 'buyer', mode: 'market', capital: 1000 },
    hooks: ['on_book'],
    files: [{ name: 'manifest.json' }, { name: 'strategy.py' }],
    total_bytes: expect.any(Number),
    imports: ['json'],
    quote: null,
  });
  expect(ended).toMatchObject({ code: 0, stderr: '' });
});

test.concurrent('with an archive, the check says what a run would cover', async () => {
  const dir = strategy('node', BUYER.node, { sweep: { size: [5, 10] } });
  const ended = await backtest(['check', dir, '--archive', ARCHIVE, '--json', ...SCOPE]);
  expect(jsonOf(ended)).toMatchObject({
    ok: true,
    quote: { assets: ['BTC'], marketDays: 1, sweepCells: 2, credits: 2 },
  });
});

test.concurrent('the check tells the same in words', async () => {
  const { code, stdout } = await backtest(['check', strategy('node', BUYER.node), '--archive', ARCHIVE]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^buyer: no mistakes found\n/);
  expect(stdout).toMatch(/covers +4 market-days: BTC ETH on venue_a, 2026-10-14 to 2026-10-15\n/);
});
