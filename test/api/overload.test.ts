import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { Unreachable } from '../../contract/index.ts';
import { remembering } from '../../src/api/catalogue.ts';
import { doorFor, waitingLine } from '../../src/api/line.ts';
import { openArchive } from '../../src/archive/catalogue.ts';
import type { Database } from '../../src/database/database.ts';
import { openPglite } from '../../src/database/pglite.ts';
import { SYNTHETIC } from '../run/runs.ts';
import { type Customer, filesOf, type Options, type Service, startApi } from './api.ts';

// What clients are told when the service cannot, and that they are told so in time.

const open: { close(): unknown }[] = [];
let db: Database;
beforeAll(async () => {
  db = await openPglite(null);
});
afterAll(() => db.close());

const start = async (options: Options = {}): Promise<Service> => {
  const api = await startApi({ db, ...options });
  open.push(api);
  return api;
};
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const forever = new AbortController().signal;

const BUSY = { error: 'temporarily unavailable: ask again in a moment' };

/** Everything that needs more than memory. */
const needing = (me: Customer): [string, string, object?][] => [
  ['GET', '/v1/health'],
  ['GET', '/v1/backtest/capacity'],
  ['GET', '/v1/backtest/balance', { key: me.key }],
  ['GET', '/v1/backtest/runs', { key: me.key }],
  ['GET', '/v1/backtest/run/x', { key: me.key }],
  ['GET', '/v1/backtest/run/x/archive', { key: me.key }],
  ['POST', '/v1/backtest/upload', { key: me.key, body: { bytes: 1 } }],
  ['POST', '/v1/backtest/submit', { key: me.key, body: { files: [] } }],
  ['POST', '/v1/backtest/check', { key: me.key, body: { files: [], uploads: { a: 'b' } } }],
];

test('without a database what needs one is 503, and what does not works', async () => {
  const own = await openPglite(null);
  const api = await start({ db: own });
  const me = await api.customer(1);
  await own.close();
  for (const [method, path, call] of needing(me)) {
    const answer = await api.call(method, path, call);
    expect([path, answer.status, answer.body]).toEqual([path, 503, BUSY]);
  }
  expect((await api.call('GET', '/v1/backtest/packs')).status).toBe(200);
  expect((await api.call('POST', '/v1/backtest/quote', { body: {} })).status).toBe(200);
});

