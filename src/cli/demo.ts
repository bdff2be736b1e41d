import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Report } from '../../contract/report.ts';
import { PACKAGE, type SandboxKind } from '../compose.ts';
import { summaryTable } from '../report/summary.ts';
import { Mistake } from './failure.ts';
import { backtest, tell } from './run.ts';

const STRATEGIES = ['momentum-python', 'momentum-node'];

interface Finished {
  readonly name: string;
  readonly report: Report;
  readonly archive: string;
}

/** `backtest demo`: one strategy in both languages, over the archive that comes along. */
export async function demo({ sandbox }: { readonly sandbox: SandboxKind }): Promise<void> {
  const fixtures = join(PACKAGE, 'fixtures');
  if (!existsSync(fixtures))
    throw new Mistake('The demo needs fixtures/, which only a clone of the repository has.');
  const names = sandbox === 'docker' ? STRATEGIES : STRATEGIES.filter((name) => name.endsWith('-node'));
  if (sandbox === 'process') say('Without a container only the JavaScript strategy runs.');
  const runs: Finished[] = [];
  for (const name of names) {
    const out = join('out', 'demo', name);
    const archive = join(fixtures, 'archive', 'synthetic');
    const options = { archive, venue: 'venue_a', sandbox, out };
    const result = await backtest(join(fixtures, 'strategies', name), options, name);
    if (result.report === null || result.archive === null) throw new Error(tell(result));
    runs.push({ name, report: result.report, archive: result.archive });
  }
  process.stdout.write(`\n${summaryTable(runs)}\n`);
  if (runs.length > 1) process.stdout.write(`${await verdict(runs)}\n`);
  for (const { archive } of runs) process.stdout.write(`report: ${archive}\n`);
  process.stdout.write('\nOne of your own: npx backtest init my-strategy --language python\n');
}

/** Throws when the languages disagree: that would be a bug. */
async function verdict(runs: readonly Finished[]): Promise<string> {
  const sums = await Promise.all(runs.map(({ archive }) => tableSums(dirname(archive))));
  if (new Set(sums).size > 1)
    throw new Error('The two languages made different results. This is a bug, please report it.');
  return `Python and JavaScript made the same result: every order, fill and balance is equal, byte for byte.`;
}

/** Sums of the files that do not tell who made them: report and manifest name the strategy and its language. */
async function tableSums(folder: string): Promise<string> {
  const sums = await readFile(join(folder, 'sha256sums.txt'), 'utf8');
  return sums
    .split('\n')
    .filter((line) => line.endsWith('.csv'))
    .join('\n');
}

const say = (line: string): boolean => process.stderr.write(`${line}\n`);
