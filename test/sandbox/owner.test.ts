import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { lives, owner } from '../../src/sandbox/owner.ts';

test('a process knows that it lives itself', () => {
  expect(lives(owner())).toBe(true);
});

test('a process that has ended is known to be gone', async () => {
  const code = `import(${JSON.stringify(new URL('../../src/sandbox/owner.ts', import.meta.url).href)}).then((m) => console.log(m.owner()))`;
  const child = spawn(process.execPath, ['-e', code]);
  const [line] = await once(child.stdout, 'data');
  const label = String(line).trim();
  await once(child, 'exit');
  expect(lives(label)).toBe(false);
});

test.runIf(process.platform === 'linux')(
  'a process that got the number of a dead one is not taken for it',
  () => {
    expect(lives(owner().replace(/\d+$/, '1'))).toBe(false);
  },
);

test('of other machines, other containers and nonsense nothing is claimed', () => {
  const [boot, namespace, ...rest] = owner().split('/');
  expect(lives(['other', namespace, ...rest].join('/'))).toBe(null);
  if (process.platform === 'linux') expect(lives([boot, '1', ...rest].join('/'))).toBe(null);
  expect(lives('')).toBe(null);
  expect(lives([boot, namespace, 'x', ''].join('/'))).toBe(null);
});
