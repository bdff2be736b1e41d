import { Unreachable } from '../../contract/index.ts';
import type { Archive } from '../archive/catalogue.ts';

const KEPT_MS = 10_000;
const ENTRIES = 1_000;

/** The archive's indexes, each read at most once in ten seconds. Throws `Unreachable` for whatever cannot be read. */
export function remembering(archive: Archive): Archive {
  const kept = new Map<string, { readonly since: number; readonly value: Promise<unknown> }>();

  const remember = <T>(key: string, read: () => Promise<T>): Promise<T> => {
    const known = kept.get(key);
    if (known && performance.now() - known.since < KEPT_MS) return known.value as Promise<T>;
    const value = read().catch((error) => {
      kept.delete(key);
      throw new Unreachable('the archive', error);
    });
    kept.delete(key);
    kept.set(key, { since: performance.now(), value });
    // The oldest comes first.
    for (const old of kept.keys()) {
      if (kept.size <= ENTRIES) break;
      kept.delete(old);
    }
    return value;
  };

  // What others wait for too does not end with one of them: signals go no further.
  return {
    location: archive.location,
    days: (venue) => remember(venue, () => archive.days(venue)),
    day: (venue, date) => remember(`${venue} ${date}`, () => archive.day(venue, date)),
  };
}
