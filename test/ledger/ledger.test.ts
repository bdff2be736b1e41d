import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ledgerEntry } from '../../contract/ledger.ts';
import type { Database } from '../../src/database/database.ts';
import { createCustomer } from '../../src/ledger/customer.ts';
import { violations } from '../../src/ledger/invariants.ts';
import { InsufficientCredits } from '../../src/ledger/refused.ts';
import { balance, grant, history, hold, release, settle } from '../../src/ledger/transfer.ts';
import { engines, startEngine } from '../database/engines.ts';
import { openRun, type Step, take } from './book.ts';
import { paperLedger } from './oracle.ts';

// Each line: what happens; what is answered (kind, change of the balance, what was charged); and then the customer's
// balance, credits on hold, and what was earned for good.
const books: Record<string, string> = {
  'bought credits may be spent': `
    grant pay-1 100  | grant +100        | 100 |  0 |  0
    grant pay-2 20   | grant +20         | 120 |  0 |  0`,
  'a payment that is told of twice counts once': `
    grant pay 100    | grant +100        | 100 |  0 |  0
    grant pay 100    | grant +100        | 100 |  0 |  0`,
  'a payment cannot change its amount': `
    grant pay 100    | grant +100        | 100 |  0 |  0
    grant pay 200    | LedgerConflict    | 100 |  0 |  0`,
  'no payment is called like what a run does': `
    grant a:hold 100 | LedgerConflict    |   0 |  0 |  0`,
  'a run that makes its report costs what it held': `
    grant pay 100    | grant +100        | 100 |  0 |  0
    hold a 30        | hold -30          |  70 | 30 |  0
    settle a 30      | settle +0 (30)    |  70 |  0 | 30`,
  'a run that makes half of its report costs half, and the rest comes back': `
    grant pay 100    | grant +100        | 100 |  0 |  0
    hold a 30        | hold -30          |  70 | 30 |  0
    settle a 15      | settle +15 (15)   |  85 |  0 | 15`,
  'a run without a report costs nothing': `
    grant pay 100    | grant +100        | 100 |  0 |  0
    hold a 30        | hold -30          |  70 | 30 |  0
    release a        | release +30       | 100 |  0 |  0`,
  'all credits may be held, to the last': `
    grant pay 30     | grant +30         |  30 |  0 |  0
    hold a 30        | hold -30          |   0 | 30 |  0
    hold b 1         | InsufficientCredits | 0 | 30 |  0`,
  'credits that are on hold cannot be held again, those that came back can': `
    grant pay 30     | grant +30         |  30 |  0 |  0
    hold a 20        | hold -20          |  10 | 20 |  0
    hold b 20        | InsufficientCredits | 10 | 20 | 0
    release a        | release +20       |  30 |  0 |  0
    hold b 20        | hold -20          |  10 | 20 |  0`,
  'a hold that is asked for twice is one, even when nothing is left': `
    grant pay 30     | grant +30         |  30 |  0 |  0
    hold a 30        | hold -30          |   0 | 30 |  0
    hold a 30        | hold -30          |   0 | 30 |  0`,
  'a hold that is asked for again after its end stays ended': `
    grant pay 30     | grant +30         |  30 |  0 |  0
    hold a 30        | hold -30          |   0 | 30 |  0
    settle a 10      | settle +20 (10)   |  20 |  0 | 10
    hold a 30        | hold -30          |  20 |  0 | 10`,
  'a hold cannot change its amount': `
    grant pay 30     | grant +30         |  30 |  0 |  0
    hold a 10        | hold -10          |  20 | 10 |  0
    hold a 11        | LedgerConflict    |  20 | 10 |  0`,
  'a run is charged once': `
    grant pay 30     | grant +30         |  30 |  0 |  0
    hold a 30        | hold -30          |   0 | 30 |  0
    settle a 10      | settle +20 (10)   |  20 |  0 | 10
    settle a 10      | settle +20 (10)   |  20 |  0 | 10
    settle a 11      | LedgerConflict    |  20 |  0 | 10`,
  'a run is refunded once': `
    grant pay 30     | grant +30         |  30 |  0 |  0
    hold a 30        | hold -30          |   0 | 30 |  0
    release a        | release +30       |  30 |  0 |  0
    release a        | release +30       |  30 |  0 |  0`,
  'what was charged is not refunded': `
    grant pay 30     | grant +30         |  30 |  0 |  0
    hold a 30        | hold -30          |   0 | 30 |  0
    settle a 10      | settle +20 (10)   |  20 |  0 | 10
    release a        | AlreadyEnded      |  20 |  0 | 10`,
  'what was refunded is not charged': `
    grant pay 30     | grant +30         |  30 |  0 |  0
    hold a 30        | hold -30          |   0 | 30 |  0
    release a        | release +30       |  30 |  0 |  0
    settle a 10      | AlreadyEnded      |  30 |  0 |  0`,
  'nothing is charged beyond what was held': `
    grant pay 30     | grant +30         |  30 |  0 |  0
    hold a 10        | hold -10          |  20 | 10 |  0
    settle a 11      | LedgerConflict    |  20 | 10 |  0`,
  'what was never held is neither charged nor refunded': `
    grant pay 30     | grant +30         |  30 |  0 |  0
    settle a 10      | LedgerConflict    |  30 |  0 |  0
    release a        | LedgerConflict    |  30 |  0 |  0`,
  'a run may cost nothing': `
    hold a 0         | hold +0           |   0 |  0 |  0
    settle a 0       | settle +0 (0)     |   0 |  0 |  0`,
};

