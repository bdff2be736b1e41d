import { statSync } from 'node:fs';
import { indexArchive } from '../archive/indexer.ts';
import { Mistake } from './failure.ts';

/** `backtest archive index DIR`. */
export async function indexFolder(dir: string): Promise<void> {
  if (!statSync(dir, { throwIfNoEntry: false })?.isDirectory())
    throw new Mistake(`${dir}: there is no such folder.`);
  const { days, files, skipped } = await indexArchive(dir, (path) => process.stderr.write(`${path}\n`));
  for (const { path, reason } of skipped) process.stdout.write(`left out ${path}: ${reason}\n`);
  process.stdout.write(`${days} days, ${files} files indexed\n`);
}
