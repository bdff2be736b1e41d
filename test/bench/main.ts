import { readdir } from 'node:fs/promises';
import type { Row } from './row.ts';

// npm run bench [NAME...]: prints what the modules beside this one measure, or those of them that are named. A value
// says little without the machine, so it stands beside a limit that was measured in the same run: the ratio counts.

const folder = new URL('./', import.meta.url);
const wanted = process.argv.slice(2);

print('name', 'value', 'unit', 'limit', 'ratio', 'limited by');
for (const file of (await readdir(folder)).sort()) {
  const name = file.replace(/\.ts$/, '');
  if (file === 'main.ts' || !file.endsWith('.ts') || (wanted.length > 0 && !wanted.includes(name))) continue;
  const { bench } = await import(new URL(file, folder).href);
  await bench?.(({ name, value, unit, limit, limitName = '' }: Row) =>
    print(name, show(value), unit, show(limit), show(limit && value / limit), limitName),
  );
}

function print(name: string, value: string, unit: string, limit: string, ratio: string, by: string): void {
  const cells = [
    name.padEnd(36),
    value.padStart(12),
    unit.padEnd(10),
    limit.padStart(12),
    ratio.padStart(7),
    by,
  ];
  console.log(cells.join('  ').trimEnd());
}

/** Three significant digits. */
function show(value: number | undefined): string {
  return value === undefined ? '' : value.toLocaleString('en-US', { maximumSignificantDigits: 3 });
}
