import type { Cursor } from './csv.ts';

/** Columns that rows are read into, one by one. */
export interface Table<R> {
  /** `event` is null where rows have one time only. */
  readonly head: { readonly recv: Float64Array; readonly event: Float64Array | null };
  /** Reads the line at the cursor into row n, and leaves the cursor behind it or marked as bad. */
  row(cursor: Cursor, n: number): void;
  /**
   * Reads lines that have nothing odd about them into the rows from n to before `capacity`, up to the first one that
   * has, and returns the row after the last one. A shortcut for tables of millions of rows.
   */
  run?(cursor: Cursor, n: number, capacity: number): number;
  /** Makes room for so many rows. */
  grow(capacity: number): void;
  /** The first `length` rows, in the order of `order` where there is one. */
  rows(length: number, order: Uint32Array | null): R;
}
