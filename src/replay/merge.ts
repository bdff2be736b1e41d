/** When rows are seen: row i at `times[at[i]] + offset`; without `at`, at `times[i] + offset`. */
export interface Where {
  readonly times: Float64Array;
  readonly at: Uint32Array | null;
  readonly offset: number;
}

/** One sorted source of rows with its cursor. */
export interface Run extends Where {
  readonly length: number;
  /** Decides between rows of one time: the smaller goes first. Unlike any other run's. */
  readonly order: number;
  /** Writes row `i`, which is seen at `ts`. */
  readonly emit: (i: number, ts: number) => void;
  /** Called after its last row. */
  readonly done?: () => void;
  next: number;
}

const timeOf = ({ times, at, offset }: Where, i: number): number =>
  (at === null ? times[i]! : times[at[i]!]!) + offset;

const NEVER = Number.POSITIVE_INFINITY;
const headOf = (run: Run): number => (run.next < run.length ? timeOf(run, run.next) : NEVER);

/** Merges runs by time, then order: takes rows from one of them for as long as they precede the rows of all others. */
export class Merge {
  /** Not begun yet, the next to begin last. Only runs under way are compared at every turn. */
  private readonly waiting: Run[];
  /** Under way, by order, so that of equal heads the first one wins. */
  private readonly active: Run[] = [];
  private head = new Float64Array(16);
  private waitingMs: number;

  constructor(runs: readonly Run[]) {
    this.waiting = runs
      .filter((run) => run.next < run.length)
      .sort((a, b) => headOf(b) - headOf(a) || b.order - a.order);
    this.waitingMs = this.firstWaiting();
  }

  /** When the next row is seen; Infinity when none is left. */
  get nextMs(): number {
    let next = this.waitingMs;
    for (let i = 0; i < this.active.length; i++) next = Math.min(next, this.head[i]!);
    return next;
  }

  /**
   * Emits rows of the run whose turn it is, seen up to and including `until`, while `out` holds fewer than `full` rows.
   * @returns false when no row is left up to `until`.
   */
  turn(until: number, out: { readonly length: number }, full: number): boolean {
    const { head } = this;
    const count = this.active.length;
    let at = 0;
    let least = NEVER;
    let second = NEVER;
    let secondAt = 0;
    for (let i = 0; i < count; i++) {
      const ts = head[i]!;
      if (ts < least) {
        second = least;
        secondAt = at;
        least = ts;
        at = i;
      } else if (ts < second) {
        second = ts;
        secondAt = i;
      }
    }
    if (this.waiting.length > 0 && this.waitingMs <= Math.min(least, until)) {
      this.begin();
      return true;
    }
    if (count === 0 || least > until) return false;

    // A run that has yet to begin ends the turn before its first row: it joins and is compared then.
    const first = at < secondAt && second < this.waitingMs;
    second = Math.min(second, this.waitingMs);
    const run = this.active[at]!;
    const { times, at: rows, offset, length, emit } = run;
    let { next } = run;
    let ts = least;
    do {
      emit(next++, ts);
      if (next === length) break;
      ts = (rows === null ? times[next]! : times[rows[next]!]!) + offset;
    } while (ts <= until && (ts < second || (first && ts === second)) && out.length < full);
    run.next = next;
    head[at] = ts;
    if (next === length) this.end(at);
    return true;
  }

  private begin(): void {
    const run = this.waiting.pop()!;
    const at = this.active.findIndex((other) => other.order > run.order);
    this.active.splice(at < 0 ? this.active.length : at, 0, run);
    this.waitingMs = this.firstWaiting();
    this.readHeads();
  }

  private end(at: number): void {
    const [run] = this.active.splice(at, 1);
    run!.done?.();
    this.readHeads();
  }

  private firstWaiting(): number {
    const run = this.waiting.at(-1);
    return run ? headOf(run) : NEVER;
  }

  private readHeads(): void {
    if (this.head.length < this.active.length) this.head = new Float64Array(2 * this.active.length);
    for (const [i, run] of this.active.entries()) this.head[i] = headOf(run);
  }
}

/** First i that is seen at or after `ts`. */
export function lowerBound(where: Where, count: number, ts: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (timeOf(where, middle) < ts) low = middle + 1;
    else high = middle;
  }
  return low;
}
