import { expect, test } from 'vitest';
import { buildReport } from '../../src/report/report.ts';
import { summary, summaryTable } from '../../src/report/summary.ts';
import { run, twoMarkets } from './run.ts';

test('the summary names the figures, what is wrong with the data, and where the report lies', () => {
  const base = run(twoMarkets(), { dirt: { repeated: 1200, unreadable: 0 }, prints_archived: false });
  const report = buildReport({
    ...base,
    quote: { ...base.quote, missing: ['BTC 5m 2026-04-17', 'BTC 5m 2026-04-18'] },
  });
  expect(summary(report, 'out/report.zip')).toBe(
    [
      'quiet-maker  BTC 5m on venue_a, 2026-04-16 to 2026-04-16',
      '',
      '  net pnl               -1.60 $',
      '  fees                   0.10 $',
      '  net a share       -4.57 cents',
      '  fills                       3',
      '    maker          not measured',
      '    taker                     2',
      '  orders                      4',
      '    rejected                  1',
      '    filled               63.6 %',
      '  drawdown               1.60 $',
      '  capital at work       20.30 $',
      '  markets                     2',
      '    won                       1',
      '    lost                      1',
      '    unresolved                0',
      '',
      '  note: the archive holds no prints: maker fills could not be measured',
      '  note: 2 market-days of the scope are not archived',
      '  note: archive rows: 1,200 repeated',
      '  note: replay: 2 crossed, 3 gaps',
      '  report: out/report.zip',
      '',
    ].join('\n'),
  );
});

test('several runs stand side by side, a column each', () => {
  const [one, none] = [buildReport(run(twoMarkets())), buildReport(run([]))];
  const lines = summaryTable([
    { name: 'python', report: one },
    { name: 'node', report: none },
  ]).split('\n');
  expect(lines.slice(0, 4)).toEqual([
    '                        python    node',
    '  net pnl              -1.60 $  0.00 $',
    '  fees                  0.10 $  0.00 $',
    '  net a share      -4.57 cents       -',
  ]);
});
