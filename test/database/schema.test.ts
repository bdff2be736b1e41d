import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { schemaDump } from '../../src/database/schema.ts';
import { engines, startEngine } from './engines.ts';

describe.each(engines)('on %s', (engine) => {
  let running: Awaited<ReturnType<typeof startEngine>>;
  beforeAll(async () => {
    running = await startEngine(engine);
  });
  afterAll(() => running.stop());

  // After a new migration: npx vitest run test/database/schema.test.ts -u
  test('the schema is the one that src/database/schema.txt shows', async () => {
    await expect(await schemaDump(running.db)).toMatchFileSnapshot('../../src/database/schema.txt');
  });
});
