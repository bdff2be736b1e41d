import { expect, test } from 'vitest';
import type { WorkerEvent } from '../../src/fleet/worker.ts';
import { clean, logEvent, makeLog } from '../../src/ops/log.ts';

const claim = { run: 'run_1', number: 3, kind: 'shard', fence: 2 } as const;
const SECRETS = ['hunter2', 'X-Amz-Signature', 'bk_', 'somebody', 'import os', 'Traceback', 'ctx.buy'];

/** The lines that events make. */
function logged(...events: WorkerEvent[]): Record<string, unknown>[] {
  const lines: string[] = [];
  const log = makeLog('trace', { role: 'worker' }, { write: (line) => void lines.push(line) });
  for (const event of events) logEvent(log, event);
  return lines.map((line) => JSON.parse(line));
}

test('every line of a task says which run, shard and claim it is about', () => {
  const [line] = logged({ event: 'claimed', claim });
  expect(line).toMatchObject({
    level: 'info',
    role: 'worker',
    event: 'claimed',
    run: 'run_1',
    shard: 3,
    fence: 2,
  });
});

test("of a strategy's failure the log says of what kind it is, not what it says or where", () => {
  const failure = {
    kind: 'strategy_error',
    code: 'E_STRATEGY',
    detail: 'import os is a line of theirs',
    place: { hook: 'ctx.buy', market: null, ts_ms: null },
    traceback: 'Traceback: import os',
  } as const;
  const done = { shard: { ok: false as const, failure: { ...failure, last_logs: ['hunter2'] } } };
  const [line] = logged({ event: 'done', claim, done, ended: 'over', ms: 12.3 });
  expect(line).toMatchObject({ outcome: 'strategy_error', ended: 'over', ms: 12 });
  for (const secret of SECRETS) expect(JSON.stringify(line)).not.toContain(secret);
});

test('a fault is told without what would open a door', () => {
  const message = [
    'GET https://objects.example/run/1.zip?X-Amz-Signature=abc&X-Amz-Date=1 failed',
    'connect postgres://backtest:hunter2@db.example:5432/backtest refused',
    'rediss://:hunter2@redis.example:6379 refused',
    `no such key bk_${'a'.repeat(43)}`,
    'mail to somebody@mail.example bounced',
  ].join('; ');
  const [line] = logged({ event: 'fault', claim, message, wait_ms: 1_000 });
  expect(line).toMatchObject({
    level: 'error',
    message:
      'GET https://objects.example/run/1.zip failed; connect postgres://db.example:5432/backtest refused; ' +
      'rediss://redis.example:6379 refused; no such key [key]; mail to [address] bounced',
  });
});

test('a message as long as a book is cut, and no secret in two', () => {
  const cut = `${'x'.repeat(1_990)} postgres://backtest:hunter2@db`;
  expect(clean(cut)).not.toContain('hunter');
  expect(clean('x'.repeat(1e6)).length).toBeLessThan(3_000);
  // Patterns that look far ahead would stand still at these.
  for (const hostile of ['a:'.repeat(1e5), '@'.repeat(1e5), 'x@'.repeat(1e5), 'http://'.repeat(1e5)])
    clean(hostile);
});

test('a sweep that found nothing to mend is no news', () => {
  const swept = (rung: number): WorkerEvent => ({
    event: 'swept',
    swept: { expired: 0, overdue: 0, rung, removed: 0 },
  });
  expect(logged(swept(0), swept(1)).map(({ level }) => level)).toEqual(['trace', 'info']);
});
