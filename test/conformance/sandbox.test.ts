import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type Docker from 'dockerode';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Failure, type Language, LIMITS, type Limits, languages } from '../../contract/index.ts';
import { containerName } from '../../src/sandbox/container.ts';
import { dockerSandbox, reapOwn } from '../../src/sandbox/docker.ts';
import { connectEngine } from '../../src/sandbox/engine.ts';
import { imageRecipe } from '../../src/sandbox/images.ts';
import { processSandbox } from '../../src/sandbox/process.ts';
import type { LimitHit, Sandbox } from '../../src/sandbox/sandbox.ts';
import { verdict } from '../../src/sandbox/verdict.ts';
import { Watch } from '../../src/sandbox/watch.ts';
import { type Kind, remains, request, sandboxOf, start, talk } from '../sandbox/boxes.ts';

const MiB = 1024 * 1024;
const PYTHON = 'python@3.14';
const say = (language: Language, python: string, node: string) =>
  start(language, language === PYTHON ? python : node);

describe.each(['docker', 'process'] as const)('a %s sandbox', (kind: Kind) => {
  let docker: Docker | null;
  let sandbox: Sandbox;
  let temp: string;
  /** In the name or the arguments of every box of this test. */
  let mark: string;

  beforeEach(async () => {
    temp = await mkdtemp(join(tmpdir(), 'sbx-'));
    mark = basename(temp);
    docker = kind === 'docker' ? await connectEngine() : null;
    sandbox = await sandboxOf(kind, temp);
  });
  afterEach(async () => {
    await sandbox.close();
    expect(await remains(docker, mark)).toEqual([]);
    expect(await readdir(temp)).toEqual([]);
    await rm(temp, { recursive: true });
  });

  /** Opens a box, lets it load `payload`, ends it, and tells what the author would read. */
  async function judged(
    language: Language,
    payload: Buffer,
    limits: Partial<Limits> = {},
  ): Promise<Failure | null> {
    const box = await sandbox.open(request(`${mark}-judged`, language, limits));
    let limit: LimitHit | null = null;
    const hit = new Promise<void>((resolve) => {
      const told = (what: LimitHit) => {
        limit = what;
        resolve();
      };
      const watch = new Watch({ ...LIMITS, ...limits }, 1, () => box.cpuMs(), told);
      void box.hangup.then(() => watch.close());
    });
    await Promise.race([talk(box).start(payload), hit, box.hangup]);
    const exit = await box.close(0);
    const place = { hook: null, market: null, ts_ms: null };
    const evidence = { ...exit, ended: false, raised: null, limit, violation: box.violation, place };
    return verdict(evidence, { ...LIMITS, ...limits });
  }

  describe.each(languages)('with a %s strategy', (language) => {
    test('goes from START to READY to FINISH to END and exits by itself', async () => {
      const box = await sandbox.open(request(`${mark}-ok`, language));
      const { start, finish } = talk(box);
      expect(await start(say(language, '', ''))).toBe(1);
      expect(await box.cpuMs()).toBeGreaterThan(0);
      expect(await finish()).toBe(true);
      expect(await box.close(10_000)).toMatchObject({ exit_code: 0, signal: null, oom: false });
      expect(box.violation).toBe(null);
    });

    test('ends a strategy that hangs, within its limits', async () => {
      const hang = say(language, 'while True: pass', 'for (;;) {}');
      const limits = { start_ms: 2_000 };
      expect(await judged(language, hang, limits)).toMatchObject({ kind: 'timed_out', detail: /2 s/ });
    });

    test('tells with which code a strategy left', async () => {
      const leave = say(language, 'import os; os._exit(7)', 'process.reallyExit(7)');
      expect(await judged(language, leave)).toMatchObject({ kind: 'early_exit', detail: /code 7/ });
    });

    test('does not take a kill for a lack of memory', async () => {
      const kill = say(
        language,
        'import os; os.kill(os.getpid(), 9)',
        "process.kill(process.pid, 'SIGKILL')",
      );
      expect(await judged(language, kill)).toMatchObject({
        kind: 'early_exit',
        detail: /killed, though not/,
      });
    });

    test('ends one box while another goes on', async () => {
      const [one, two] = await Promise.all([
        sandbox.open(request(`${mark}-one`, language)),
        sandbox.open(request(`${mark}-two`, language)),
      ]);
      const [first, second] = [talk(one), talk(two)];
      await Promise.all([first.start(say(language, '', '')), second.start(say(language, '', ''))]);
      await one.close(0);
      expect(await second.finish()).toBe(true);
      expect(await two.close(10_000)).toMatchObject({ exit_code: 0 });
    });

    test.runIf(kind === 'docker')('knows a lack of memory', async () => {
      const grow = say(
        language,
        "x = []\nwhile True: x.append(b'x' * 1000000)",
        'const x = []; for (;;) x.push(Buffer.alloc(1e6, 1));',
      );
      const failure = await judged(language, grow, { memory_bytes: 96 * MiB });
      expect(failure).toMatchObject({ kind: 'out_of_memory', detail: /96 MiB/ });
    });

    test('says what it runs', async () => {
      expect(JSON.stringify(await sandbox.describe(language))).toMatch(
        kind === 'docker' ? /sha256:/ : /\d+\.\d+/,
      );
    });
  });

  test('a node heap that is full counts as a lack of memory', async () => {
    const grow = start(
      'nodejs@24',
      'const x = []; for (;;) x.push(Array.from({ length: 1000 }, () => ({})));',
    );
    const failure = await judged('nodejs@24', grow, { memory_bytes: 160 * MiB });
    expect(failure?.kind).toBe('out_of_memory');
  });

  test('a flood of raw output neither blocks nor fills us, and ends in time', async () => {
    const flood = start(PYTHON, "import os\nwhile True: os.write(1, b'y' * 65536)");
    expect(await judged(PYTHON, flood, { start_ms: 2_000 })).toMatchObject({ kind: 'timed_out' });
  });

  test('closing twice is closing once', async () => {
    const box = await sandbox.open(request(`${mark}-twice`, PYTHON));
    const closing = box.close(0);
    expect(await box.close(1000)).toBe(await closing);
    await box.hangup;
  });

  test('closing the sandbox closes boxes that are open and boxes that are being opened', async () => {
    await sandbox.open(request(`${mark}-open`, PYTHON));
    const opening = sandbox.open(request(`${mark}-opening`, PYTHON));
    const failed = expect(opening).rejects.toThrow(/closed/);
    await sandbox.close();
    await failed;
    await expect(sandbox.open(request(`${mark}-late`, PYTHON))).rejects.toThrow(/closed/);
  });

  test('a harness that cannot start is a fault of ours, told with its last words, and leaves nothing', async () => {
    const broken =
      docker === null
        ? processSandbox({ temp, harnesses: '/nowhere' })
        : dockerSandbox(docker, async (language) => (await imageRecipe(language)).baseTag, { temp });
    await expect(broken.open(request(`${mark}-broken`, PYTHON))).rejects.toThrow(/main\.py/);
    await broken.close();
  });

  test('a box that is given no time to connect is a fault of ours, and leaves nothing', async () => {
    await expect(sandbox.open(request(`${mark}-late`, PYTHON, { start_ms: 1 }))).rejects.toThrow(/connect/);
  });

  /** Another process with an open box of ours. */
  async function holder(): Promise<ChildProcess> {
    const script = fileURLToPath(new URL('../sandbox/holder.ts', import.meta.url));
    const child = spawn(process.execPath, [script, kind, temp, `${mark}-held`], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const said = once(child.stdout!, 'data').then(String);
    expect(await Promise.race([said, once(child, 'exit')])).toBe('ready\n');
    expect(await remains(docker, mark)).not.toEqual([]);
    return child;
  }

  test('Ctrl-C takes the boxes along', async () => {
    const child = await holder();
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  test('what a killed process leaves behind is removed by the next one', async () => {
    const child = await holder();
    child.kill('SIGKILL');
    await once(child, 'exit');
    await sandbox.close();
    sandbox = await sandboxOf(kind, temp);
    await (await sandbox.open(request(`${mark}-next`, PYTHON))).close(0);
    await sandbox.close();
    // A process whose sockets are gone ends by itself.
    await expect.poll(() => remains(docker, mark), { timeout: 5_000 }).toEqual([]);
    expect(await readdir(temp)).toEqual([]);
  });

  test.runIf(kind === 'docker')('a kill from outside is not laid at the strategy’s door', async () => {
    for (const signal of ['SIGKILL', 'SIGTERM']) {
      const box = await sandbox.open(request(`${mark}-shot`, PYTHON));
      await talk(box).start(start(PYTHON, ''));
      await docker!.getContainer(containerName(`${mark}-shot`)).kill({ signal });
      await box.hangup;
      await expect(box.close(0)).rejects.toThrow(/somebody else/);
    }
  });

  test.runIf(kind === 'docker')('a repeat removes its forerunner', async () => {
    const forerunner = await sandbox.open(request(`${mark}-same`, PYTHON));
    const box = await sandbox.open(request(`${mark}-same`, PYTHON));
    await forerunner.hangup;
    await expect(forerunner.close(0)).rejects.toThrow(/removed by somebody else/);
    expect(await talk(box).start(start(PYTHON, ''))).toBe(1);
  });

  test.runIf(kind === 'docker')('boxes of living processes are not reaped, overdue ones are', async () => {
    const box = await sandbox.open(request(`${mark}-live`, PYTHON));
    const overdue = await sandbox.open({ ...request(`${mark}-old`, PYTHON), deadline_ms: Date.now() - 1 });
    await reapOwn(docker!);
    await overdue.hangup;
    expect(await talk(box).start(start(PYTHON, ''))).toBe(1);
  });
});
