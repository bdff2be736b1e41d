import { setTimeout as sleep } from 'node:timers/promises';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { exitCode, Interrupted } from './failure.ts';

/** How long killing may hold up a user who asked twice. */
const LEAVE_MS = 5_000;

/**
 * Lends a sandbox and a signal that Ctrl-C aborts, and comes back only when every box is gone. A second Ctrl-C ends
 * this process as soon as the boxes are killed. Throws Interrupted when it was stopped.
 */
export async function withSandbox<T>(
  open: () => Promise<Sandbox>,
  use: (sandbox: Sandbox, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  let sandbox: Sandbox | undefined;
  const onSignal = (name: 'SIGINT' | 'SIGTERM'): void => {
    const closed = sandbox?.close().catch(() => {});
    if (stop.signal.aborted) {
      const leave = () => process.exit(exitCode(stop.signal.reason));
      void Promise.race([closed, sleep(LEAVE_MS)]).then(leave);
    } else {
      process.stderr.write('\nStopping. Ctrl-C again to leave at once.\n');
      stop.abort(new Interrupted(name));
    }
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  try {
    sandbox = await open();
    stop.signal.throwIfAborted();
    return await use(sandbox, stop.signal);
  } catch (error) {
    // Whatever broke while we were stopping broke because of it.
    throw stop.signal.aborted ? stop.signal.reason : error;
  } finally {
    await sandbox?.close();
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}
