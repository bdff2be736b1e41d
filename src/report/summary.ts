import type { Report } from '../../contract/report.ts';

/** The run at a glance, for a terminal; `archive` is the path of its report.zip. */
export function summary(report: Report, archive: string): string {
  const { scope, identity } = report;
  const title = `${identity.manifest.name}  ${scope.assets.join(' ')} ${identity.manifest.intervals.join(' ')} on ${scope.venue}, ${scope.from} to ${scope.to}`;
  const lines = figures.map(([label, of]) => [label, of(report)]);
  return [
    title,
    '',
    ...aligned(lines),
    '',
    ...remarks(report).map((remark) => `  note: ${remark}`),
    `  report: ${archive}`,
    '',
  ].join('\n');
}

/** The same figures of several runs, a column each, under their names. */
export function summaryTable(rows: readonly { readonly name: string; readonly report: Report }[]): string {
  const head = ['', ...rows.map((row) => row.name)];
  const lines = figures.map(([label, of]) => [label, ...rows.map((row) => of(row.report))]);
  return `${aligned([head, ...lines]).join('\n')}\n`;
}

const figures: readonly (readonly [string, (report: Report) => string])[] = [
  ['net pnl', ({ pnl }) => usd(pnl.net)],
  ['fees', ({ pnl }) => usd(pnl.fees)],
  ['net a share', ({ pnl }) => (pnl.per_share === null ? '-' : `${fixed(pnl.per_share * 100, 2)} cents`)],
  ['fills', ({ fills }) => fixed(fills.count)],
  ['  maker', ({ fills, pnl }) => (pnl.measured ? fixed(fills.maker) : 'not measured')],
  ['  taker', ({ fills }) => fixed(fills.taker)],
  ['orders', ({ orders }) => fixed(orders.count)],
  ['  rejected', ({ orders }) => fixed(orders.by_status.rejected ?? 0)],
  ['  filled', ({ orders }) => (orders.fill_ratio === null ? '-' : `${fixed(orders.fill_ratio * 100, 1)} %`)],
  ['drawdown', ({ drawdown }) => usd(drawdown.max)],
  ['capital at work', ({ drawdown }) => usd(drawdown.peak_capital)],
  ['markets', ({ markets }) => fixed(markets.count)],
  ['  won', ({ markets }) => fixed(markets.won)],
  ['  lost', ({ markets }) => fixed(markets.lost)],
  ['  unresolved', ({ markets }) => fixed(markets.unresolved)],
];

/** What to know about the data before believing the figures. */
function remarks(report: Report): string[] {
  const { scope, data_quality: quality } = report;
  const dirty = counted(quality.rows);
  const met = counted(quality.exchange);
  const all: string[] = [];
  if (!report.pnl.measured) all.push('the archive holds no prints: maker fills could not be measured');
  if (scope.missing.length > 0)
    all.push(`${fixed(scope.missing.length)} market-days of the scope are not archived`);
  if (dirty !== '') all.push(`archive rows: ${dirty}`);
  if (met !== '') all.push(`replay: ${met}`);
  return all;
}

const counted = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${fixed(count)} ${name.replaceAll('_', ' ')}`)
    .join(', ');

const usd = (value: number): string => `${fixed(value, 2)} $`;

/** With a fixed number of decimals and commas between thousands; what rounds to zero has no sign. */
export function fixed(value: number, digits = 0): string {
  const text = new Intl.NumberFormat('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    signDisplay: 'negative',
  });
  return text.format(value);
}

/** Labels to the left, values to the right, each column as wide as its widest cell. */
export function aligned(lines: readonly (readonly string[])[]): string[] {
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  return lines.map((line) =>
    `  ${line.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at]))).join('  ')}`.trimEnd(),
  );
}
