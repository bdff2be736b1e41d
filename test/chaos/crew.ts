import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { until } from './until.ts';

const WORKER = fileURLToPath(new URL('../../worker/main.ts', import.meta.url));

export interface Told {
  readonly event: string;
  readonly run?: string;
  readonly ended?: string;
  readonly [field: string]: unknown;
}

/** A worker process that a case may treat as badly as it likes. */
export interface Hand {
  readonly pid: number;
  /** Its log, oldest line first. */
  readonly told: readonly Told[];
  readonly running: boolean;
  /** Its replayers: one for each slot. */
  replayers(): number[];
  /** kill -9 of the worker alone: what it started has to notice by itself. */
  kill(): Promise<void>;
  /** Freezes the worker and its replayers, and lets them go on. */
  pause(): void;
  resume(): void;
  /** SIGTERM, and its exit code. */
  drain(): Promise<number | null>;
}

/** Starts a worker and waits until it takes tasks. `nodeArgs` come before its file. */
export async function startHand(
  env: Readonly<Record<string, string>>,
  nodeArgs: readonly string[] = [],
): Promise<Hand> {
  // A test process that is killed takes its workers along.
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', process.execPath, ...nodeArgs, WORKER], {
    env: { PATH: process.env.PATH, ...env },
    // The group that pause() freezes: replayers are in it, boxes have groups of their own.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const told: Told[] = [];
  createInterface(child.stdout).on('line', (line) => told.push(JSON.parse(line)));
  let complaints = '';
  child.stderr.on('data', (bytes) => {
    complaints += bytes;
  });
  const running = () => child.exitCode === null && child.signalCode === null;
  const pid = child.pid!;
  const hand: Hand = {
    pid,
    told,
    get running() {
      return running();
    },
    replayers: () => childrenOf(pid),
    kill: () => ended(child, 'SIGKILL'),
    pause: () => void process.kill(-pid, 'SIGSTOP'),
    resume: () => void (running() && process.kill(-pid, 'SIGCONT')),
    async drain() {
      await ended(child, 'SIGTERM');
      return child.exitCode;
    },
  };
  await until('a worker takes tasks', () => {
    if (!running()) throw new Error(`the worker did not start: ${JSON.stringify(told)} ${complaints}`);
    return told.some(({ event }) => event === 'working');
  }).catch(async (error) => {
    await hand.kill();
    throw error;
  });
  return hand;
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}

/** Processes that were started with `mark` in their environment, dead ones not counted. */
export function processesOf(mark: string): number[] {
  return processIds().filter((pid) => pid !== process.pid && read(`/proc/${pid}/environ`).includes(mark));
}

export function childrenOf(parent: number): number[] {
  return processIds().filter((pid) => {
    const stat = read(`/proc/${pid}/stat`);
    // The name in brackets may hold anything; then come state and parent.
    const [state, ppid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state !== 'Z' && Number(ppid) === parent;
  });
}

/** The boxes of a replayer, once they are that: a child that is still the image of its parent must not be stopped. */
export const boxesOf = (replayer: number): number[] =>
  childrenOf(replayer).filter((pid) => read(`/proc/${pid}/cmdline`).includes('harness/main'));

const processIds = (): number[] =>
  readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** kill -9 of whoever is still there. */
export function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It was quicker.
  }
}
