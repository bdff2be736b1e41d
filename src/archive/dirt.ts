import type { Dirt } from './staged.ts';

/** How many places of unreadable rows are kept. */
const PLACES = 5;
const LONGEST_TEXT = 40;

export function noDirt(): Dirt {
  return {
    unreadable: 0,
    places: [],
    disordered: 0,
    clock_skew: 0,
    repeated: 0,
    off_grid: 0,
    unsorted_levels: 0,
  };
}

/** Counts a row that was dropped because its field number `field` (from 1) could not be read. */
export function countUnreadable(
  dirt: Dirt,
  columns: string[],
  line: number,
  text: string,
  field: number,
): void {
  dirt.unreadable++;
  if (dirt.places.length === PLACES) return;
  const fields = text.split(',');
  if (fields.length !== columns.length) {
    dirt.places.push(`line ${line}: ${fields.length} fields instead of ${columns.length}`);
    return;
  }
  const value = fields[field - 1];
  const shown = value.length > LONGEST_TEXT ? `${value.slice(0, LONGEST_TEXT)}...` : value;
  dirt.places.push(`line ${line}: ${columns[field - 1]} ${JSON.stringify(shown)}`);
}
