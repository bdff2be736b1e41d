import { indexArchive } from '../archive/indexer.ts';

/** `backtest archive index DIR`. */
export async function indexFolder(dir: string): Promise<void> {
  const { days, files, skipped } = await indexArchive(dir, (path) => process.stderr.write(`${path}\n`));
  for (const { path, reason } of skipped) process.stdout.write(`left out ${path}: ${reason}\n`);
  process.stdout.write(`${days} days, ${files} files indexed\n`);
}
