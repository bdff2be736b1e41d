import { readFile } from 'node:fs/promises';
import { LIMITS } from '../../contract/limits.ts';
import type { Quote } from '../../contract/quote.ts';
import type { Checked } from '../../contract/source.ts';
import { check } from '../check/check.ts';
import { readSource, type SourceFolder } from '../check/read.ts';
import { checkSeries } from '../check/series.ts';
import { prepare } from '../run/prepare.ts';
import { archiveOf, type ScopeOptions, scopeOf } from './scope.ts';

export interface CheckOptions extends ScopeOptions {
  readonly archive?: string;
  readonly json?: boolean;
}

/** `backtest check`. With `json`, stdout gets one object. */
export async function checkCommand(dir: string, options: CheckOptions): Promise<void> {
  const scope = scopeOf(options);
  const source = await readSource(dir, LIMITS);
  const { checked, quote } =
    options.archive === undefined
      ? { checked: await checkAlone(source), quote: null }
      : await prepare(source, await archiveOf(options.archive), scope, LIMITS, null);
  process.stdout.write(options.json ? json(checked, quote) : tell(checked, quote));
}

/** All that can be checked without an archive. */
export async function checkAlone({ files, series }: SourceFolder): Promise<Checked> {
  const checked = await check(files, { limits: LIMITS, series: [...series.keys()] });
  for (const [file, path] of series) checkSeries(file, await readFile(path), LIMITS);
  return checked;
}

function json({ manifest, hooks, files, total_bytes, imports }: Checked, quote: Quote | null): string {
  return `${JSON.stringify({ ok: true, manifest, hooks, files, total_bytes, imports, quote })}\n`;
}

function tell({ manifest, hooks, files, total_bytes, imports }: Checked, quote: Quote | null): string {
  const rows: [string, string][] = [
    ['language', manifest.language],
    ['hooks', hooks.join(', ')],
    ['files', `${files.map((file) => file.name).join(', ')} (${total_bytes.toLocaleString('en-US')} bytes)`],
    ['imports', imports.join(', ') || 'none'],
  ];
  if (quote !== null) rows.push(['covers', covered(quote)]);
  if (quote !== null && quote.missing.length > 0) rows.push(['missing', quote.missing.join(', ')]);
  return [
    `${manifest.name}: no mistakes found`,
    ...rows.map(([name, value]) => `  ${name.padEnd(9)} ${value}`),
    '',
  ].join('\n');
}

/** What a run covers, in words. */
export function covered({ venue, assets, from, to, marketDays, sweepCells }: Quote): string {
  const cells = sweepCells === 1 ? '' : `, each ${sweepCells} times for the sweep`;
  return `${marketDays} market-days: ${assets.join(' ')} on ${venue}, ${from} to ${to}${cells}`;
}
