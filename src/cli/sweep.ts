import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Report } from '../../contract/report.ts';
import { ARCHIVE } from '../report/folder.ts';
import { aligned, fixed } from '../report/summary.ts';

/** One line for each cell of a sweep: what was swept, what it made, where its report lies. `archive`: of the first. */
export async function sweepTable(first: Report, archive: string): Promise<string> {
  const cells = dirname(dirname(archive));
  const swept = Object.keys(first.identity.manifest.sweep);
  const rows = [[...swept, 'net pnl', 'cents a share', 'fills', 'report']];
  for (let cell = 0; cell < first.scope.sweepCells; cell++) {
    const folder = join(cells, String(cell).padStart(3, '0'));
    const { identity, pnl, fills }: Report = JSON.parse(await readFile(join(folder, 'report.json'), 'utf8'));
    rows.push([
      ...swept.map((name) => JSON.stringify(identity.params[name])),
      fixed(pnl.net, 2),
      pnl.per_share === null ? '-' : fixed(pnl.per_share * 100, 2),
      fixed(fills.count),
      join(folder, ARCHIVE),
    ]);
  }
  const { name } = first.identity.manifest;
  const warning = `The best of ${first.scope.sweepCells} looks better than it is: it was picked for its luck, too.`;
  return `${name}: a sweep of ${first.scope.sweepCells} cells\n\n${aligned(rows).join('\n')}\n\n${warning}\n`;
}
