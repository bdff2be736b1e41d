import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { anonymous, Bench, digests, type Ran, type RunOptions, STRATEGIES, strategy } from './runs.ts';

const bench = new Bench();
afterAll(() => bench.close());

/** Whether this machine has a Python that the process sandbox can use. */
function hasPython(): boolean {
  try {
    execFileSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 11))']);
    return true;
  } catch {
    return false;
  }
}

const variants: [string, 'python' | 'node', RunOptions][] = [
  ['JavaScript, four boxes at once', 'node', { sandbox: 'docker', concurrency: 4 }],
  [
    'Python in lock-step, four boxes at once',
    'python',
    { sandbox: 'docker', lockstep: true, concurrency: 4 },
  ],
  ['JavaScript in lock-step', 'node', { sandbox: 'docker', lockstep: true }],
  ['JavaScript in a plain process', 'node', { sandbox: 'process' }],
  ...(hasPython()
    ? [['Python in a plain process', 'python', { sandbox: 'process', concurrency: 4 }] as const]
    : []),
] as never;

describe.each(STRATEGIES)('%s', (name) => {
  let first: Ran;

  test('completes in Python, in a container', async () => {
    first = await bench.run(strategy(`${name}-python`), { sandbox: 'docker' });
    expect(first.result).toMatchObject({ outcome: 'completed', rejection: null });
    const orders = first.result.report!.orders.count;
    expect(name === 'idle' ? orders === 0 : orders > 10).toBe(true);
  });

  test.each(variants)('makes the same orders, fills and report: %s', async (_, language, options) => {
    const other = await bench.run(strategy(`${name}-${language}`), options);
    expect(other.result).toMatchObject({ outcome: 'completed', rejection: null });
    expect(await anonymous(other)).toEqual(await anonymous(first));
  });
});

test('the same run twice gives the same bytes in every file but provenance.json', async () => {
  const runs = [
    await bench.run(strategy('maker-node')),
    await bench.run(strategy('maker-node'), { concurrency: 2 }),
  ];
  const [one, two] = await Promise.all(runs.map(digests));
  expect(one!['provenance.json']).not.toBe(two!['provenance.json']);
  const digest = async ({ out }: Ran): Promise<string> =>
    JSON.parse(await readFile(join(out, 'provenance.json'), 'utf8')).result_digest;
  expect(await digest(runs[0]!)).toMatch(/^[0-9a-f]{64}$/);
  expect(await digest(runs[0]!)).toBe(await digest(runs[1]!));
  for (const files of [one!, two!]) for (const name of ['provenance.json', 'report.zip']) delete files[name];
  expect(one).toEqual(two);
});
