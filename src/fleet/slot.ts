import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Limits } from '../../contract/index.ts';
import type { Config } from '../config.ts';
import type { Assembled, ShardRow } from './assembly.ts';
import type { ShardOutcome } from './shard.ts';
import type { TaskProgress } from './task.ts';

const REPLAYER = fileURLToPath(new URL(`./replayer${extname(import.meta.url)}`, import.meta.url));
/** How long a replayer may take to close its boxes once it was told to stop. */
export const STOP_MS = 10_000;
/** How often a replayer that has a job shows that it lives, and after which silence it counts as hung. */
export const BEAT_MS = 5_000;
const SILENCE_MS = 60_000;

/** What a replayer is told to do. */
export type Job = {
  readonly run: string;
  readonly number: number;
  readonly fence: number;
  /** The object that says all of what to run. */
  readonly plan: string;
} & ({ readonly kind: 'shard' } | { readonly kind: 'assembly'; readonly shards: readonly ShardRow[] });

export type Done = { readonly shard: ShardOutcome } | { readonly assembly: Assembled };

export type ToReplayer =
  | {
      readonly open: {
        readonly config: Config;
        readonly sandbox: 'docker' | 'process';
        readonly limits: Limits;
      };
    }
  | { readonly job: Job }
  | { readonly abort: true };

export type FromReplayer =
  | { readonly ready: true }
  | { readonly beat: true }
  | { readonly progress: TaskProgress }
  | { readonly done: Done }
  | { readonly fault: string };

/**
 * A place for one task at a time: a process of its own, so that no replay holds up the renewal of a lease, and so that
 * whatever kills a replay kills nothing else. It ends with this process, however this one ends.
 */
export class Slot {
  private readonly open: Extract<ToReplayer, { open: unknown }>;
  private readonly silence_ms: number;
  private child: Promise<ChildProcess> | null = null;

  constructor(open: Extract<ToReplayer, { open: unknown }>['open'], silence_ms = SILENCE_MS) {
    this.open = { open };
    this.silence_ms = silence_ms;
  }

  /** Starts the process ahead of its first job. Throws where it does not come up. */
  async warm(): Promise<void> {
    await this.process();
  }

  /** Does a job. Rejects for a fault, for a process that died, and for the reason of `signal`, once all boxes are gone. */
  async run(job: Job, signal: AbortSignal, onProgress: (progress: TaskProgress) => void): Promise<Done> {
    signal.throwIfAborted();
    const child = await this.process();
    return new Promise((resolve, reject) => {
      let late: NodeJS.Timeout | undefined;
      // One that hangs would keep its lease for ever, as this process renews it.
      const silence = setTimeout(() => child.kill('SIGKILL'), this.silence_ms);
      const end = (settle: () => void): void => {
        clearTimeout(late);
        clearTimeout(silence);
        child.off('message', heard).off('exit', died);
        signal.removeEventListener('abort', abort);
        settle();
      };
      const heard = (message: FromReplayer): void => {
        silence.refresh();
        if ('progress' in message) onProgress(message.progress);
        else if ('done' in message) end(() => resolve(message.done));
        else if ('fault' in message)
          end(() => reject(signal.aborted ? signal.reason : new Error(message.fault)));
      };
      const died = (code: number | null, how: string | null): void =>
        end(() =>
          reject(signal.aborted ? signal.reason : new Error(`the replayer died (${how ?? `exit ${code}`})`)),
        );
      const abort = (): void => {
        tell(child, { abort: true });
        late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      };
      child.on('message', heard).on('exit', died);
      signal.addEventListener('abort', abort);
      if (child.exitCode !== null || child.signalCode !== null) died(child.exitCode, child.signalCode);
      else tell(child, { job });
      if (signal.aborted) abort();
    });
  }

  async close(): Promise<void> {
    const child = await this.child?.catch(() => null);
    this.child = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    // It closes its boxes when nobody is there to give it work.
    child.disconnect();
    const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await exited;
    clearTimeout(late);
  }

  private process(): Promise<ChildProcess> {
    if (this.child !== null) return this.child;
    const child = fork(REPLAYER, {
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const started = this.start(child);
    const forget = () => {
      // By now another one may be in its place.
      if (this.child === started) this.child = null;
    };
    child.once('exit', forget);
    started.catch(forget);
    this.child = started;
    return started;
  }

  private async start(child: ChildProcess): Promise<ChildProcess> {
    tell(child, this.open);
    await new Promise<void>((resolve, reject) => {
      // A machine that has no room for a process says so here, and by no exit.
      child.on('error', reject);
      child.once('message', (message: FromReplayer) => {
        if ('ready' in message) return resolve();
        reject(new Error('fault' in message ? message.fault : 'the replayer did not start'));
        // One that cannot open what it needs would wait for jobs for ever.
        child.kill('SIGKILL');
      });
      child.once('exit', () => reject(new Error('the replayer did not start')));
    });
    return child;
  }
}

/** What cannot be told any more is told by its exit. */
const tell = (child: ChildProcess, message: ToReplayer): void => {
  if (child.connected) child.send(message, () => {});
};
