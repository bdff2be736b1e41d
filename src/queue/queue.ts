/**
 * A doorbell: says that a task is there and never which one is next; the database knows that. A bell may be lost (the
 * sweeper rings again) and may come twice (then nothing is found). One bell wakes one slot.
 */
export interface RunQueue {
  readonly kind: 'bullmq' | 'memory';
  /**
   * Rings once for each task after `delay_ms`. A task (`<run>.<number>.<fence>`) whose bell still waits is not rung for again. Throws
   * `Unreachable` in bounded time; the caller may go on, since the sweeper rings again.
   */
  ring(tasks: readonly string[], delay_ms?: number): Promise<void>;
  /** Calls `answer` for every bell, at most `slots` at a time. `answer` must not throw; what it throws goes to `onError`. */
  listen(slots: number, answer: () => Promise<void>, onError: (error: Error) => void): Promise<Listener>;
  /** Bells that wait. Throws `Unreachable`. */
  depth(): Promise<number>;
  /** Throws with what to mend when the queue's server is unfit: wrong eviction policy, no append-only file. */
  probe(): Promise<void>;
  close(): Promise<void>;
}

export interface Listener {
  /** Takes no more bells, waits until those taken are answered. */
  stop(): Promise<void>;
}
