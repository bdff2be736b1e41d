import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Language, Limits } from '../../contract/index.ts';
import { boxes, first, type Host } from './box.ts';
import { ENV, harnessArguments } from './container.ts';
import { tail } from './diagnostics.ts';
import type { BoxRequest, Sandbox } from './sandbox.ts';

const run = promisify(execFile);
const PRLIMIT = '/usr/bin/prlimit';
/** How long output may trail the end of its process: a grandchild may hold it open. */
const LAST_WORDS_MS = 250;

export interface ProcessSandboxOptions {
  /** An existing folder for the boxes' folders. */
  readonly temp: string;
  /** The package's folder `sandbox-images`, which holds the harnesses. */
  readonly harnesses: string;
}

/**
 * Boxes as plain processes of this machine, for one's own code only: nothing keeps a strategy from this user's files or
 * from the network. Memory is limited where Linux can do it; time and output are as everywhere.
 */
export function processSandbox({ temp, harnesses }: ProcessSandboxOptions): Sandbox {
  const python = once(() => findPython());
  const runtimeOf = (language: Language) => (language === 'python@3.14' ? python() : findNode());
  const { open, close } = boxes(temp, async (request, folder) => {
    const { program } = await runtimeOf(request.language);
    const main = join(
      harnesses,
      request.language === 'python@3.14' ? 'python/harness/main.py' : 'node/harness/main.mjs',
    );
    const work = join(dirname(folder), 'work');
    await mkdir(work);
    const args = [...harnessArguments(request.language, request.limits.memory_bytes, main), folder, work];
    return startProcess(request, program, args, work);
  });
  return {
    kind: 'process',
    open,
    close,
    describe: async (language) => ({ runtime: (await runtimeOf(language)).version }),
  };
}

async function startProcess(
  { language, limits }: BoxRequest,
  program: string,
  args: string[],
  work: string,
): Promise<Host> {
  const limited = existsSync(PRLIMIT) ? [PRLIMIT, ...limitsOf(language, limits), program] : [program];
  const child = spawn(limited[0], [...limited.slice(1), ...args], {
    cwd: work,
    env: { ...ENV[language], HOME: work, TMPDIR: work },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own: what it starts dies with it, and Ctrl-C at our terminal is ours alone.
    detached: true,
  });
  const output = tail(limits.diagnostics_bytes);
  child.stdout.on('data', output.write);
  child.stderr.on('data', output.write);
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const silent = new Promise<void>((resolve) => child.once('close', () => resolve()));
  await new Promise((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  void exited.then(() => killGroup(child));
  const kill = async () => {
    killGroup(child);
    await exited;
  };
  return {
    exited,
    kill,
    async exit() {
      await first([silent], LAST_WORDS_MS);
      return { exit_code: child.exitCode, signal: child.signalCode, oom: false, diagnostics: output.text() };
    },
    async remove() {
      await kill();
      child.stdout.destroy();
      child.stderr.destroy();
    },
    cpuMs: () => cpuMs(child.pid!),
  };
}

/** V8 reserves more than it ever uses, so the kernel's limit would end it at once; its heap has a limit of its own. */
function limitsOf(language: Language, { memory_bytes, open_files }: Limits): string[] {
  const data = language === 'python@3.14' ? [`--data=${memory_bytes}`] : [];
  return ['--core=0', `--nofile=${open_files}`, ...data];
}

function killGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-pid!, 'SIGKILL');
  } catch {
    // Nobody of it is left.
  }
}

/** Of the process and the children that it has waited for; null where there is no /proc. */
async function cpuMs(pid: number): Promise<number | null> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // utime, stime, cutime, cstime; Linux counts them in hundredths of a second for everybody.
    return 10 * fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0);
  } catch {
    return null;
  }
}

interface Runtime {
  readonly program: string;
  readonly version: string;
}

async function findNode(): Promise<Runtime> {
  const { version, execPath } = process;
  if (Number.parseInt(version.slice(1), 10) < 24)
    throw new Error(
      `Without Docker, a nodejs@24 strategy needs Node.js 24; this is ${version}. Install Node.js 24, or use Docker.`,
    );
  return { program: execPath, version: `Node.js ${version}` };
}

async function findPython(): Promise<Runtime> {
  const need = 'Without Docker, a python@3.14 strategy needs Python 3.11 or newer as `python3`';
  const ask = 'import sys; print(sys.executable); print(".".join(map(str, sys.version_info[:3])))';
  const { stdout } = await run('python3', ['-c', ask]).catch((error: Error) => {
    throw new Error(`${need}, which does not start. Install Python, or use Docker.`, { cause: error });
  });
  const [program, version] = stdout.trim().split('\n');
  const [major, minor] = version.split('.').map(Number);
  if (major !== 3 || minor < 11)
    throw new Error(`${need}; this is ${version}. Install a newer Python, or use Docker.`);
  return { program, version: `Python ${version}` };
}

/** Asks once, and again only after a failure. */
function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  return () => {
    answer ??= ask().catch((error) => {
      answer = undefined;
      throw error;
    });
    return answer;
  };
}
