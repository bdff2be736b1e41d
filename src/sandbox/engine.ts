import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Docker from 'dockerode';
import { engine } from './call.ts';
import { command } from './command.ts';
import { debianRelease, installPackages, isRoot } from './debian.ts';

export const DEFAULT_HOST = 'unix:///var/run/docker.sock';

const PING_MS = 3_000;
/** How long a starting daemon may take until it answers; the first start on a slow disk takes 10 s. */
const START_MS = 30_000;
/** A login by `su` leaves the sbin folders out of PATH; dockerd needs iptables from there. */
const PROGRAM_FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];
const PID_FILES: [path: string, program: string][] = [
  ['/var/run/docker.pid', 'dockerd'],
  ['/var/run/docker/containerd/containerd.pid', 'containerd'],
];

export interface EngineOptions {
  /** As in DOCKER_HOST: `unix://PATH`, `tcp://HOST:PORT` or `http(s)://...`; default {@link DEFAULT_HOST}. */
  host?: string | undefined;
}

export type EngineState =
  | { reachable: false; host: string; problem: string }
  | {
      reachable: true;
      host: string;
      version: string;
      cgroupVersion: string;
      storageDriver: string;
      runtimes: string[];
      /** What the engine itself warns of, such as a missing swap limit. */
      warnings: string[];
    };

/** Connects to a Docker engine that answers within 3 s. Throws with the command that mends it. */
export async function connectEngine({ host = DEFAULT_HOST }: EngineOptions = {}): Promise<Docker> {
  const docker = new Docker(address(host));
  const code = await pingProblem(docker);
  if (code !== null) throw new Error(engineProblem(code, host, process.platform));
  return docker;
}

/** What `doctor` shows of the engine. Never throws for an engine that is away. */
export async function engineState({ host = DEFAULT_HOST }: EngineOptions = {}): Promise<EngineState> {
  try {
    const docker = await connectEngine({ host });
    const info = await engine('describe itself', () => docker.info());
    return {
      reachable: true,
      host,
      version: info.ServerVersion,
      cgroupVersion: info.CgroupVersion ?? '1',
      storageDriver: info.Driver,
      runtimes: Object.keys(info.Runtimes ?? {}).sort(),
      warnings: info.Warnings ?? [],
    };
  } catch (error) {
    return { reachable: false, host, problem: (error as Error).message };
  }
}

/**
 * Connects to the engine of this machine and, where nothing answers, installs (root on Debian) and starts
 * it (root on Linux). Safe to repeat. Throws with what to run when it may not or cannot.
 */
export async function ensureEngine(
  log: (line: string) => void,
  {
    host = DEFAULT_HOST,
    stateFolder = join(homedir(), '.local/state/backtest-fleet'),
  }: EngineOptions & { stateFolder?: string } = {},
): Promise<Docker> {
  const docker = new Docker(address(host));
  const code = await pingProblem(docker);
  if (code === null) return docker;
  const ours = host === DEFAULT_HOST && process.platform === 'linux' && isRoot();
  if (!ours) throw new Error(engineProblem(code, host, process.platform));
  await installEngine(log);
  if (await answers(docker, 500)) return docker;
  log('starting the Docker engine');
  if (existsSync('/run/systemd/system')) await command('systemctl', ['start', 'docker']);
  else await startDaemon(docker, join(stateFolder, 'dockerd.log'), log);
  if (await answers(docker, START_MS)) return docker;
  throw new Error(`The Docker engine was started but does not answer at ${host}.`);
}

/** The message for an engine that does not answer, given the error code of the attempt. */
export function engineProblem(code: string, host: string, platform: NodeJS.Platform): string {
  if (code === 'EACCES') {
    return `This user may not use the Docker engine at ${host}. Run: sudo usermod -aG docker "$USER", then log in again.`;
  }
  if (code === 'TIMEOUT') {
    return `The Docker engine at ${host} did not answer within ${PING_MS / 1000} s. Restart it, on Linux with: sudo systemctl restart docker`;
  }
  const away = `No Docker engine answers at ${host} (${code}).`;
  if (host !== DEFAULT_HOST)
    return `${away} Check DOCKER_HOST, or unset it to use the engine of this machine.`;
  if (platform !== 'linux') return `${away} Start Docker Desktop.`;
  return `${away} Start it with: sudo systemctl start docker (to install it on Debian: sudo apt-get install docker.io iptables)`;
}

