import { constants } from 'node:os';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type Docker from 'dockerode';
import type { Language } from '../../contract/index.ts';
import { boxes, first, type Host } from './box.ts';
import { ENGINE_MS, engine, status } from './call.ts';
import { cpuOf } from './cgroup.ts';
import { containerConfig, Label } from './container.ts';
import { type Tail, tail, unframe } from './diagnostics.ts';
import { lives, owner } from './owner.ts';
import type { BoxRequest, Exit, Sandbox } from './sandbox.ts';

/** How long the engine may hold back the last output of a container that ended. */
const LAST_WORDS_MS = 250;
/** Raw output is no channel: a box that floods it is left to block on a full pipe. */
const FLOOD_BYTES = 4 * 1024 * 1024;

export interface DockerSandboxOptions {
  /** An existing folder for the sockets' folders, under a path that the engine sees too. */
  readonly temp: string;
}

/**
 * Boxes as locked-down containers. `images` gives the id of a language's image. At the first `open`, boxes that a dead
 * process left behind are removed.
 */
export function dockerSandbox(
  docker: Docker,
  images: (language: Language) => Promise<string>,
  { temp }: DockerSandboxOptions,
): Sandbox {
  let reaped: Promise<unknown> | undefined;
  const { open, close } = boxes(temp, async (request, folder) => {
    const image = await images(request.language);
    return startContainer(docker, request, containerConfig(request, image, folder, owner()));
  });
  return {
    kind: 'docker',
    async describe(language) {
      const image = await images(language);
      const { Version, Os, Arch, KernelVersion } = await engine('tell its version', () => docker.version());
      return {
        image,
        engine: Version,
        system: `${Os} ${Arch} ${KernelVersion}`,
      };
    },
    open(request) {
      reaped ??= reapOwn(docker).catch(() => {}); // what is wrong with the engine shows in `open`
      return open(request);
    },
    async close() {
      await close();
      await reaped;
    },
  };
}

/** Removes boxes whose process is gone or whose deadline has passed; returns how many. */
export async function reapOwn(docker: Docker): Promise<number> {
  const all = await engine('list containers', (call) =>
    docker.listContainers({ all: true, filters: { label: [Label.app] }, ...call }),
  );
  const left = all.filter(({ Labels, State }) => {
    const alive = lives(Labels[Label.owner] ?? '');
    const overdue = Number(Labels[Label.deadline]) < Date.now();
    // Whom we cannot see may be on another machine: its box goes only when it has ended.
    return alive === false || overdue || (alive === null && State === 'exited');
  });
  await Promise.all(left.map(({ Id }) => remove(docker, Id)));
  return left.length;
}

/** Starts a container by its config. Where it throws, nothing of it is left. */
export async function startContainer(
  docker: Docker,
  { limits }: BoxRequest,
  config: Docker.ContainerCreateOptions,
): Promise<Host> {
  const name = config.name as string;
  // For the calls that stay open as long as the container lives.
  const open = new AbortController();
  try {
    await remove(docker, name);
    const container = await engine('create a container', (call) =>
      docker.createContainer({ ...config, ...call }),
    );
    const output = tail(limits.diagnostics_bytes);
    const stream = await attach(container, open);
    const silent = keepOutput(stream, output);
    await engine('start a container', (call) => container.start(call));
    const exited = container.wait({ abortSignal: open.signal }).catch(() => {});
    let ours = false;
    return {
      exited,
      async kill() {
        // The engine cannot end a container whose output waits for us to read it.
        stream.destroy();
        ours = true;
        await kill(container, exited);
      },
      async exit() {
        await first([silent], LAST_WORDS_MS);
        return { ...(await end(docker, container, ours)), diagnostics: output.text() };
      },
      async remove() {
        open.abort();
        // Not by its name, which a later box may have by now.
        await remove(docker, container.id);
      },
      cpuMs: cpuReader(container),
    };
  } catch (error) {
    open.abort();
    // By its name: the engine may have made one although its answer was lost.
    await remove(docker, name).catch(() => {});
    throw error;
  }
}

