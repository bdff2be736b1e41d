import { expect, test } from 'vitest';
import { LIMITS } from '../../contract/index.ts';
import type { Evidence } from '../../src/sandbox/sandbox.ts';
import { verdict } from '../../src/sandbox/verdict.ts';

const place = { hook: 'on_book', market: 'btc-1', ts_ms: Date.UTC(2026, 2, 1, 12, 0, 0, 250) };
const nowhere = { hook: null, market: null, ts_ms: null };
const none: Evidence = {
  exit_code: null,
  signal: null,
  oom: false,
  ended: false,
  raised: null,
  limit: null,
  violation: null,
  place,
  diagnostics: '',
};
const at = ', in market btc-1, at 2026-03-01T12:00:00.250Z of the replay.';
const python =
  'Traceback (most recent call last):\n  File "main.py", line 3, in on_book\nValueError: no price\n';
const node = 'TypeError: x is not a function\n    at Strategy.onBook (main.mjs:3:4)';
const syntax = 'main.mjs:3\nlet let;\n    ^^^\nSyntaxError: let is disallowed\n';

const rows: [string, Partial<Evidence>, string, string, string][] = [
  [
    'a violation',
    { violation: 'a frame of unknown type 9' },
    'protocol_violation',
    'E_PROTOCOL',
    `The strategy's process broke the protocol: a frame of unknown type 9${at}`,
  ],
  [
    'a Python exception',
    { raised: { place, traceback: python } },
    'strategy_error',
    'E_STRATEGY',
    `on_book raised ValueError: no price${at}`,
  ],
  [
    'a JavaScript exception',
    { raised: { place, traceback: node } },
    'strategy_error',
    'E_STRATEGY',
    `on_book raised TypeError: x is not a function${at}`,
  ],
  [
    'a JavaScript syntax error',
    { raised: { place: nowhere, traceback: syntax } },
    'strategy_error',
    'E_STRATEGY',
    'The strategy, outside of its hooks, raised SyntaxError: let is disallowed.',
  ],
  [
    'an exception without words',
    { raised: { place, traceback: '' } },
    'strategy_error',
    'E_STRATEGY',
    `on_book raised an error${at}`,
  ],
  [
    'a slow start',
    { limit: { limit: 'start', value: 30_000 }, place: nowhere },
    'timed_out',
    'E_TIMEOUT',
    'The strategy did not get ready within 30 s (start_ms).',
  ],
  [
    'a sleeping hook',
    { limit: { limit: 'hook_wall', value: 30_000 } },
    'timed_out',
    'E_TIMEOUT',
    `on_book ran for more than 30 s (hook_wall_ms)${at}`,
  ],
  [
    'a busy hook',
    { limit: { limit: 'hook_cpu', value: 5_000 } },
    'timed_out',
    'E_TIMEOUT',
    `on_book used more than 5 s of CPU time (hook_cpu_ms)${at}`,
  ],
  [
    'a busy run',
    { limit: { limit: 'market_day_cpu', value: 600_000 } },
    'timed_out',
    'E_TIMEOUT',
    `The strategy used more than 600 s of CPU time, its share for these market-days (market_day_cpu_ms)${at}`,
  ],
  [
    'silence',
    { limit: { limit: 'stalled', value: 35_000 } },
    'timed_out',
    'E_TIMEOUT',
    `Nothing was heard of the strategy for 35 s (hook_wall_ms)${at}`,
  ],
  [
    'a flood of logs',
    { limit: { limit: 'logs', value: 2 * 1024 * 1024 } },
    'output_limit',
    'E_OUTPUT',
    `The strategy wrote more than 2 MiB of logs (log_bytes)${at}`,
  ],
  [
    'a flood of forecasts',
    { limit: { limit: 'forecasts', value: 1_000_000 } },
    'output_limit',
    'E_OUTPUT',
    `The strategy made more than 1,000,000 forecasts (forecasts)${at}`,
  ],
  [
    'a flood of orders',
    { limit: { limit: 'orders', value: 1_000_000 } },
    'order_limit',
    'E_ORDERS',
    `The strategy sent more than 1,000,000 orders (orders)${at}`,
  ],
  [
    'a lack of memory before the first beat',
    { oom: true, place: nowhere },
    'out_of_memory',
    'E_MEMORY',
    'The strategy needed more than 2 GiB of memory (memory_bytes).',
  ],
  [
    'a silence of an odd length',
    { limit: { limit: 'stalled', value: 7000 / 3 }, place: nowhere },
    'timed_out',
    'E_TIMEOUT',
    'Nothing was heard of the strategy for 2.33 s (hook_wall_ms).',
  ],
  [
    'a kill for memory',
    { oom: true, exit_code: 137, signal: 'SIGKILL' },
    'out_of_memory',
    'E_MEMORY',
    `on_book needed more than 2 GiB of memory (memory_bytes)${at}`,
  ],
  [
    '137 without a kill for memory',
    { exit_code: 137, signal: 'SIGKILL' },
    'early_exit',
    'E_EXIT',
    `The strategy's process was killed, though not for its memory, before the replay was over${at}`,
  ],
  [
    'a crash',
    { exit_code: 139, signal: 'SIGSEGV' },
    'early_exit',
    'E_EXIT',
    `The strategy's process crashed with SIGSEGV before the replay was over${at}`,
  ],
  [
    'an exit with 0',
    { exit_code: 0 },
    'early_exit',
    'E_EXIT',
    `The strategy's process exited with code 0 before the replay was over${at}`,
  ],
  [
    'a hangup',
    {},
    'early_exit',
    'E_EXIT',
    `The strategy's process closed its connection before the replay was over${at}`,
  ],
];

test.each(rows)('%s is told for what it is', (_, evidence, kind, code, detail) => {
  expect(verdict({ ...none, ...evidence }, LIMITS)).toMatchObject({ kind, code, detail });
});

test('a valid END wins over whatever the engine tells of the exit', () => {
  expect(verdict({ ...none, ended: true }, LIMITS)).toBe(null);
  expect(verdict({ ...none, ended: true, oom: true, exit_code: 137, signal: 'SIGKILL' }, LIMITS)).toBe(null);
});

test.each([
  ['violation over exception', { violation: 'x', raised: { place, traceback: '' } }, 'protocol_violation'],
  [
    'exception over limit',
    { raised: { place, traceback: '' }, limit: { limit: 'stalled', value: 1 } },
    'strategy_error',
  ],
  ['limit over memory', { limit: { limit: 'hook_cpu', value: 1 }, oom: true }, 'timed_out'],
  ['memory over exit code', { oom: true, exit_code: 1 }, 'out_of_memory'],
] as const)('of two reasons the surer one is told: %s', (_, evidence, kind) => {
  expect(verdict({ ...none, ...evidence }, LIMITS)?.kind).toBe(kind);
});

test('the author gets the traceback, without what a terminal would obey', () => {
  const raised = { place, traceback: `${python}\u001b[2J` };
  expect(verdict({ ...none, raised }, LIMITS)?.traceback).toBe(`${python}\ufffd[2J`);
});

test('a forged replay time breaks no sentence', () => {
  for (const ts_ms of [8.64e15 + 1, -1e300, Number.NaN])
    expect(verdict({ ...none, place: { ...place, ts_ms } }, LIMITS)?.detail).not.toContain('of the replay');
});

test('every failure names the place and asks the caller for the logs', () => {
  expect(verdict(none, LIMITS)).toMatchObject({ place, last_logs: [] });
});
