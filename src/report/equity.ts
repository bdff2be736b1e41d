import type { MarkRow, UnitResult } from '../../contract/report.ts';

/** The run's equity over time in columns: ms and micro-dollars. Equity is `cash + value`; `locked` is part of cash. */
export interface Curve {
  readonly rows: number;
  readonly ts: Float64Array;
  readonly cash: Float64Array;
  readonly locked: Float64Array;
  readonly value: Float64Array;
}

/**
 * One row for each distinct time of a mark, after all marks of that time. Each portfolio starts with `capital`
 * (micro-dollars) and keeps its last mark; the run counts the capital once, and what every portfolio made of it.
 */
export function equityCurve(capital: number, units: readonly UnitResult[]): Curve {
  const { marks, owner, portfolios } = numbered(units);
  const order = new Uint32Array(marks.length).map((_, index) => index);
  order.sort((a, b) => marks[a].ts_ms - marks[b].ts_ms || a - b);

  const curve = {
    ts: new Float64Array(marks.length),
    cash: new Float64Array(marks.length),
    locked: new Float64Array(marks.length),
    value: new Float64Array(marks.length),
  };
  const last: (MarkRow | undefined)[] = new Array(portfolios);
  let rows = 0;
  let cash = capital;
  let locked = 0;
  let value = 0;
  for (const index of order) {
    const mark = marks[index];
    const before = last[owner[index]];
    last[owner[index]] = mark;
    cash += mark.cash - (before?.cash ?? capital);
    locked += mark.locked - (before?.locked ?? 0);
    value += mark.position_value - (before?.position_value ?? 0);
    if (rows === 0 || curve.ts[rows - 1] !== mark.ts_ms) rows++;
    curve.ts[rows - 1] = mark.ts_ms;
    curve.cash[rows - 1] = cash;
    curve.locked[rows - 1] = locked;
    curve.value[rows - 1] = value;
  }
  return { rows, ...curve };
}

/** All marks in plan order, and whose they are: a portfolio's number is unique within its unit only. */
function numbered(units: readonly UnitResult[]): {
  marks: MarkRow[];
  owner: Uint32Array;
  portfolios: number;
} {
  const marks = units.flatMap((unit) => unit.marks);
  const owner = new Uint32Array(marks.length);
  let at = 0;
  let portfolios = 0;
  for (const unit of units) {
    const numbers = new Map<number, number>();
    for (const mark of unit.marks) {
      const known = numbers.get(mark.portfolio);
      if (known === undefined) numbers.set(mark.portfolio, portfolios);
      owner[at++] = known ?? portfolios++;
    }
  }
  return { marks, owner, portfolios };
}

/** Extremes of a curve, in micro-dollars and ms. The starting capital counts as its first point, at no time (null). */
export interface Extremes {
  readonly last: number;
  readonly min: number;
  readonly max: number;
  readonly fall: number;
  readonly peak_ms: number | null;
  readonly trough_ms: number | null;
  readonly at_work: number;
}

export function extremes(capital: number, curve: Curve): Extremes {
  let last = capital;
  let min = capital;
  let max = capital;
  let max_ms: number | null = null;
  let at_work = 0;
  let fall = 0;
  let peak_ms: number | null = null;
  let trough_ms: number | null = null;
  for (let row = 0; row < curve.rows; row++) {
    last = curve.cash[row] + curve.value[row];
    min = Math.min(min, last);
    at_work = Math.max(at_work, curve.locked[row] + curve.value[row]);
    if (last > max) {
      max = last;
      max_ms = curve.ts[row];
    }
    if (max - last > fall) {
      fall = max - last;
      peak_ms = max_ms;
      trough_ms = curve.ts[row];
    }
  }
  return { last, min, max, fall, peak_ms, trough_ms, at_work };
}
