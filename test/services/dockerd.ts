import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import type Docker from 'dockerode';
import { languages } from '../../contract/index.ts';
import { connectEngine } from '../../src/sandbox/engine.ts';
import { resolveImage } from '../../src/sandbox/images.ts';
import { newFolder, type Service, startService } from './service.ts';

/** Keeps the engines' images from one test run to the next. */
const STATE = join(homedir(), '.local/state/backtest-fleet/test-engine');
/** Sets this engine's containers, shims and cgroups apart from those of the machine's engine. */
const NAME = 'backtest-fleet-test';
const PATH = [process.env.PATH, '/usr/local/sbin', '/usr/sbin', '/sbin'].join(delimiter);

export interface Dockerd extends Service {
  /** As in DOCKER_HOST. */
  readonly host: string;
}

/** Null where this user of this machine can start an engine of their own, else why not. */
export function canStartDockerd(): string | null {
  if (process.platform !== 'linux') return 'An engine for tests takes Linux.';
  if (process.getuid?.() !== 0) return 'An engine for tests takes root.';
  const found = PATH.split(delimiter).some((folder) => existsSync(join(folder, 'dockerd')));
  return found ? null : 'dockerd is not installed. Run: sudo apt-get install docker.io';
}

/**
 * A Docker engine beside the machine's own, which holds the sandbox images that this one has, and no containers. It may be
 * killed: what then remains of its containers is for `restart` to find, as in life. One at a time: a second one waits
 * until the first is stopped. The first start with new images copies them, which takes half a minute.
 */
export async function startDockerd(log: (line: string) => void = console.error): Promise<Dockerd> {
  const problem = canStartDockerd();
  if (problem) throw new Error(problem);
  const source = await connectEngine();
  const images = await Promise.all(languages.map((language) => resolveImage(source, language)));
  const key = createHash('sha256')
    .update(images.map(({ id }) => id).join())
    .digest('hex')
    .slice(0, 16);
  const root = join(STATE, key);
  mkdirSync(STATE, { recursive: true });
  const folder = newFolder('dockerd');
  const socket = join(folder, 'docker.sock');
  const host = `unix://${socket}`;
  const flags = {
    host,
    'data-root': root,
    'exec-root': join(folder, 'exec'),
    pidfile: join(folder, 'docker.pid'),
    group: 'root',
    'containerd-namespace': NAME,
    'containerd-plugins-namespace': `${NAME}-plugins`,
    'cgroup-parent': `/${NAME}`,
    // The other driver wants systemd, and a name that systemd likes.
    'exec-opt': 'native.cgroupdriver=cgroupfs',
    // Boxes have no network, and the machine's is not ours to change.
    bridge: 'none',
    iptables: 'false',
    ip6tables: 'false',
    'ip-forward': 'false',
    'shutdown-timeout': '1',
  };
  const service = await startService({
    name: 'dockerd',
    folder,
    lock: join(STATE, 'lock'),
    command: ['dockerd', ...Object.entries(flags).map(([name, value]) => `--${name}=${value}`)],
    env: { PATH },
    quit: 'SIGTERM',
    ready: () =>
      connectEngine({ host }).then(
        () => true,
        () => false,
      ),
    sweep: sweep(root),
  });
  try {
    const docker = await connectEngine({ host });
    const left = await docker.listContainers({ all: true });
    await Promise.all(left.map(({ Id }) => docker.getContainer(Id).remove({ force: true })));
    if (!existsSync(join(root, 'complete'))) await fill(source, docker, images, root, log);
    const kill = async () => {
      await service.kill();
      // A dead containerd that nobody has reaped yet passes for one that runs.
      rmSync(join(flags['exec-root'], 'containerd/containerd.pid'), { force: true });
    };
    return { ...service, host, kill };
  } catch (error) {
    await service.stop();
    throw error;
  }
}

async function fill(
  source: Docker,
  docker: Docker,
  images: { tag: string }[],
  root: string,
  log: (line: string) => void,
): Promise<void> {
  log('copying the sandbox images into an engine for tests');
  const from = Date.now();
  for (const { tag } of images) {
    const progress = await docker.loadImage(await source.getImage(tag).get(), { quiet: true });
    for await (const _ of progress);
  }
  writeFileSync(join(root, 'complete'), '');
  for (const name of readdirSync(STATE))
    if (name !== 'lock' && join(STATE, name) !== root) rmSync(join(STATE, name), { recursive: true });
  log(`copied them in ${((Date.now() - from) / 1000).toFixed(0)} s`);
}

/** Shims have left the process tree of their engine, so that containers outlive it. Then come mounts, sockets, cgroups. */
function sweep(root: string): string {
  return `
for pid in $(ps -A -o pid=,comm=,args= | awk '$2 ~ /^containerd-shim/ && / -namespace ${NAME} / { print $1 }'); do
  kill -KILL $(tree "$pid")
done
awk -v data='${root}' -v run="$1" 'index($2, data) == 1 || index($2, run) == 1 { print $2 }' /proc/mounts |
  sort -r | xargs -r umount -l
cat "$1"/exec/containerd/daemon/io.containerd.runtime.v*/*/*/address | sed 's,^unix://,,' | xargs -r rm -f
[ -e '${root}/complete' ] || rm -rf '${root}'
find /sys/fs/cgroup -depth -type d -path '*/${NAME}*' -exec rmdir {} +
`;
}