function address(host: string): Docker.DockerOptions {
  // An empty host keeps the client from looking into the environment by itself.
  if (host.startsWith('unix://')) return { socketPath: host.slice('unix://'.length), host: '' };
  const url = URL.canParse(host) ? new URL(host) : null;
  const protocol = url && { 'tcp:': 'http', 'http:': 'http', 'https:': 'https' }[url.protocol];
  if (!url?.hostname || !protocol) {
    throw new Error(
      `DOCKER_HOST is "${host}". It must be like unix:///var/run/docker.sock or tcp://127.0.0.1:2375.`,
    );
  }
  return { host: url.hostname, port: url.port || 2375, protocol: protocol as 'http' | 'https' };
}

/** Null when the engine answers a ping, else the code of what went wrong. */
async function pingProblem(docker: Docker): Promise<string | null> {
  try {
    // The client takes a signal here; its types do not know.
    await docker.ping({ abortSignal: AbortSignal.timeout(PING_MS) } as never);
    return null;
  } catch (error) {
    const { name, code, message } = error as NodeJS.ErrnoException;
    return name === 'AbortError' || name === 'TimeoutError' ? 'TIMEOUT' : (code ?? message);
  }
}

async function answers(docker: Docker, withinMs: number, given = () => true): Promise<boolean> {
  const end = Date.now() + withinMs;
  do {
    if ((await pingProblem(docker)) === null) return true;
    await sleep(100);
  } while (Date.now() < end && given());
  return false;
}

async function installEngine(log: (line: string) => void): Promise<void> {
  const missing = [
    ...(program('dockerd') ? [] : ['docker.io']),
    ...(program('iptables') ? [] : ['iptables']),
  ];
  if (missing.length === 0) return;
  if (await debianRelease()) await installPackages(missing, log);
  else if (!program('dockerd'))
    throw new Error('Docker is not installed. Install Docker Engine and run this again.');
}

/** Starts dockerd in the background; it outlives this process. Throws with its last words if it gives up. */
async function startDaemon(docker: Docker, logFile: string, log: (line: string) => void): Promise<void> {
  if (PID_FILES.map(([path, name]) => dropStalePid(path, name))[0]) return;
  mkdirSync(join(logFile, '..'), { recursive: true });
  const out = openSync(logFile, 'a');
  const from = statSync(logFile).size;
  // The sandbox has no network, so a kernel without netfilter can still serve: hence the second try.
  for (const flags of [[], ['--bridge=none', '--iptables=false', '--ip6tables=false']]) {
    const daemon = spawn('env', [`PATH=${PROGRAM_FOLDERS.join(':')}`, 'dockerd', ...flags], {
      detached: true,
      stdio: ['ignore', out, out],
    });
    daemon.unref();
    if (await answers(docker, START_MS, () => daemon.exitCode === null && daemon.signalCode === null)) return;
    if (daemon.exitCode === null) break;
    log(`dockerd gave up${flags.length ? '' : ', trying without a network bridge'}`);
  }
  const words = readFileSync(logFile).subarray(from).toString().trim().split('\n').slice(-10);
  throw new Error([`dockerd does not start. The end of ${logFile}:`, ...words].join('\n'));
}

/** True when the program of a pid file runs; otherwise removes what a killed one left behind. */
function dropStalePid(path: string, name: string): boolean {
  try {
    const pid = readFileSync(path, 'utf8').trim();
    // The name stands in brackets before the state; a zombie holds nothing any more.
    if (new RegExp(`\\(${name}\\) [^ZX]`).test(readFileSync(`/proc/${pid}/stat`, 'utf8'))) return true;
  } catch {
    // No pid file, or no such process.
  }
  rmSync(path, { force: true });
  return false;
}

function program(name: string): boolean {
  return PROGRAM_FOLDERS.some((folder) => existsSync(join(folder, name)));
}
