import type { RunQueue } from './queue.ts';

interface Ear {
  free: number;
  answer: () => Promise<void>;
  onError: (error: Error) => void;
  /** Answers under way. */
  busy: Set<Promise<void>>;
}

/** The queue of a service that is one process: its bells end with it, and the sweeper rings again after the start. */
export function openMemoryQueue(): RunQueue {
  const due = new Set<string>();
  const later = new Map<string, NodeJS.Timeout>();
  const ears = new Set<Ear>();

  const dispatch = () => {
    for (const task of due) {
      const ear = [...ears].reduce<Ear | null>(
        (best, one) => (one.free > (best?.free ?? 0) ? one : best),
        null,
      );
      if (!ear) return;
      due.delete(task);
      ear.free -= 1;
      const answered = ear
        .answer()
        .catch(ear.onError)
        .finally(() => {
          ear.busy.delete(answered);
          ear.free += 1;
          dispatch();
        });
      ear.busy.add(answered);
    }
  };

  return {
    kind: 'memory',
    async ring(tasks, delay_ms = 0) {
      for (const task of tasks) {
        if (due.has(task) || later.has(task)) continue;
        const fall = () => {
          later.delete(task);
          due.add(task);
          dispatch();
        };
        if (delay_ms > 0) later.set(task, setTimeout(fall, delay_ms));
        else due.add(task);
      }
      // Whoever rings goes on first, as with a queue that is elsewhere.
      setImmediate(dispatch);
    },
    async listen(slots, answer, onError) {
      const ear: Ear = { free: slots, answer: async () => answer(), onError, busy: new Set() };
      ears.add(ear);
      setImmediate(dispatch);
      return {
        async stop() {
          ears.delete(ear);
          await Promise.all(ear.busy);
        },
      };
    },
    depth: async () => due.size,
    probe: async () => {},
    async close() {
      for (const timer of later.values()) clearTimeout(timer);
      later.clear();
      due.clear();
    },
  };
}