/** Its raw output. Without a time limit once the engine has answered. */
async function attach(container: Docker.Container, open: AbortController): Promise<Readable> {
  const late = setTimeout(() => open.abort(), ENGINE_MS);
  const options = { stream: true, stdout: true, stderr: true, abortSignal: open.signal };
  try {
    return (await engine('attach to a container', () => container.attach(options))) as unknown as Readable;
  } finally {
    clearTimeout(late);
  }
}

/** Never by the client's own demultiplexer, which recurses once a frame. Resolves when the output ends. */
function keepOutput(stream: Readable, output: Tail): Promise<void> {
  const push = unframe(output.write);
  stream.on('data', (chunk: Buffer) => {
    push(chunk);
    if (output.total > FLOOD_BYTES) stream.pause();
  });
  return new Promise((resolve) => {
    for (const event of ['end', 'close', 'error']) stream.on(event, () => resolve());
  });
}

async function kill(container: Docker.Container, exited: Promise<unknown>): Promise<void> {
  const killed = engine('kill a container', (call) => container.kill({ signal: 'SIGKILL', ...call }));
  await status(killed, [404, 409]);
  if (!(await first([exited.then(() => true)], ENGINE_MS)))
    throw new Error(`A killed container did not end within ${ENGINE_MS} ms.`);
}

/** How a container ended. `ours`: we have killed it. Where anybody else has, the strategy is not to blame: throws. */
async function end(
  docker: Docker,
  container: Docker.Container,
  ours: boolean,
): Promise<Omit<Exit, 'diagnostics'>> {
  const { Id, State } = await engine('tell how a container ended; was it removed by somebody else?', (call) =>
    container.inspect(call),
  );
  if (State.Running) throw new Error('The Docker engine lost sight of a container that still runs.');
  const signal = signalOf(State.ExitCode);
  const seen = signal === null ? [] : await eventsOf(docker, Id, State.StartedAt);
  if (seen.includes('kill') && !ours)
    throw new Error(
      `A box was ended with ${signal} by somebody else, or by the Docker engine as it stopped.`,
    );
  // Where the news of the kill came after that of the end, only the list of events has it.
  return { exit_code: State.ExitCode, signal, oom: State.OOMKilled || seen.includes('oom') };
}

/** What the engine has noted of a container's death: `oom` for the kernel's kill, `kill` for one by way of the engine. */
async function eventsOf(docker: Docker, id: string, since: string): Promise<string[]> {
  const options = {
    since: Math.floor(Date.parse(since) / 1000),
    until: Date.now() / 1000,
    filters: { container: [id], event: ['oom', 'kill'] },
  };
  const events = await engine('list events', (call) => docker.getEvents({ ...options, ...call }));
  const seen: string[] = [];
  for await (const line of createInterface({ input: events as Readable })) seen.push(JSON.parse(line).Action);
  return seen;
}

/** A shell's way to tell of a signal; a program may well exit with that number by itself. */
function signalOf(exit_code: number): string | null {
  const found = Object.entries(constants.signals).find(([, number]) => number === exit_code - 128);
  return found ? found[0] : null;
}

/** Finds the container's control group when it is first asked; asks again where the engine did not answer. */
function cpuReader(container: Docker.Container): () => Promise<number | null> {
  let reader: Awaited<ReturnType<typeof cpuOf>> | undefined;
  return async () => {
    if (reader === undefined) {
      const found = await engine('inspect a container', (call) => container.inspect(call)).catch(() => null);
      if (found === null) return null;
      reader = await cpuOf(found.State.Pid, found.Id);
    }
    return (await reader?.()) ?? null;
  };
}

/** Removes a container by id or name and waits until it is gone; one that is not there is fine. */
async function remove(docker: Docker, name: string): Promise<void> {
  const container = docker.getContainer(name);
  for (let tries = 0; tries < 100; tries++) {
    const removed = engine(`remove the container ${name}`, (call) =>
      container.remove({ force: true, v: true, ...call }),
    );
    // 409: somebody else is at it; it is gone when the answer is 404.
    if ((await status(removed, [404, 409])) !== 409) return;
    await sleep(50);
  }
  throw new Error(`The container ${name} cannot be removed. Try: docker rm --force ${name}`);
}
