import { EventEmitter, once } from 'node:events';
import { afterAll, expect, test } from 'vitest';
import { LIMITS } from '../../contract/index.ts';
import { runUnit, type UnitPlan } from '../../src/run/unit.ts';
import type { Box, Sandbox } from '../../src/sandbox/sandbox.ts';
import { Bench } from './runs.ts';

const bench = new Bench();
afterAll(() => bench.close());

test('a unit that is called off while its box starts ends at once, and the box does not stay', async () => {
  const real = await bench.sandbox('process');
  const start = new EventEmitter();
  const opened = once(start, 'opened') as Promise<[Box]>;
  const slow: Sandbox = {
    ...real,
    async open(request) {
      setImmediate(() => start.emit('asked'));
      await once(start, 'go');
      const box = await real.open(request);
      start.emit('opened', box);
      return box;
    },
  };
  const stop = new AbortController();
  const plan = { name: 'slow', language: 'nodejs@24', segments: [], market_days: 1 } as unknown as UnitPlan;
  const run = runUnit(plan, {
    sandbox: slow,
    limits: LIMITS,
    lockstep: false,
    signal: stop.signal,
    deadline_ms: Date.now() + 60_000,
    onProgress: () => {},
  });
  await once(start, 'asked');
  stop.abort(new Error('enough'));
  await expect(run).rejects.toThrow('enough');
  start.emit('go');
  const [box] = await opened;
  await box.hangup;
});
