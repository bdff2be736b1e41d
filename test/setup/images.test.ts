import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectEngine } from '../../src/sandbox/engine.ts';
import { imageRecipe, resolveImage } from '../../src/sandbox/images.ts';

let root: string;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'recipes-'));
  cpSync(join(import.meta.dirname, '../../sandbox-images'), root, { recursive: true });
  mkdirSync(join(root, 'python/harness'), { recursive: true });
  write('main.py', 'print(1)');
});

afterAll(() => rmSync(root, { recursive: true }));

function write(name: string, text: string, folder = 'python/harness') {
  mkdirSync(join(root, folder, name, '..'), { recursive: true });
  writeFileSync(join(root, folder, name), text);
}

const recipe = () => imageRecipe('python@3.14', root);

test('a changed harness gives a new image on the same base', async () => {
  const before = await recipe();
  write('main.py', 'print(2)');
  const after = await recipe();
  expect(after.tag).not.toBe(before.tag);
  expect(after.baseTag).toBe(before.baseTag);
  write('main.py', 'print(1)');
  expect(await recipe()).toEqual(before);
});

test('a harness file that moves or is added gives a new image; leftover bytecode does not', async () => {
  const before = await recipe();
  write('__pycache__/main.cpython-314.pyc', 'left by a test');
  expect(await recipe()).toEqual(before);
  write('inner/new.py', '');
  const added = await recipe();
  expect(added.tag).not.toBe(before.tag);
  expect(added.harnessFiles).toContain('python/harness/inner/new.py');
});

test('a changed list of libraries gives a new base and a new image', async () => {
  const before = await recipe();
  write('requirements.txt', 'numpy==1.0\n', 'python');
  const after = await recipe();
  expect(after.baseTag).not.toBe(before.baseTag);
  expect(after.tag).not.toBe(before.tag);
});

test('a clone without a harness says which folder is empty', async () => {
  rmSync(join(root, 'node/harness'), { recursive: true, force: true });
  await expect(imageRecipe('nodejs@24', root)).rejects.toThrow('node/harness holds no files');
});

test.for([
  {
    language: 'python@3.14',
    cmd: ['python3', '-c', 'import sys, numpy, pandas, scipy.stats, pyarrow.parquet; print(sys.version)'],
    version: /^3\.14\./,
  },
  { language: 'nodejs@24', cmd: ['node', '--version'], version: /^v24\./ },
] as const)(
  'the $language image runs what it promises, without a network or a writable root',
  async ({ language, cmd, version }) => {
    const docker = await connectEngine();
    const { id } = await resolveImage(docker, language);
    expect(id).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(await output(id, [...cmd])).toMatch(version);
    expect(await output(id, ['id', '-u'])).toBe('10001');
    expect(await output(id, ['sh', '-c', 'cat /opt/harness/main.* | wc -c'])).toMatch(/^[1-9]/);
    expect(await output(id, ['find', '/opt/harness', '-perm', '/222'])).toBe('');
  },
);

async function output(image: string, Cmd: string[]): Promise<string> {
  const docker = await connectEngine();
  const container = await docker.createContainer({
    Image: image,
    Cmd,
    // A terminal's output comes as it was written, without the engine's framing.
    Tty: true,
    HostConfig: { NetworkMode: 'none', ReadonlyRootfs: true },
  });
  try {
    await container.start();
    await container.wait();
    return (await container.logs({ stdout: true, stderr: true })).toString().trim();
  } finally {
    await container.remove({ force: true });
  }
}