/** A web server that answers with what `answer` finds; its address. */
async function serving(answer: (path: string) => Promise<string>): Promise<string> {
  const server = createServer((request, response) => {
    void answer(request.url!).then((body) => response.end(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('an archive that does not answer hangs nobody', async () => {
  const api = await start({ archive: await serving(() => new Promise(() => {})), rate: { answer_ms: 200 } });
  const files = await filesOf('momentum-python');
  const me = await api.customer(1);
  const answers = await Promise.all([
    api.call('GET', '/v1/backtest/packs'),
    api.call('GET', '/v1/backtest/capacity'),
    api.call('POST', '/v1/backtest/quote', { body: {} }),
    api.call('POST', '/v1/backtest/check', { body: { files } }),
    api.call('POST', '/v1/backtest/submit', { key: me.key, body: { files } }),
  ]);
  expect(answers.map(({ status, body }) => [status, body])).toEqual(answers.map(() => [503, BUSY]));
});

test('a submit that came too late for its answer is not taken behind its back', async () => {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const archive = await serving(async (path) => {
    await released;
    if (/^\/venue_a\/index.json$/.test(path))
      return JSON.stringify({ days: await readdir(`${SYNTHETIC}/venue_a`) });
    return readFile(SYNTHETIC + path, 'utf8');
  });
  const api = await start({ archive, rate: { answer_ms: 700 } });
  const { key } = await api.customer(100);
  const body = { files: await filesOf('momentum-python') };
  const submit = () => api.call('POST', '/v1/backtest/submit', { key, body });
  expect((await submit()).status).toBe(503);
  release();
  // It stands behind the first one, which ends at last.
  expect((await submit()).status).toBe(202);
  expect((await api.call('GET', '/v1/backtest/balance', { key })).body.balance).toBe(96);
});

test('an archive that is not there is 503, and says nothing of where it would be', async () => {
  const api = await start({ archive: '/nowhere/at/all' });
  const answer = await api.call('POST', '/v1/backtest/quote', { body: {} });
  expect([answer.status, answer.body]).toEqual([503, BUSY]);
});

test('a body that does not arrive is cut, and so is its connection', async () => {
  const api = await start({ rate: { answer_ms: 200 } });
  const me = await api.customer(1);
  const head = (path: string) =>
    `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${me.key}\r\ncontent-type: application/json\r\n`;
  const { port } = new URL(api.url);
  for (const path of ['/v1/backtest/quote', '/v1/backtest/submit', '/v1/backtest/upload']) {
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(`${head(path)}content-length: 100\r\n\r\n{"bytes":`);
    // Ends only because the service hangs up.
    const answer = await text(socket);
    expect(answer).toContain('HTTP/1.1 408');
    expect(answer).toContain('"error"');
  }
});

test('a client that holds back the ends of many bodies is let in with some of them, and others are not held up', async () => {
  const api = await start();
  const { port } = new URL(api.url);
  const head = 'POST /v1/backtest/check HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n';
  const answers = new Map<string, number>();
  const sockets = Array.from({ length: 40 }, () => {
    const socket = connect(Number(port), '127.0.0.1').setEncoding('utf8');
    socket.write(`${head}content-length: 1600000\r\n\r\n{`);
    socket.on('data', (text: string) => {
      const status = text.slice(9, 12);
      answers.set(status, (answers.get(status) ?? 0) + 1);
    });
    return socket;
  });
  await vi.waitFor(() => expect([...answers]).toEqual([['429', 8]]));
  const ann = await api.customer(10);
  const body = { files: await filesOf('momentum-python') };
  expect((await api.call('POST', '/v1/backtest/submit', { key: ann.key, body })).status).toBe(202);
  const large = { files: [{ name: 'a.py', content: 'x'.repeat(1_500_000) }] };
  expect((await api.call('POST', '/v1/backtest/check', { body: large })).status).toBe(429);
  for (const socket of sockets) socket.destroy();
  await vi.waitFor(async () =>
    expect((await api.call('POST', '/v1/backtest/check', { body: large })).status).toBe(422),
  );
});

test('a door closes when enough is inside, whoever sends it, and opens for each that leaves', () => {
  const door = doorFor(10, 6);
  const ann = new AbortController();
  door('ann', ann.signal, 6);
  door('bob', forever, 4);
  expect(() => door('ann', forever, 1)).toThrow(expect.objectContaining({ status: 429 }));
  expect(() => door('eve', forever, 1)).toThrow(expect.objectContaining({ status: 503 }));
  ann.abort();
  door('eve', forever, 6);
  expect(() => door('ann', forever, 1)).toThrow(expect.objectContaining({ status: 503 }));
});

test('who asks too often is told when to ask again, and others are not held up', async () => {
  const api = await start({ rate: { per_customer_and_minute: 3 } });
  const [ann, bob] = [await api.customer(0), await api.customer(0)];
  const ask = ({ key }: Customer) => api.call('GET', '/v1/backtest/balance', { key });
  for (let i = 0; i < 3; i++) expect((await ask(ann)).status).toBe(200);
  const answer = await ask(ann);
  expect(answer.status).toBe(429);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await ask(bob)).status).toBe(200);
});

test('nobody fills the store with uploads', async () => {
  const api = await start({ limits: { series_bytes: 10 } });
  const { key } = await api.customer(0);
  const ask = (bytes: number) => api.call('POST', '/v1/backtest/upload', { key, body: { bytes } });
  for (let i = 0; i < 63; i++) expect((await ask(10)).status).toBe(200);
  expect((await ask(9)).status).toBe(200);
  expect((await ask(2)).status).toBe(429);
  expect((await ask(1)).status).toBe(200);
});

test('an address has a limit of its own, whatever keys it guesses and routes it tries', async () => {
  const api = await start({ rate: { per_address_and_minute: 4 } });
  // The document was read at the start.
  for (const key of ['a', 'b', 'c'])
    expect((await api.call('GET', '/v1/backtest/balance', { key })).status).toBe(401);
  for (const path of ['/v1/backtest/balance', '/v1/health', '/v1/openapi.json', '/v1/backtest/packs']) {
    const answer = await api.call('GET', path);
    expect([path, answer.status, answer.headers.has('retry-after')]).toEqual([path, 429, true]);
  }
});

test('the address is what the proxies say only where there are proxies', async () => {
  const forwarded = (n: number) => ({ headers: { 'x-forwarded-for': `10.0.0.${n}` } });
  for (const [proxies, last] of [
    [0, 429],
    [1, 200],
  ]) {
    const api = await start({ rate: { per_address_and_minute: 2, proxies } });
    const statuses = [1, 2, 3].map((n) => api.call('GET', '/v1/backtest/contract', forwarded(n)));
    expect(Math.max(...(await Promise.all(statuses)).map(({ status }) => status))).toBe(last);
  }
});

test('an index is read once for many who ask, and again after it could not be read', async () => {
  const reads: string[] = [];
  const archive = remembering({
    ...openArchive(SYNTHETIC),
    async days(venue) {
      reads.push(venue);
      if (reads.length === 1) throw new Error('a bad moment');
      return ['2026-10-14'];
    },
  });
  await expect(archive.days('venue_a')).rejects.toThrow(Unreachable);
  const asked = Array.from({ length: 9 }, () => archive.days('venue_a'));
  expect(await Promise.all(asked)).toEqual(Array(9).fill(['2026-10-14']));
  expect(reads).toEqual(['venue_a', 'venue_a']);
});

test('in the line clients take turns, and none has all slots', async () => {
  const line = waitingLine(3, 100);
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const enter = (client: string) =>
    line(client, forever, () => {
      started.push(client);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
  const all = ['a', 'a', 'a', 'a', 'b', 'b', 'c'].map(enter);
  await Promise.resolve();
  expect(started).toEqual(['a', 'a', 'b']);
  while (started.length < 7) {
    ends.shift()!();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(started).toEqual(['a', 'a', 'b', 'a', 'b', 'c', 'a']);
  for (const end of ends) end();
  await Promise.all(all);
});

test('a full line refuses, and whoever has left is not worked for', async () => {
  const line = waitingLine(2, 1);
  const gone = new AbortController();
  let end = () => {};
  const first = line('a', forever, () => new Promise<void>((resolve) => (end = resolve)));
  const second = line('a', gone.signal, async () => 'worked');
  await expect(line('a', forever, async () => {})).rejects.toMatchObject({ status: 503 });
  gone.abort();
  end();
  await first;
  await expect(second).rejects.toMatchObject({ status: 503 });
  expect(await line('a', forever, async () => 'worked')).toBe('worked');
});
