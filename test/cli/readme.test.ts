import { execFileSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { serving } from './serving.ts';
import { ARCHIVE, backtest, FIXTURES, folder, found, SCOPE, strategy } from './support.ts';

/** What the README shows has to work word for word. */

const root = new URL('../../', import.meta.url);
const readme = readFileSync(new URL('README.md', root), 'utf8');
const blocks = [...readme.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, kind, text]) => ({
  kind,
  text: text!,
}));
const block = (kind: string): string => blocks.find((one) => one.kind === kind)!.text;
const commands = blocks.filter(({ kind }) => kind === '').flatMap(({ text }) => text.trim().split('\n'));

test('every command does what the text says, in the order of the text', async () => {
  const cwd = folder();
  symlinkSync(FIXTURES, join(cwd, 'fixtures'));
  const { scripts } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
  for (const line of commands) {
    const [program, ...args] = line.replace(/ +#.*/, '').split(' ');
    if (program === 'npm') expect(scripts).toHaveProperty(args.filter((arg) => arg !== 'run')[0]!);
    else if (program === 'npx') {
      const { code, stderr } = await backtest(args.slice(1), { cwd });
      expect(
        code,
        `${line}
${stderr}`,
      ).toBe(0);
    } else execFileSync(program!, args, { cwd });
  }
});

test('the commands around a server do what the text says, too', async () => {
  const cwd = folder();
  const lines = blocks.filter(({ kind }) => kind === 'sh').flatMap(({ text }) => text.trim().split('\n'));
  const [serve, ...others] = lines.filter((line) => line.startsWith('npx backtest '));
  expect(serve).toBe('npx backtest serve');
  await backtest(['init', 'my-strategy', '--language', 'node'], { cwd });
  const server = await serving();
  for (const name of Object.keys(server.env))
    expect(lines).toContainEqual(expect.stringMatching(`^export ${name}=`));
  let run = '';
  let stopped = false;
  for (const line of others) {
    const args = line
      .replace(/ +#.*/, '')
      .replace(/run_\w+/, run)
      .split(' ')
      .slice(2);
    const local = ['credits', 'keys'].includes(args[0]!);
    if (local && !stopped) await server.stop();
    stopped ||= local;
    const env = local ? { BACKTEST_DATA: server.data } : server.env;
    const { code, stdout, stderr } = await backtest(args, { cwd, env });
    expect(code, `${line}\n${stderr}`).toBe(0);
    run ||= /run_\w+/.exec(stdout)?.[0] ?? '';
  }
  expect(found(join(cwd, 'reports'))).toEqual([`${run}.zip`]);
  expect(found(join(cwd, 'out'))).toEqual([`${run}.zip`]);
}, 180_000);

test('both strategies run, and make the same result', async () => {
  const manifest = JSON.parse(block('json'));
  const { language: _, entry: __, ...shared } = manifest;
  const results: string[] = [];
  for (const [language, code] of [
    ['python', block('python')],
    ['node', block('js')],
  ] as const) {
    const cwd = folder();
    const dir = strategy(language, code, shared);
    const args = ['run', dir, '--archive', ARCHIVE, '--sandbox', 'process', '--out', 'out', ...SCOPE];
    expect(await backtest(args, { cwd })).toMatchObject({ code: 0 });
    results.push(readFileSync(join(cwd, 'out/orders.csv'), 'utf8'));
  }
  expect(results[0]).toContain(',filled,');
  expect(results[1]).toBe(results[0]);
});
