import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ARCHIVE, backtest, folder, found, SCOPE } from './support.ts';

test.concurrent.each(['python', 'node'])(
  'a new %s strategy passes the check and runs as it is',
  async (language) => {
    const cwd = folder();
    const ended = await backtest(['init', 'my-idea', '--language', language], { cwd });
    expect(ended).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('npx backtest run my-idea --archive'),
    });
    expect(await backtest(['check', 'my-idea'], { cwd })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^my-idea: /),
    });
    const args = ['run', 'my-idea', '--archive', ARCHIVE, '--sandbox', 'process', ...SCOPE];
    expect(await backtest(args, { cwd })).toMatchObject({ code: 0 });
    expect(found(join(cwd, 'out/my-idea'))).toContain('report.zip');
  },
);

test.concurrent('nothing is ever written among files of the user', async () => {
  const cwd = folder();
  await backtest(['init', 'mine', '--language', 'python'], { cwd });
  const before = found(join(cwd, 'mine'));
  const ended = await backtest(['init', 'mine', '--language', 'node'], { cwd });
  expect(ended).toMatchObject({ code: 1, stderr: expect.stringMatching(/^mine is not empty/) });
  expect(found(join(cwd, 'mine'))).toEqual(before);
});
