import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type Docker from 'dockerode';
import { FromBox, type Language, LIMITS, type Limits, ToBox, type WireStart } from '../../contract/index.ts';
import { Label } from '../../src/sandbox/container.ts';
import { dockerSandbox } from '../../src/sandbox/docker.ts';
import { connectEngine } from '../../src/sandbox/engine.ts';
import { resolveImage } from '../../src/sandbox/images.ts';
import { processSandbox } from '../../src/sandbox/process.ts';
import type { Box, BoxRequest, Sandbox } from '../../src/sandbox/sandbox.ts';

export type Kind = Sandbox['kind'];

export async function sandboxOf(kind: Kind, temp: string): Promise<Sandbox> {
  const harnesses = fileURLToPath(new URL('../../sandbox-images', import.meta.url));
  if (kind === 'process') return processSandbox({ temp, harnesses });
  const docker = await connectEngine();
  return dockerSandbox(docker, async (language) => (await resolveImage(docker, language)).id, { temp });
}

export function request(name: string, language: Language, limits: Partial<Limits> = {}): BoxRequest {
  return { name, language, limits: { ...LIMITS, ...limits }, deadline_ms: Date.now() + 300_000 };
}

/** START for a strategy of one file and one hook. `atImport` runs while the file is loaded. */
export function start(language: Language, atImport: string): Buffer {
  const python = language === 'python@3.14';
  const told: WireStart = {
    language,
    entry: python ? 'main.py' : 'main.mjs',
    files: [
      python
        ? {
            name: 'main.py',
            content: `${atImport}\nclass Strategy:\n    def on_start(self, ctx):\n        pass\n`,
          }
        : { name: 'main.mjs', content: `${atImport}\nexport class Strategy { onStart(ctx) {} }\n` },
    ],
    imports: [],
    params: {},
    seed: 0,
    feeds: [],
    depth: false,
    warmup_ms: 0,
    feed_ms: 0,
    limits: LIMITS,
  };
  return Buffer.from(JSON.stringify(told));
}

/** Speaks with a harness that plays no segment: each call resolves at its answer, or at the hangup with null. */
export function talk(box: Box): {
  start(payload: Buffer): Promise<number | null>;
  finish(): Promise<boolean | null>;
} {
  const answers = new Map<number, (payload: Buffer) => void>();
  box.receive((type, payload) => answers.get(type)?.(payload));
  const say = <T>(type: number, payload: Buffer, answer: number, read: (payload: Buffer) => T) =>
    new Promise<T | null>((resolve) => {
      answers.set(answer, (bytes) => resolve(read(bytes)));
      void box.hangup.then(() => resolve(null));
      box.control(type, payload);
    });
  return {
    start: (payload) => say(ToBox.start, payload, FromBox.ready, (bytes) => bytes.readUInt32LE(0)),
    finish: () => say(ToBox.finish, Buffer.alloc(0), FromBox.end, () => true),
  };
}

/** What is left of boxes: containers whose name has `part`, and processes that were given a path with `part`. */
export async function remains(docker: Docker | null, part: string): Promise<string[]> {
  const filters = { label: [Label.app], name: [part] };
  const containers = docker ? await docker.listContainers({ all: true, filters }) : [];
  const processes = readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid) || pid === String(process.pid)) return false;
    try {
      return readFileSync(join('/proc', pid, 'cmdline'), 'utf8').includes(part);
    } catch {
      return false;
    }
  });
  return [...containers.map(({ Names }) => Names[0]), ...processes];
}
