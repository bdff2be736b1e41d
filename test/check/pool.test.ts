import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { LIMITS } from '../../contract/limits.ts';
import { check } from '../../src/check/check.ts';
import { PACKAGE } from '../../src/compose.ts';
import { accepted, JS, node, strategy } from './written.ts';

const options = { limits: LIMITS };
const fine = strategy(node, { 'main.js': `const line = '\u2028';\n${JS}` });
const deadly = strategy(node, { 'main.js': '['.repeat(400_000) });

test('a source that kills its reader costs nobody else anything', async () => {
  for (let round = 0; round < 2; round++) {
    const answers = await Promise.allSettled(
      [fine, deadly, fine, deadly, fine].map((files) => check(files, options)),
    );
    expect(answers.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    for (const answer of answers)
      if (answer.status === 'fulfilled') expect(answer.value).toEqual(accepted(fine));
      else expect(answer.reason).toMatchObject({ code: 'E_LIMIT' });
  }
});

test('a reader that dies while nobody looks is not missed', async () => {
  await check(fine, options);
  const { stdout } = await promisify(execFile)('ps', ['--ppid', String(process.pid), '-o', 'pid=,args=']);
  const readers = stdout.split('\n').filter((line) => line.includes('check/reader'));
  expect(readers.length).toBeGreaterThan(0);
  for (const reader of readers) process.kill(Number.parseInt(reader, 10), 'SIGKILL');
  expect(await check(fine, options)).toEqual(accepted(fine));
});

test('readers that wait for more keep no process alive', async () => {
  const script = `
    import { check } from ${JSON.stringify(join(PACKAGE, 'src/check/check.ts'))};
    await check(${JSON.stringify(fine)}, ${JSON.stringify(options)});
    console.log('checked');`;
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    timeout: 30_000,
  });
  expect((await run).stdout).toBe('checked\n');
});