describe.each(engines)('on %s', (engine) => {
  let db: Database;
  let stop: () => Promise<void>;
  let customer: string;
  /** Goes before every name, so that no test meets another one's. */
  let mark: string;
  const newCustomer = async () => (await createCustomer(db, `customer ${randomBytes(6).toString('hex')}`)).id;
  const named = (step: Step): Step => ({ ...step, of: `${mark}${step.of}` });

  beforeAll(async () => {
    ({ db, stop } = await startEngine(engine));
  });
  afterAll(() => stop());
  beforeEach(async () => {
    mark = `${randomBytes(4).toString('hex')}-`;
    customer = await newCustomer();
  });
  afterEach(async () => {
    expect(await violations(db)).toEqual([]);
  });

  test.each(Object.entries(books))('%s', async (_, book) => {
    const seen: string[] = [];
    for (const line of book.trim().split('\n')) {
      const [kind, of, amount] = line.split('|')[0]!.trim().split(' ');
      const step = named({ kind: kind as Step['kind'], of: of!, amount: Number(amount ?? 0) });
      seen.push([line.split('|')[0], told(await take(db, customer, step)), ...(await standing())].join('|'));
    }
    expect(seen.map(squeezed)).toEqual(book.trim().split('\n').map(squeezed));
  });

  /** The customer's balance, their credits on hold, and what was earned from them. */
  async function standing(): Promise<number[]> {
    const [sums] = await db.query<{ held: number; earned: number }>(
      `select coalesce(sum(posting.amount) filter (where account = 'holds'), 0) as held,
         coalesce(sum(posting.amount) filter (where account = 'revenue'), 0) as earned
       from posting join transfer on transfer.id = posting.transfer where customer = $1`,
      [customer],
    );
    return [await balance(db, customer), sums!.held, sums!.earned];
  }

  test('the history shows the newest 25 entries, and a settlement what came back and what was charged', async () => {
    await grant(db, { id: `${mark}pay`, customer, amount: 1000 });
    for (let run = 0; run < 12; run++) {
      await take(db, customer, named({ kind: 'hold', of: `${run}`, amount: 10 }));
      await take(db, customer, named({ kind: 'settle', of: `${run}`, amount: run % 10 }));
    }
    await take(db, customer, named({ kind: 'hold', of: 'last', amount: 5 }));
    await take(db, customer, named({ kind: 'release', of: 'last', amount: 0 }));
    const entries = await history(db, customer);
    expect(entries.map((entry) => ledgerEntry.parse(entry))).toEqual(entries);
    expect(entries).toHaveLength(25);
    expect(entries.slice(0, 4).map(told)).toEqual(['release +5', 'hold -5', 'settle +9 (1)', 'hold -10']);
    expect(entries[0]!.run_id).toBe(`${mark}last`);
  });

  test('nobody ends what another customer holds, nor takes its name', async () => {
    const other = await newCustomer();
    await grant(db, { id: `${mark}pay`, customer, amount: 10 });
    await grant(db, { id: `${mark}pay-2`, customer: other, amount: 10 });
    await take(db, customer, named({ kind: 'hold', of: 'a', amount: 10 }));
    expect(await take(db, other, named({ kind: 'hold', of: 'a', amount: 10 }))).toBe('LedgerConflict');
    expect(await take(db, other, named({ kind: 'grant', of: 'pay', amount: 10 }))).toBe('LedgerConflict');
    expect([await balance(db, customer), await balance(db, other)]).toEqual([0, 10]);
  });

  test('a customer that is unknown is told of', async () => {
    const nobody = { customer: 'cus_nobody', amount: 1 };
    await expect(grant(db, { id: `${mark}pay`, ...nobody })).rejects.toThrow(
      'there is no customer cus_nobody',
    );
    await expect(hold(db, { run: `${mark}a`, ...nobody })).rejects.toThrow('there is no customer cus_nobody');
    await expect(balance(db, 'cus_nobody')).rejects.toThrow('there is no customer cus_nobody');
  });

  test.each([-1, 0.5, Number.NaN, 2 ** 53])('%d is no amount', async (amount) => {
    await expect(grant(db, { id: `${mark}pay`, customer, amount })).rejects.toThrow(TypeError);
  });

  test('a refusal says how much there is and how much it takes, and the transaction may go on', async () => {
    await grant(db, { id: `${mark}pay`, customer, amount: 3 });
    await db.transaction(async (sql) => {
      const refused = await hold(sql, { run: `${mark}a`, customer, amount: 5 }).catch((error) => error);
      expect(refused).toBeInstanceOf(InsufficientCredits);
      expect(refused).toMatchObject({ balance: 3, required: 5 });
      await settle(sql, { run: `${mark}a`, amount: 5 }).catch(() => {});
      await release(sql, { run: `${mark}a` }).catch(() => {});
      await grant(sql, { id: `${mark}pay`, customer, amount: 4 }).catch(() => {});
      await grant(sql, { id: `${mark}pay-2`, customer, amount: 2 });
    });
    expect(await balance(db, customer)).toBe(5);
  });

  test('whatever is repeated, in whatever order, leads to what a ledger on paper says', async () => {
    const name = fc.constantFrom('a', 'b', 'c');
    const amount = fc.integer({ min: 0, max: 4 });
    const step = fc.record({ kind: fc.constantFrom('grant', 'hold', 'settle', 'release'), of: name, amount });
    const told = fc.record({ first: fc.boolean(), step, repeats: fc.integer({ min: 1, max: 2 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(told, { maxLength: 25 }), async (all) => {
        const paper = paperLedger();
        mark = `${randomBytes(6).toString('hex')}-`;
        const two = [await newCustomer(), await newCustomer()] as const;
        for (const { first, step, repeats } of all) {
          const [who, what] = [two[first ? 0 : 1], named(step as Step)];
          const exact = what.kind === 'release' ? { ...what, amount: 0 } : what;
          for (let i = 0; i < repeats; i++)
            expect(await take(db, who, exact)).toEqual(paper.take(who, exact));
        }
        for (const who of two) {
          expect(await balance(db, who)).toBe(paper.balance(who));
          expect((await history(db, who)).map(({ created_ms: _, ...line }) => line)).toEqual(
            paper.history(who),
          );
        }
        expect(await violations(db)).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});

describe('at the same time', () => {
  let db: Database;
  let stop: () => Promise<void>;
  let customer: string;
  beforeAll(async () => {
    ({ db, stop } = await startEngine('postgres', 50));
  });
  afterAll(() => stop());
  beforeEach(async () => {
    customer = (await createCustomer(db, randomBytes(6).toString('hex'))).id;
    await grant(db, { id: `pay-${customer}`, customer, amount: 50 });
  });
  afterEach(async () => {
    expect(await violations(db)).toEqual([]);
  });
  const tally = (outcomes: readonly unknown[]) => {
    const counts: Record<string, number> = {};
    for (const outcome of outcomes)
      counts[typeof outcome === 'string' ? outcome : 'done'] =
        (counts[typeof outcome === 'string' ? outcome : 'done'] ?? 0) + 1;
    return counts;
  };

  test('200 runs hold one credit each of 50: 50 succeed, and nothing is left', async () => {
    const holds = Array.from({ length: 200 }, (_, run) =>
      take(db, customer, { kind: 'hold', of: `${customer}-${run}`, amount: 1 }),
    );
    expect(tally(await Promise.all(holds))).toEqual({ done: 50, InsufficientCredits: 150 });
    expect(await balance(db, customer)).toBe(0);
  });

  test('one hold that is asked for 50 times is one hold', async () => {
    const holds = Array.from({ length: 50 }, () =>
      take(db, customer, { kind: 'hold', of: `${customer}-a`, amount: 40 }),
    );
    expect(tally(await Promise.all(holds))).toEqual({ done: 50 });
    expect(await balance(db, customer)).toBe(10);
  });

  test('of settlements and releases of one hold, only one kind succeeds', async () => {
    for (let run = 0; run < 10; run++) {
      const of = `${customer}-${run}`;
      await take(db, customer, { kind: 'hold', of, amount: 5 });
      const ends = Array.from({ length: 20 }, (_, i) =>
        take(db, customer, i % 2 ? { kind: 'settle', of, amount: 5 } : { kind: 'release', of, amount: 0 }),
      );
      expect(tally(await Promise.all(ends))).toEqual({ done: 10, AlreadyEnded: 10 });
    }
  });

  test('holds and releases without a transaction around them come out even', async () => {
    const runs = Array.from({ length: 40 }, (_, run) => `${customer}-${run}`);
    for (const run of runs) await openRun(db, run, customer, 1);
    const alone = await Promise.all(
      runs.map((run) => hold(db, { run, customer, amount: 1 }).then(() => release(db, { run }))),
    );
    expect(alone).toHaveLength(40);
    await db.query(
      `update run set status = 'failed', credits_spent = 0, finished_ms = now_ms() where customer = $1`,
      [customer],
    );
    expect(await balance(db, customer)).toBe(50);
  });
});

const squeezed = (line: string): string =>
  line
    .split('|')
    .map((cell) => cell.trim())
    .join(' | ');

function told(outcome: Awaited<ReturnType<typeof take>>): string {
  if (typeof outcome === 'string') return outcome;
  const { kind, change, spent } = outcome;
  return `${kind} ${change < 0 ? '' : '+'}${change}${kind === 'settle' ? ` (${spent})` : ''}`;
}
