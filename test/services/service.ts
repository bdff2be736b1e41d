import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const START_MS = 60_000;

/** A server of this test alone. It ends with the process that started it, however that one ends. */
export interface Service {
  /** Ends it and removes what it kept. */
  stop(): Promise<void>;
  /** kill -9, for it and all its children; its data stay. */
  kill(): Promise<void>;
  /** Same port, same data; one that runs is told to quit first. Resolves when it answers again. */
  restart(): Promise<void>;
  /** Freezes it and its children: connections stay open and nothing answers. */
  pause(): Promise<void>;
  resume(): Promise<void>;
}

export interface ServiceOptions {
  readonly name: string;
  /** A folder from `newFolder`; removed with the service. */
  readonly folder: string;
  readonly command: readonly [string, ...string[]];
  /** Whom to run it as; default the one who asks. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  /** What makes it shut down in an orderly way without waiting for its clients. */
  readonly quit: NodeJS.Signals;
  readonly ready: () => Promise<boolean>;
  /** A file to lock from before the start until all is swept: where there may be one such server at a time. */
  readonly lock?: string;
  /** Added to the environment. */
  readonly env?: NodeJS.ProcessEnv;
  /**
   * Shell commands for what is left of it when its process tree is gone. They see `$1`, the folder, and `tree PID`, which
   * lists a process and all below it.
   */
  readonly sweep?: string;
}

// Reads until the pipe from us breaks, so it notices our end of any kind. A server's children may have left its process
// group, as those of Postgres do, so the tree is what counts; it is frozen first lest it grow while we look.
const WATCHDOG = `
[ -z "$2" ] || { exec 9>"$2"; flock 9; }
echo ready
cat >/dev/null
tree() { echo "$1"; for child in $(ps -A -o pid=,ppid= | awk -v parent="$1" '$2 == parent { print $1 }'); do tree "$child"; done; }
pid=$(cat "$1/pid" 2>/dev/null) && kill -STOP "$pid" 2>/dev/null && kill -KILL $(tree "$pid") 2>/dev/null
while kill -0 $pid 2>/dev/null && ! ps -o stat= -p $pid | grep -q Z; do sleep 0.02; done
`;

/** Starts a server in the background. Throws with the end of its log when it gives up or never answers. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { name, folder, command, user, quit, ready } = options;
  const log = join(folder, 'log');
  const script = `${WATCHDOG}\n${options.sweep ?? ''}\nrm -rf "$1"`;
  const watchdog = spawn('sh', ['-c', script, 'sh', folder, options.lock ?? ''], {
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  await once(watchdog.stdout, 'data');
  watchdog.unref();
  for (const pipe of [watchdog.stdin, watchdog.stdout]) (pipe as unknown as { unref(): void }).unref();
  let child: ChildProcess;

  const start = async () => {
    const out = openSync(log, 'a');
    child = spawn(command[0], command.slice(1), {
      cwd: folder,
      env: { ...process.env, ...options.env },
      ...user,
      // Ctrl-C at the terminal is for the tests; they then stop it.
      detached: true,
      stdio: ['ignore', out, out],
    });
    closeSync(out);
    child.on('error', () => {});
    // Its number may soon be another's.
    child.on('exit', () => rmSync(join(folder, 'pid'), { force: true }));
    child.unref();
    writeFileSync(join(folder, 'pid'), String(child.pid ?? ''));
    const end = Date.now() + START_MS;
    while (!(await ready())) {
      const gone = child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
      if (!gone && Date.now() < end) await sleep(20);
      else throw new Error(`${name} does not start. The end of its log:\n${tail(log)}`);
    }
  };
  const running = () => child.exitCode === null && child.signalCode === null;
  const exited = async () => {
    if (running()) await ended(child);
  };
  const signalTree = async (signal: NodeJS.Signals) => {
    child.kill('SIGSTOP');
    const pids = await tree(child.pid!);
    for (const pid of pids) send(pid, signal);
    return pids;
  };

  const service: Service = {
    async stop() {
      if (watchdog.exitCode !== null) return;
      watchdog.stdin.end();
      await ended(watchdog);
    },
    async kill() {
      if (!running()) return;
      const pids = await signalTree('SIGKILL');
      await exited();
      while ((await processes()).some(({ pid, state }) => pids.includes(pid) && !state.startsWith('Z')))
        await sleep(20);
    },
    async restart() {
      if (running()) {
        child.kill(quit);
        // A frozen one would never hear it.
        await service.resume();
        await exited();
      }
      await start();
    },
    async pause() {
      await signalTree('SIGSTOP');
    },
    async resume() {
      for (const pid of await tree(child.pid!)) send(pid, 'SIGCONT');
    },
  };
  try {
    await start();
    return service;
  } catch (error) {
    await service.stop();
    throw error;
  }
}

/** A temporary folder that other users may look into. */
export function newFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `backtest-fleet-${name}-`));
  chmodSync(folder, 0o755);
  return folder;
}

/**
 * A port of 127.0.0.1 on which nobody listens. Below those that the kernel hands out by itself: while a server is away,
 * one of its clients that tries to reconnect could get the server's own port, and the server could not come back.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 15_000 + Math.floor(Math.random() * 15_000);
    const server = createServer().listen(port, '127.0.0.1');
    const free = await Promise.race([
      once(server, 'listening').then(() => true),
      once(server, 'error').then(() => false),
    ]).catch(() => false);
    if (!free) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}

/** Nothing else may be keeping us from our end, so this must. */
async function ended(child: ChildProcess): Promise<void> {
  child.ref();
  await once(child, 'exit');
}

async function tree(root: number): Promise<number[]> {
  const all = await processes();
  const pids = [root];
  // Grows while it is walked.
  for (const parent of pids) pids.push(...all.filter(({ ppid }) => ppid === parent).map(({ pid }) => pid));
  return pids;
}

async function processes(): Promise<{ pid: number; ppid: number; state: string }[]> {
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid=,stat=']);
  return stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .map(([pid, ppid, state]) => ({ pid: Number(pid), ppid: Number(ppid), state: state! }));
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It is gone.
  }
}

function tail(path: string): string {
  return readFileSync(path, 'utf8').trim().split('\n').slice(-15).join('\n');
}
