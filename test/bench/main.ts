import { readdir } from 'node:fs/promises';

// npm run bench [NAME...]: prints what the modules beside this one measure, or those of them that are named. A value
// says little without the machine, so each row stands beside a limit measured in the same run: the ratio is what counts.

/** One thing measured. `limit`: the best that the machine could do, in the same unit; null where there is no such thing. */
export interface Row {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly limit: number | null;
  readonly ratio: number | null;
}

const COLUMNS = ['name', 'value', 'unit', 'limit', 'ratio'] as const;
const WIDTHS = { name: 44, value: 12, unit: 12, limit: 12, ratio: 7 };

const folder = new URL('./', import.meta.url);
const wanted = process.argv.slice(2);

line((column) => column);
for (const file of (await readdir(folder)).sort()) {
  const name = file.replace(/\.ts$/, '');
  if (file === 'main.ts' || !file.endsWith('.ts') || (wanted.length > 0 && !wanted.includes(name))) continue;
  const { bench } = await import(new URL(file, folder).href);
  await bench?.((row: Row) => line((column) => show(row[column])));
}

function line(cell: (column: (typeof COLUMNS)[number]) => string): void {
  const cells = COLUMNS.map((column) => {
    const left = column === 'name' || column === 'unit';
    return left ? cell(column).padEnd(WIDTHS[column]) : cell(column).padStart(WIDTHS[column]);
  });
  console.log(cells.join(' ').trimEnd());
}

function show(value: string | number | null): string {
  if (value === null) return '-';
  return typeof value === 'string' ? value : value.toLocaleString('en-US', { maximumSignificantDigits: 3 });
}
