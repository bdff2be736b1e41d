import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  createWriteStream,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type FolderStore, openFolderStore } from '../../src/store/folder.ts';
import { Refused } from '../../src/store/refused.ts';
import { openServed, SECRET } from './support.ts';

const PUTTER = fileURLToPath(new URL('./putter.ts', import.meta.url));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'folder-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (at = folder): Promise<FolderStore> =>
  openFolderStore(at, { base_url: 'http://localhost', secret: SECRET });
const temporary = (at = folder): string[] => readdirSync(join(at, 'temp'));
const age = (name: string, hours: number): void => {
  const then = new Date(Date.now() - hours * 3_600_000);
  utimesSync(join(folder, 'temp', name), then, then);
};

test('a process killed while it puts an object leaves none, and its leftover is cleared away later', async () => {
  const store = await open();
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const child = spawn(process.execPath, [PUTTER, folder, 'big', pipe], { stdio: 'ignore' });
  const source = createWriteStream(pipe).on('error', () => {});
  source.write(Buffer.alloc(1_000_000));
  await vi.waitFor(
    () => expect(statSync(join(folder, 'temp', temporary()[0]!)).size).toBeGreaterThan(0),
    30_000,
  );
  child.kill('SIGKILL');
  await once(child, 'close');
  source.destroy();

  expect(await store.head('big')).toBeNull();
  expect(await store.get('big')).toBeNull();
  expect(temporary()).toHaveLength(1);
  await open();
  expect(temporary()).toHaveLength(1);
  age(temporary()[0]!, 2);
  await open();
  expect(temporary()).toEqual([]);
  await store.put('big', Buffer.from('whole'));
  expect(await text((await store.get('big'))!)).toBe('whole');
});

test('of several processes that put an object, one wins, whole', async () => {
  const store = await open();
  const files = ['a', 'b', 'c'].map((letter) => {
    const file = join(folder, letter);
    writeFileSync(file, letter.repeat(3_000_000));
    return file;
  });
  const codes = files.map(async (file) => {
    const child = spawn(process.execPath, [PUTTER, folder, 'runs/one', file], { stdio: 'inherit' });
    return (await once(child, 'close'))[0];
  });
  expect(await Promise.all(codes)).toEqual([0, 0, 0]);
  const bytes = await buffer((await store.get('runs/one'))!);
  expect(bytes.length).toBe(3_000_000);
  expect(new Set(bytes).size).toBe(1);
  expect(temporary()).toEqual([]);
});

test('of two uploads by the same link at once, one is taken', async () => {
  const { store, close } = await openServed(folder);
  const link = await store.signPut('race', 100_000, 60);
  const uploads = ['a', 'b'].map((letter) => {
    const sent = request(link.url, { method: 'PUT', headers: link.headers });
    sent.write(letter.repeat(50_000));
    return { sent, letter };
  });
  await vi.waitFor(() => expect(temporary()).toHaveLength(2), 10_000);
  const statuses = uploads.map(async ({ sent, letter }) => {
    sent.end(letter.repeat(50_000));
    const [answer] = await once(sent, 'response');
    answer.resume();
    return answer.statusCode;
  });
  expect((await Promise.all(statuses)).sort()).toEqual([200, 409]);
  expect(new Set(await text((await store.get('race'))!)).size).toBe(1);
  expect(temporary()).toEqual([]);
  await close();
});

test.each([
  ['too_long', 413, ['123', '456']],
  ['too_short', 400, ['1234']],
  ['too_short', 400, []],
])('an upload that is %s is refused with %i and leaves nothing', async (reason, status, chunks) => {
  const store = await open();
  const body = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  const refused = await store.receive('a', 5, body).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(Refused);
  expect(refused).toMatchObject({ reason, status });
  expect(await store.head('a')).toBeNull();
  expect(temporary()).toEqual([]);
});

test('an upload without an end is refused when it has passed its size', async () => {
  const store = await open();
  const endless = new Readable({ read: () => void endless.push(Buffer.alloc(1000)) });
  await expect(store.receive('a', 5000, endless)).rejects.toThrow('longer than the link allows');
  endless.destroy();
});

test('who sends too much is told so, and may go on by the same connection', async () => {
  const { store, close } = await openServed(folder);
  await store.put('taken', Buffer.from('taken'));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (const [key, size, status] of [
    ['a', 5_000_000, 413],
    ['taken', 5_000_000, 409],
    ['a', 5, 200],
  ] as const) {
    const { url } = await store.signPut(key, 5, 60);
    const sent = request(url, { method: 'PUT', agent });
    sent.end(Buffer.alloc(size));
    const [answer] = await once(sent, 'response');
    expect(answer.statusCode).toBe(status);
    await buffer(answer);
  }
  agent.destroy();
  await close();
});

