import { setTimeout as sleep } from 'node:timers/promises';
import { sweepFolders } from './folder.ts';
import type { Box, BoxRequest, Exit, Sandbox } from './sandbox.ts';
import { type Line, openWire, type Wire } from './wire.ts';

/** How long the news of a death may trail the end of its sockets. */
const DYING_MS = 1_000;

/** What a kind of sandbox has to bring: a harness that was started and can be ended. */
export interface Host {
  /** Resolves when it is dead, or when nobody can tell any more; never rejects. */
  readonly exited: Promise<unknown>;
  /** Kills it with all that it has started and waits until it is dead. */
  kill(): Promise<void>;
  /** How it ended. Throws where that cannot be known. */
  exit(): Promise<Exit>;
  /** Removes it, dead or alive, and every trace of it. Idempotent. */
  remove(): Promise<void>;
  cpuMs(): Promise<number | null>;
}

/**
 * The life of boxes, the same for every kind: sockets, start, connection, end, removal, and an account of all that are
 * open. `start` gets the sockets' folder, whose parent goes with the box; where it throws, it has removed what it began.
 * At the first `open`, folders that a dead process left behind are removed.
 */
export function boxes(
  temp: string,
  start: (request: BoxRequest, folder: string) => Promise<Host>,
): Pick<Sandbox, 'open' | 'close'> {
  const stop = new AbortController();
  const opening = new Set<Promise<Box>>();
  const live = new Map<Box, Host>();
  let swept: Promise<unknown> | undefined;

  async function begin(request: BoxRequest): Promise<Box> {
    const wire = await openWire(temp, request.limits.frame_bytes);
    let host: Host | undefined;
    try {
      host = await start(request, wire.folder);
      const line = await connected(wire, host, request.limits.start_ms, stop.signal);
      const box = boxOver(host, wire, line, stop.signal, () => live.delete(box));
      live.set(box, host);
      return box;
    } catch (error) {
      await discard(host, wire).catch(() => {});
      throw error;
    }
  }

  return {
    async open(request) {
      stop.signal.throwIfAborted();
      swept ??= sweepFolders(temp).catch(() => {});
      const box = begin(request);
      opening.add(box);
      try {
        return await box;
      } finally {
        opening.delete(box);
      }
    },
    async close() {
      stop.abort(new Error('The sandbox is closed.'));
      await Promise.allSettled([...opening, swept]);
      const left = [...live];
      // How they end is of no interest any more, only that they are gone.
      await Promise.allSettled(left.map(([box]) => box.close(0)));
      await settled(left.map(([, host]) => host.remove()));
    },
  };
}

async function connected(wire: Wire, host: Host, start_ms: number, stop: AbortSignal): Promise<Line> {
  const ended = host.exited.then(() => 'ended' as const);
  const line = await first<Line | 'ended'>([wire.connected, ended], start_ms, stop);
  if (typeof line === 'object') return line;
  stop.throwIfAborted();
  if (line === undefined)
    throw new Error(`A box did not connect within ${start_ms} ms; this machine may be overloaded.`);
  const { diagnostics } = await host.exit();
  throw new Error(`A box ended before it connected. Its last words: ${diagnostics.trim() || 'none'}`);
}

function boxOver(host: Host, wire: Wire, line: Line, stop: AbortSignal, forget: () => void): Box {
  let closing: Promise<Exit> | undefined;
  let left = false;
  void host.exited.then(line.gone);
  void line.hangup.then(() => {
    left = line.violation === null;
  });

  async function close(grace_ms: number): Promise<Exit> {
    try {
      // A box that hung up is as good as dead; how it died is worth the wait.
      const grace = left ? Math.max(grace_ms, DYING_MS) : grace_ms;
      const alone = await first([host.exited.then(() => true)], grace, stop);
      if (!alone) await host.kill();
      const exit = await host.exit();
      // A death by our hand says nothing about the strategy.
      return alone ? withHeap(exit) : { ...exit, exit_code: null, signal: null };
    } finally {
      await discard(host, wire);
      forget();
    }
  }

  return {
    receive: line.receive,
    control: line.control,
    bulk: line.bulk,
    hangup: line.hangup,
    get violation() {
      return line.violation;
    },
    cpuMs: host.cpuMs,
    close(grace_ms) {
      closing ??= close(grace_ms);
      return closing;
    },
  };
}

/** The host first: while it lives it may write into its folder. */
async function discard(host: Host | undefined, wire: Wire): Promise<void> {
  try {
    await host?.remove();
  } finally {
    await wire.close();
  }
}

/** V8 gives up a little before the kernel does, and says so. Whoever forges that only fails by another name. */
function withHeap(exit: Exit): Exit {
  const heap = exit.signal === 'SIGABRT' && exit.diagnostics.includes('JavaScript heap out of memory');
  return heap ? { ...exit, oom: true } : exit;
}

/** The first of `promises`; undefined after `ms`, or as soon as `stop` is aborted. Leaves no timer. */
export async function first<T>(
  promises: Promise<T>[],
  ms: number,
  stop?: AbortSignal,
): Promise<T | undefined> {
  const done = new AbortController();
  const signal = stop ? AbortSignal.any([done.signal, stop]) : done.signal;
  const timer = sleep(ms, undefined, { signal }).catch(() => undefined);
  try {
    return await Promise.race([...promises, timer]);
  } finally {
    done.abort();
  }
}

/** Waits for all of them, then throws what the first one threw. */
async function settled(promises: Promise<unknown>[]): Promise<void> {
  for (const result of await Promise.allSettled(promises))
    if (result.status === 'rejected') throw result.reason;
}
