import { join } from 'node:path';
import { expect, test } from 'vitest';
import { backtest, folder, found } from './support.ts';

test.concurrent('the demo shows one strategy in two languages with the same result', async () => {
  const cwd = folder();
  const ended = await backtest(['demo'], { cwd });
  expect(ended).toMatchObject({ code: 0 });
  expect(ended.stdout).toMatch(/momentum-python +momentum-node\n +net pnl +(\S+ \$) +\1\n/);
  expect(ended.stdout).toContain('Python and JavaScript made the same result');
  for (const name of ['momentum-python', 'momentum-node'])
    expect(found(join(cwd, 'out/demo', name))).toContain('report.zip');
});

test.concurrent('without containers the demo runs what needs none, and says so', async () => {
  const ended = await backtest(['demo', '--sandbox', 'process'], { cwd: folder() });
  expect(ended).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('only the JavaScript strategy runs'),
  });
  expect(ended.stdout).toMatch(/momentum-node\n/);
  expect(ended.stdout).not.toContain('momentum-python');
});
