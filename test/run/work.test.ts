import { expect, test } from 'vitest';
import { cellParams } from '../../contract/index.ts';
import type { Prepared } from '../../src/run/prepare.ts';
import { workAt, workOf, workSize } from '../../src/run/work.ts';

const days = ['2026-04-16', '2026-04-17', '2026-04-18'].map((date) => ({
  asset: 'BTC',
  interval: '5m',
  date,
}));

test.each(['market', 'session'] as const)(
  'in %s mode one unit is found without making the others',
  (mode) => {
    const manifest = { mode, params: { b: 0 }, sweep: { a: [1, 2] } };
    const prepared = { manifest, marketDays: days, quote: { sweepCells: 2 } } as unknown as Prepared;
    const work = workOf(prepared, cellParams(prepared.manifest));
    expect(work).toHaveLength(workSize(prepared));
    expect(work.map((_, at) => workAt(prepared, at))).toEqual(work);
  },
);