test.each([
  ['bytes=0-0,2-3', 200],
  ['bytes=4-2', 200],
  ['bytes=-', 200],
  ['lines=1-2', 200],
  ['bytes=-0', 416],
  ['bytes=10-12', 416],
  ['bytes=-100', 206],
])('a download that asks for %s is answered with %i', async (range, status) => {
  const { store, close } = await openServed(folder);
  await store.put('a', Buffer.from('0123456789'));
  const { url } = await store.signGet('a', 60, 'a');
  const answer = await fetch(url, { headers: { range } });
  expect(answer.status).toBe(status);
  if (status === 416) expect(answer.headers.get('content-range')).toBe('bytes */10');
  else expect(await answer.text()).toBe('0123456789');
  await close();
});

test('a link may be asked about with HEAD', async () => {
  const { store, close } = await openServed(folder);
  await store.put('a', Buffer.from('0123456789'));
  const answer = await fetch((await store.signGet('a', 60, 'a')).url, { method: 'HEAD' });
  expect([answer.status, answer.headers.get('content-length')]).toEqual([200, '10']);
  await close();
});

test('an object is not served as a page of the service itself', async () => {
  const store = await open();
  await store.put('page.html', Buffer.from('<script>'));
  const link = store.verify('GET', (await store.signGet('page.html', 60, 'page.html')).url);
  const served = await store.serve(link as never);
  served?.body?.destroy();
  expect(served?.headers).toMatchObject({
    'content-type': 'application/octet-stream',
    'content-disposition': expect.stringMatching(/^attachment;/),
    'x-content-type-options': 'nosniff',
  });
});

test('a link that expired says so, one that was never ours does not', async () => {
  const store = await open();
  const { url } = await store.signGet('a', -1, 'a');
  expect(store.verify('GET', url)).toEqual({ ok: false, reason: 'expired' });
  const other = await openFolderStore(folder, { base_url: 'http://localhost', secret: `${SECRET}.` });
  expect(other.verify('GET', url)).toEqual({ ok: false, reason: 'invalid' });
  for (const wrong of [
    '',
    'http://[',
    '/v1/objects/',
    '/v1/objects/a?expires=9e99&signature=',
    '/v1/runs/a',
  ]) {
    expect(store.verify('GET', wrong)).toEqual({ ok: false, reason: 'invalid' });
  }
});

test('a link to upload holds for its size only', async () => {
  const store = await open();
  const { url } = await store.signPut('a', 5, 60);
  expect(store.verify('PUT', url)).toMatchObject({ ok: true, bytes: 5 });
  expect(store.verify('PUT', url.replace('bytes=5', 'bytes=6'))).toEqual({ ok: false, reason: 'invalid' });
  expect(store.verify('PUT', url.replace('bytes=5&', ''))).toEqual({ ok: false, reason: 'invalid' });
});

test('a link works behind a proxy that puts a folder in front of its path', async () => {
  const store = await openFolderStore(folder, { base_url: 'https://host/backtest/', secret: SECRET });
  const { url } = await store.signPut('a/b', 7, 60);
  expect(url).toMatch(/^https:\/\/host\/backtest\/v1\/objects\/a\/b\?/);
  for (const seen of [url, url.slice('https://host'.length), url.slice('https://host/backtest'.length)]) {
    expect(store.verify('PUT', seen)).toMatchObject({ ok: true, key: 'a/b', bytes: 7 });
  }
});

test('links are not signed with a secret that can be guessed', async () => {
  await expect(openFolderStore(folder, { base_url: 'http://localhost', secret: 'short' })).rejects.toThrow(
    'shorter than 16',
  );
});

test('a folder that cannot be used is refused at once', async () => {
  writeFileSync(join(folder, 'file'), '');
  await expect(open(join(folder, 'file/objects'))).rejects.toThrow(
    /cannot keep objects in .*ENOTDIR.*Choose another/,
  );
});

const probe = mkdtempSync(join(tmpdir(), 'folder-mount-'));
const mounts = spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', probe]).status === 0;
if (mounts) execFileSync('umount', [probe]);
rmSync(probe, { recursive: true });

test.runIf(mounts)('a full disk is said, and keeps nothing of what did not fit', async () => {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', folder]);
  try {
    const store = await open();
    await expect(store.put('large', Buffer.alloc(1_000_000))).rejects.toThrow(
      /The disk is full: make room there/,
    );
    expect(await store.head('large')).toBeNull();
    expect(temporary()).toEqual([]);
    await store.put('small', Buffer.from('fits'));
    expect(await text((await store.get('small'))!)).toBe('fits');
  } finally {
    execFileSync('umount', ['--lazy', folder]);
  }
});
