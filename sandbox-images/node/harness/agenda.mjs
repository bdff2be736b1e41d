/** What comes within one millisecond, in this order; rows come before all of them. */
export const Rank = { timer: 0, private: 1, close: 2, settle: 3, stop: 4 };

/**
 * @typedef {{ms: number, rank: number, order: number, what: any}} Entry
 * @param {Entry} a
 * @param {Entry} b
 */
const before = (a, b) =>
  a.ms < b.ms || (a.ms === b.ms && (a.rank < b.rank || (a.rank === b.rank && a.order < b.order)));

/** Everything that is to come but rows: a binary heap by time, rank and order within the rank. */
export class Agenda {
  /** @type {Entry[]} */
  #heap = [];

  /** The next entry, undefined when there is none. */
  get head() {
    return this.#heap[0];
  }

  add(ms, rank, order, what) {
    const heap = this.#heap;
    const entry = { ms, rank, order, what };
    let at = heap.length;
    heap.push(entry);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!before(entry, heap[parent])) break;
      heap[at] = heap[parent];
      at = parent;
    }
    heap[at] = entry;
  }

  /** Takes the next entry out. */
  pop() {
    const heap = this.#heap;
    const first = heap[0];
    const entry = heap.pop();
    if (heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && before(heap[child + 1], heap[child])) child++;
      if (!before(heap[child], entry)) break;
      heap[at] = heap[child];
      at = child;
    }
    heap[at] = entry;
    return first;
  }
}
