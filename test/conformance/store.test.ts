import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Unreachable } from '../../contract/unreachable.ts';
import { openFolderStore } from '../../src/store/folder.ts';
import { openS3Store } from '../../src/store/s3.ts';
import type { ObjectStore, Signed } from '../../src/store/store.ts';
import { startS3 } from '../services/s3.ts';
import { openServed, SECRET, sha256 } from '../store/support.ts';

interface Subject {
  readonly store: ObjectStore;
  /** A store of the same kind that is away. */
  away(): Promise<ObjectStore>;
  stop(): Promise<void>;
}

const scratch = mkdtempSync(join(tmpdir(), 'store-test-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

async function folderSubject(): Promise<Subject> {
  const { store, close } = await openServed(join(scratch, 'objects'));
  const away = async (): Promise<ObjectStore> => {
    const gone = join(scratch, 'gone');
    const opened = await openFolderStore(gone, { base_url: 'http://localhost', secret: SECRET });
    rmSync(gone, { recursive: true });
    return opened;
  };
  return { store, away, stop: close };
}

async function s3Subject(conditional: boolean): Promise<Subject> {
  const server = await startS3({ conditional });
  const store = openS3Store({ ...server, prefix: 'some/folder/' });
  await store.probe();
  const away = async () => openS3Store({ ...server, endpoint: `http://127.0.0.1:${await freePort()}` });
  const stop = async (): Promise<void> => {
    await store.close();
    await server.stop();
  };
  return { store, away, stop };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

const subjects = [
  { name: 'a folder', open: folderSubject, one_use: true },
  { name: 'S3', open: () => s3Subject(true), one_use: true },
  { name: 'an S3 that cannot keep a PUT from overwriting', open: () => s3Subject(false), one_use: false },
];

const bytes = (value: string): Buffer => Buffer.from(value);

const NO_KEYS = [
  ...['', '/', '/a', 'a/', 'a//b', '.', '..', '../a', 'a/../../b', 'a/./b', 'a/..'],
  ...['A', 'ä', 'a b', 'a\0', 'a\n', 'a\\b', 'a%2e', 'a'.repeat(251), `${'a/'.repeat(256)}a`],
];
/** How a server refuses a link that it did not sign; 400 where it cannot even be one. */
const REFUSED = [400, 403];

describe.each(subjects)('objects in $name', ({ open, one_use }) => {
  let subject: Subject;
  let store: ObjectStore;
  beforeAll(async () => {
    subject = await open();
    store = subject.store;
  });
  afterAll(async () => subject?.stop());

  const read = async (key: string): Promise<string | null> => {
    const stream = await store.get(key);
    return stream && text(stream);
  };
  const upload = (link: Signed, body: string): Promise<Response> => {
    const { 'content-length': _, ...headers } = link.headers;
    return fetch(link.url, { method: 'PUT', headers, body });
  };

  test('come back as they were put', async () => {
    await store.put('runs/r-1/source.json', bytes('{}'));
    expect(await read('runs/r-1/source.json')).toBe('{}');
    expect(await store.head('runs/r-1/source.json')).toBe(2);
  });

  test('may be empty', async () => {
    await store.put('empty', new Uint8Array());
    writeFileSync(join(scratch, 'empty'), '');
    await store.put('empty-file', { file: join(scratch, 'empty') });
    for (const key of ['empty', 'empty-file']) {
      expect(await store.head(key)).toBe(0);
      expect(await read(key)).toBe('');
    }
  });

  test('may be large, from memory and from a file', async () => {
    const large = randomBytes(20_000_000);
    const file = join(scratch, 'large');
    writeFileSync(file, large);
    await Promise.all([store.put('large-bytes', large), store.put('large-file', { file })]);
    for (const key of ['large-bytes', 'large-file']) {
      expect(await store.head(key)).toBe(large.length);
      expect(sha256(await buffer((await store.get(key))!))).toBe(sha256(large));
    }
  });

  test('are not made from a file that is not there', async () => {
    await expect(store.put('from-nothing', { file: join(scratch, 'nothing') })).rejects.toThrow('ENOENT');
    expect(await store.head('from-nothing')).toBeNull();
  });

  test('can be left in the middle', async () => {
    await store.put('half-read', Buffer.alloc(200_000));
    for (let at = 0; at < 4; at++) {
      const stream = await store.get('half-read');
      if (at % 2) await once(stream!, 'readable');
      stream!.destroy();
    }
    expect((await buffer((await store.get('half-read'))!)).length).toBe(200_000);
  });

  test('that are not there are null, and nothing to remove', async () => {
    expect(await store.get('missing')).toBeNull();
    expect(await store.head('missing')).toBeNull();
    await store.remove('missing');
    await store.put('removed', bytes('x'));
    await store.remove('removed');
    expect(await store.head('removed')).toBeNull();
  });

  test('keep what was put first', async () => {
    await store.put('twice', bytes('first'));
    await store.put('twice', bytes('second'));
    writeFileSync(join(scratch, 'third'), 'third');
    await store.put('twice', { file: join(scratch, 'third') });
    expect(await read('twice')).toBe('first');
  });

  test('are one of those put at once, whole, and stay so', async () => {
    const bodies = Array.from({ length: 8 }, (_, at) => Buffer.alloc(100_000, 'abcdefgh'[at]!));
    await Promise.all(bodies.map((body) => store.put('race', body)));
    const won = await buffer((await store.get('race'))!);
    expect(bodies.map(sha256)).toContain(sha256(won));
    await Promise.all(bodies.map((body) => store.put('race', body)));
    expect(sha256(await buffer((await store.get('race'))!))).toBe(sha256(won));
  });

  test('are not to be had under a key that is none', async () => {
    const refusal = 'no key of an object';
    for (const key of NO_KEYS) {
      await expect(store.put(key, bytes('x'))).rejects.toThrow(refusal);
      await expect(store.get(key)).rejects.toThrow(refusal);
      await expect(store.head(key)).rejects.toThrow(refusal);
      await expect(store.remove(key)).rejects.toThrow(refusal);
      await expect(store.signGet(key, 60, 'x')).rejects.toThrow(refusal);
      await expect(store.signPut(key, 1, 60)).rejects.toThrow(refusal);
    }
  });

  test('may have any valid key, also one that goes on where another ends', async () => {
    const keys = ['a', 'a/b', 'a/b/c', 'a-', '..a', '_.-', 'a'.repeat(250), `${'a/'.repeat(255)}bc`];
    for (const key of keys) await store.put(key, bytes(key));
    for (const key of keys) expect(await read(key)).toBe(key);
  });

  test('are downloaded by a link, whole and in parts', async () => {
    await store.put('report.zip', bytes('0123456789'));
    const { url, headers, expires_in } = await store.signGet('report.zip', 60, 'my "report", é.zip');
    expect({ headers, expires_in }).toEqual({ headers: {}, expires_in: 60 });
    const whole = await fetch(url);
    expect(whole.status).toBe(200);
    expect(whole.headers.get('content-type')).toBe('application/zip');
    expect(whole.headers.get('content-length')).toBe('10');
    expect(whole.headers.get('content-disposition')).toBe(
      `attachment; filename="my _report_, _.zip"; filename*=UTF-8''my%20%22report%22%2C%20%C3%A9.zip`,
    );
    expect(whole.headers.get('etag')).toMatch(/^".+"$/);
    expect(await whole.text()).toBe('0123456789');
    for (const [range, part, place] of [
      ['bytes=2-4', '234', 'bytes 2-4/10'],
      ['bytes=7-', '789', 'bytes 7-9/10'],
      ['bytes=-2', '89', 'bytes 8-9/10'],
      ['bytes=8-99', '89', 'bytes 8-9/10'],
    ] as const) {
      const answer = await fetch(url, { headers: { range } });
      expect([answer.status, answer.headers.get('content-range')]).toEqual([206, place]);
      expect(await answer.text()).toBe(part);
    }
    expect((await fetch(url, { headers: { range: 'bytes=10-' } })).status).toBe(416);
  });

  test('are not downloaded by a link that was changed', async () => {
    await store.put('mine', bytes('mine'));
    await store.put('yours', bytes('yours'));
    const { url } = await store.signGet('mine', 60, 'name');
    const changed = [
      url.replace('/mine', '/yours'),
      url.replace('name', 'game'),
      url.replace(/(expires=)\d/i, '$19'),
      url.replace(/(signature=)./i, (_, before: string) => `${before}!`),
      url.replace(/&[^&]*signature=[^&]*/i, ''),
      url.replace(/\?.*/, ''),
    ];
    for (const other of changed) {
      expect(other).not.toBe(url);
      expect(REFUSED).toContain((await fetch(other)).status);
    }
    expect((await fetch(url, { method: 'PUT', body: 'x' })).status).toBe(403);
    expect((await fetch(url)).status).toBe(200);
  });

  test('that are gone are not found by their link', async () => {
    const { url } = await store.signGet('gone', 60, 'gone');
    expect((await fetch(url)).status).toBe(404);
  });

  test('are uploaded by a link, in exactly its size', async () => {
    const link = await store.signPut('uploads/series.csv', 5, 60);
    expect(link.expires_in).toBe(60);
    expect(link.headers['content-length']).toBe('5');
    for (const body of ['', 'shor', 'longer']) expect((await upload(link, body)).ok).toBe(false);
    expect(await store.head('uploads/series.csv')).toBeNull();
    expect((await upload(link, 'exact')).status).toBe(200);
    expect(await read('uploads/series.csv')).toBe('exact');
  });

  test('are not left in part by an upload that breaks off', async () => {
    const link = await store.signPut('broken', 100_000, 60);
    const sent = request(link.url, { method: 'PUT', headers: link.headers }).on('error', () => {});
    await new Promise((resolve) => sent.write(Buffer.alloc(50_000), resolve));
    sent.destroy();
    expect((await upload(link, 'x'.repeat(100_000))).status).toBe(200);
    expect(await read('broken')).toBe('x'.repeat(100_000));
  });

  test.runIf(one_use)('are uploaded once', async () => {
    const link = await store.signPut('once', 5, 60);
    const other = await store.signPut('once', 6, 60);
    expect((await upload(link, 'first')).status).toBe(200);
    expect((await upload(link, 'again')).ok).toBe(false);
    expect((await upload(other, 'others')).ok).toBe(false);
    expect(await read('once')).toBe('first');
  });

  test('are not uploaded by a link that was changed', async () => {
    const link = await store.signPut('chosen', 5, 60);
    for (const url of [link.url.replace('/chosen', '/other'), link.url.replace(/\?.*/, '')]) {
      expect(REFUSED).toContain((await upload({ ...link, url }, 'bytes')).status);
    }
    expect((await fetch(link.url)).status).toBe(403);
    expect(await store.head('other')).toBeNull();
  });

  test('are out of reach once their links have expired', async () => {
    await store.put('brief', bytes('brief'));
    const down = await store.signGet('brief', 1, 'brief');
    const up = await store.signPut('late', 4, 1);
    await sleep(2_100);
    expect((await fetch(down.url)).status).toBe(403);
    expect((await upload(up, 'late')).status).toBe(403);
    expect(await store.head('late')).toBeNull();
  });

  test('are probed without leaving a trace', async () => {
    await store.probe();
    const folder = join(scratch, 'objects/objects/probe+');
    if (existsSync(folder)) expect(readdirSync(folder)).toEqual([]);
  });

  test('of a store that is away are Unreachable', async () => {
    const away = await subject.away();
    const works = [away.put('a', bytes('a')), away.get('a'), away.head('a'), away.remove('a'), away.probe()];
    await Promise.all(works.map((work) => expect(work).rejects.toThrow(Unreachable)));
    await away.close();
  });
});
