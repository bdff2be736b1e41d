import { execFileSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ARCHIVE, backtest, FIXTURES, folder, SCOPE, strategy } from './support.ts';

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
