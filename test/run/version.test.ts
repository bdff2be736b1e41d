import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PACKAGE } from '../../src/compose.ts';
import { ENGINE_VERSION } from '../../src/run/run.ts';

test('a report names the version of the package that made it', () => {
  expect(ENGINE_VERSION).toBe(JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')).version);
});
