import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { auditCredits, grantCredits } from '../../src/cli/credits.ts';
import { Mistake } from '../../src/cli/failure.ts';
import { addKey, endKey, showKeys } from '../../src/cli/keys.ts';
import { openPostgres } from '../../src/database/postgres.ts';
import { customerOf } from '../../src/ledger/key.ts';
import { type Postgres, startPostgres } from '../services/postgres.ts';

let server: Postgres;
beforeAll(async () => {
  server = await startPostgres();
  vi.stubEnv('DATABASE_URL', server.url);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await server.stop();
});

let out = '';
beforeEach(() => {
  out = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    out += text;
    return true;
  });
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
});
afterEach(() => {
  vi.restoreAllMocks();
  process.exitCode = 0;
});

/** What a command puts on stdout. */
async function printed(command: Promise<void>): Promise<string> {
  out = '';
  await command;
  return out;
}

test('credits are granted to a customer, who is made by the first grant, and once for each id', async () => {
  expect(await printed(grantCredits('Ann', 1000, {}))).toMatch(
    /^Ann was granted 1,000 credits \(grant_\w+\) and has 1,000 credits to spend\.\n$/,
  );
  for (let i = 0; i < 2; i++) {
    const text = await printed(grantCredits('Ann', 5, { id: 'pay-1', json: true }));
    expect(JSON.parse(text)).toMatchObject({
      ok: true,
      name: 'Ann',
      grant: 'pay-1',
      amount: 5,
      balance: 1005,
    });
  }
  await expect(grantCredits('Ann', 6, { id: 'pay-1' })).rejects.toThrow(Mistake);
  for (const amount of [0, -1, 0.5, Number.NaN])
    await expect(grantCredits('Ann', amount, {})).rejects.toThrow('whole number of credits');
  for (const name of ['', ' ', 'cus_unknown'])
    await expect(grantCredits(name, 5, {})).rejects.toThrow('there is no such customer');
});

test('a key is printed once, opens its customer, and can be ended', async () => {
  await expect(addKey('Bob', {})).rejects.toThrow('npx backtest credits grant "Bob" 100');
  const { customer } = JSON.parse(await printed(grantCredits('Bob', 1, { json: true })));
  expect(await printed(showKeys({}))).toContain('no keys yet');

  const key = (await printed(addKey('Bob', {}))).trim();
  const second = JSON.parse(await printed(addKey(customer, { expires: 30, json: true })));
  const days = (second.expires_ms - Date.now()) / 86_400_000;
  expect(Math.round(days)).toBe(30);
  const db = openPostgres(server.url);
  expect(await customerOf(db, key)).toBe(customer);

  expect(await printed(endKey(key, {}))).toBe('It is revoked.\n');
  expect(await customerOf(db, key)).toBe(null);
  await expect(endKey('key_unknown', {})).rejects.toThrow('There is no such key');
  const list = await printed(showKeys({}));
  expect(list).toMatch(/expires .*Bob/);
  expect(list).toMatch(/revoked .*Bob/);
  expect(list).not.toContain(key);
  await db.close();
});

test('an audit says that all is well, or what is not and exits with 1', async () => {
  expect(await printed(auditCredits({}))).toContain('agree');
  expect(process.exitCode).toBe(0);
  const db = openPostgres(server.url);
  await db.script(
    `set session_replication_role = replica; update customer set balance = 9 where name = 'Bob';`,
  );
  const { ok, violations } = JSON.parse(await printed(auditCredits({ json: true })));
  expect([ok, violations]).toEqual([false, [expect.stringContaining('has a balance of 9')]]);
  expect(process.exitCode).toBe(1);
  await db.close();
});
