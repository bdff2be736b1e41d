import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  Bulk,
  CommandFlag,
  CommandKind,
  EVENT_BYTES,
  EventKind,
  FromBox,
  hooks,
  Kind,
  NO_HOOK,
  NO_MARKET,
  reasons,
  SILENT,
  ToBox,
} from '../../contract/index.ts';
import * as codes from '../../sandbox-images/node/harness/codes.mjs';
import { PACKAGE } from '../../src/compose.ts';
import { python } from './driver.ts';

// A box holds nothing but its harness, so both harnesses repeat the codes of the contract.

test('the JavaScript harness speaks the codes of the contract', () => {
  expect(codes).toMatchObject({ Bulk, ToBox, FromBox, Kind, SILENT, NO_HOOK, NO_MARKET });
  expect(codes.hookNames).toEqual(hooks.map((hook) => hook.node));
});

test.skipIf(!python)('the Python harness speaks the codes of the contract', () => {
  const script = `
import json
from backtest import wire as w
codes = {name: value for name, value in vars(w).items() if name.isupper() and isinstance(value, (int, tuple, dict))}
print(json.dumps({**codes, 'EVENT_BYTES': w._event.size}))`;
  const cwd = join(PACKAGE, 'sandbox-images/python/harness');
  const spoken = JSON.parse(execFileSync(python!, ['-B', '-c', script], { cwd, encoding: 'utf8' }));

  const upper = (table: Readonly<Record<string, number>>): Record<string, number> =>
    Object.fromEntries(Object.entries(table).map(([name, code]) => [name.toUpperCase(), code]));
  expect(spoken).toMatchObject({
    ...upper(Bulk),
    ...upper(ToBox),
    ...upper(FromBox),
    ...upper(Kind),
    ...upper(EventKind),
    ...upper(CommandKind),
    ...upper(CommandFlag),
    SILENT,
    NO_HOOK,
    NO_MARKET,
    EVENT_BYTES,
  });
  expect(spoken.HOOKS).toEqual(hooks.map((hook) => hook.python));
  expect(spoken.REASONS.slice(1)).toEqual(reasons.slice(1));
});
