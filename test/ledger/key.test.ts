import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { createCustomer, findCustomer } from '../../src/ledger/customer.ts';
import { createKey, customerOf, listKeys, revokeKey } from '../../src/ledger/key.ts';
import { engines, startEngine } from '../database/engines.ts';

describe.each(engines)('on %s', (engine) => {
  let db: Database;
  let stop: () => Promise<void>;
  beforeAll(async () => {
    ({ db, stop } = await startEngine(engine));
  });
  afterAll(() => stop());
  beforeEach(() => db.script('delete from api_key; delete from customer'));

  test('a customer is made once for a name, and found by it or by id', async () => {
    const [ann, again] = await Promise.all([createCustomer(db, 'Ann'), createCustomer(db, 'Ann')]);
    expect(again).toEqual(ann);
    expect(ann).toMatchObject({ name: 'Ann', balance: 0 });
    expect(await findCustomer(db, ann.id)).toEqual(ann);
    expect(await findCustomer(db, 'Ann')).toEqual(ann);
    expect(await findCustomer(db, 'ann')).toBe(null);
  });

  test('a key opens its own customer and no other', async () => {
    const [ann, bob] = [await createCustomer(db, 'Ann'), await createCustomer(db, 'Bob')];
    const [first, second] = [await createKey(db, ann.id), await createKey(db, bob.id)];
    expect(first.key).toMatch(/^bk_[\w-]{43}$/);
    expect(await customerOf(db, first.key)).toBe(ann.id);
    expect(await customerOf(db, second.key)).toBe(bob.id);
  });

  test('a key that was revoked, has expired or never was opens nothing', async () => {
    const ann = await createCustomer(db, 'Ann');
    const [byId, byKey, old, fresh] = [
      await createKey(db, ann.id),
      await createKey(db, ann.id),
      await createKey(db, ann.id, { expires_ms: Date.now() - 1 }),
      await createKey(db, ann.id, { expires_ms: Date.now() + 3_600_000 }),
    ];
    expect(await revokeKey(db, byId.id)).toBe(true);
    expect(await revokeKey(db, byKey.key)).toBe(true);
    expect(await revokeKey(db, byKey.key)).toBe(true);
    expect(await revokeKey(db, 'key_nothing')).toBe(false);
    for (const { key } of [byId, byKey, old]) expect(await customerOf(db, key)).toBe(null);
    for (const key of ['', 'bk_', `bk_${'A'.repeat(43)}`, `${fresh.key} `, fresh.key.toLowerCase()])
      expect(await customerOf(db, key)).toBe(null);
    expect(await customerOf(db, fresh.key)).toBe(ann.id);
  });

  test('nothing that is stored or listed opens anything', async () => {
    const ann = await createCustomer(db, 'Ann');
    const { id, key } = await createKey(db, ann.id, { expires_ms: 4_000_000_000_000 });
    await revokeKey(db, id);
    const [listed] = await listKeys(db);
    expect(listed).toMatchObject({ id, customer: 'Ann', expires_ms: 4_000_000_000_000 });
    expect(listed!.revoked_ms).toBeGreaterThan(0);
    const stored = JSON.stringify([await listKeys(db), await db.query('select * from api_key')]);
    expect(stored).not.toContain(key.slice(3));
  });
});
