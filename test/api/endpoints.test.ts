import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIMITS, type SourceFile } from '../../contract/index.ts';
import { type Customer, filesOf, type Service, startApi } from './api.ts';

// Statuses and texts that the service's description fixes, one by one.

let api: Service;
let ann: Customer;
let files: SourceFile[];
let withSeries: SourceFile[];

beforeAll(async () => {
  api = await startApi();
  ann = await api.customer(1_000);
  files = await filesOf('momentum-python');
  withSeries = await filesOf('kline-series-python');
});
afterAll(() => api.close());

const SIGNAL = 'time,bias\n1792015200000,1\n1792015500000,-1\n';
const get = (path: string, customer?: Customer) => api.call('GET', path, customer && { key: customer.key });
const post = (path: string, body: unknown, customer?: Customer, headers = {}) =>
  api.call('POST', `/v1/backtest/${path}`, { body, headers, ...(customer && { key: customer.key }) });

/** Uploads a series as a client does; answers its key. */
async function uploaded(customer: Customer, text: string): Promise<string> {
  const { body } = await post('upload', { bytes: Buffer.byteLength(text) }, customer);
  const put = await fetch(body.url, { method: 'PUT', headers: body.headers, body: text });
  expect(put.status).toBe(200);
  return body.key;
}

/** A run that a worker has finished, its archive being `zip`. */
async function finished(customer: Customer, zip: string): Promise<{ id: string; sha256: string }> {
  const id = (await post('submit', { files }, customer)).body.run_id;
  const sha256 = createHash('sha256').update(zip).digest('hex');
  await api.store.put(`run/${id}/1/${sha256}.zip`, Buffer.from(zip));
  await api.db.query(
    `update run set status = 'done', credits_spent = 4, started_ms = now_ms(), finished_ms = now_ms(),
       archive = $2, archive_bytes = $3, archive_sha256 = $4 where id = $1`,
    [id, `run/${id}/1/${sha256}.zip`, zip.length, sha256],
  );
  return { id, sha256 };
}

test('health is fine while the database answers', async () => {
  expect((await get('/v1/health')).body).toEqual({ ok: true });
});

test('the document is OpenAPI 3.1.0, version 3.0.0, and lists every endpoint and no other', async () => {
  const { body } = await get('/v1/openapi.json');
  expect([body.openapi, body.info.version]).toEqual(['3.1.0', '3.0.0']);
  const quote = body.paths['/v1/backtest/quote'].post.requestBody.content['application/json'].schema;
  expect(quote.properties.from).toMatchObject({ type: 'string', format: 'date' });
  expect(quote.additionalProperties).toBe(false);
  const operations = Object.entries(body.paths).flatMap(([path, of]) =>
    Object.keys(of as object).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(operations.sort()).toEqual([
    'GET /v1/backtest/balance',
    'GET /v1/backtest/capacity',
    'GET /v1/backtest/contract',
    'GET /v1/backtest/packs',
    'GET /v1/backtest/run/{id}',
    'GET /v1/backtest/run/{id}/archive',
    'GET /v1/backtest/runs',
    'GET /v1/health',
    'GET /v1/openapi.json',
    'POST /v1/backtest/check',
    'POST /v1/backtest/quote',
    'POST /v1/backtest/submit',
    'POST /v1/backtest/upload',
  ]);
});

test('what anybody may ask needs no key', async () => {
  expect((await get('/v1/backtest/contract')).body.languages).toEqual(['python@3.14', 'nodejs@24']);
  expect((await get('/v1/backtest/packs')).body.venues.venue_a.assets).toEqual(['BTC', 'ETH']);
  expect((await get('/v1/backtest/capacity')).body).toMatchObject({
    venues: { venue_a: { firstDay: '2026-10-14', lastDay: '2026-10-15', days: 2 }, venue_b: { days: 2 } },
    workers: 0,
  });
  expect(Object.keys((await get('/v1/backtest/capacity?venue=venue_b')).body.venues)).toEqual(['venue_b']);
  expect((await get('/v1/backtest/capacity?venue=venue_c')).status).toBe(400);
});

test('a quote counts market-days and cells, and says about what they cost', async () => {
  const { status, body } = await post('quote', { assets: ['BTC'], sweep_cells: 3, mode: 'session' });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    ok: true,
    quote: { venue: 'venue_a', marketDays: 2, sweepCells: 3, credits: 6, mode: 'session', approxUsd: 0.6 },
  });
  expect(body.quote.approx).toEqual({ usd: 0.6, cny: 4.32 });
});

test.each([
  [{ days: 0 }, 'E_SCOPE', 'days: expected at least 1'],
  [{ venue: 'venue_c' }, 'E_SCOPE', 'venue: '],
  [{ from: '2026-02-30', to: '2026-10-14' }, 'E_SCOPE', 'from: expected a UTC day'],
  [{ assets: ['DOGE'] }, 'E_SCOPE', 'DOGE'],
  [{ intervals: ['7m'] }, 'E_SCOPE', '7m'],
  [{ days: 93 }, 'E_LIMIT', '92'],
  [{ sweep_cells: 257 }, 'E_LIMIT', '256'],
  [{ dyas: 3 }, 'E_BODY', 'unknown field "dyas". Did you mean days?'],
  ['{"days": ', 'E_BODY', 'the body is no JSON'],
  ['', 'E_BODY', 'the body is no JSON'],
  [[], 'E_BODY', 'the body: '],
])('the quote of %j is refused with %s', async (body, code, detail) => {
  const answer = await post('quote', body);
  expect(answer.status).toBe(422);
  expect(answer.body).toMatchObject({ ok: false, code });
  expect(answer.body.detail).toContain(detail);
});

test('a check tells what was understood and the price, and needs no key', async () => {
  const { status, body } = await post('check', { files, assets: ['BTC'] });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    ok: true,
    manifest: { name: 'momentum', capital: 1000 },
    hooks: ['on_market_open', 'on_price', 'on_order', 'on_fill'],
    imports: ['collections'],
    quote: { credits: 2, approxUsd: 0.2 },
  });
  expect(body.total_bytes).toBe(
    body.files.reduce((sum: number, file: { bytes: number }) => sum + file.bytes, 0),
  );
});

test.each([
  [{ files: [] }, 'E_MANIFEST'],
  [{}, 'E_BODY'],
  [{ files: [{ name: 'manifest.json' }] }, 'E_BODY'],
  [{ files: [{ name: 'manifest.json', content: '{}', mode: 7 }] }, 'E_BODY'],
  [{ files: [], email: 'nobody' }, 'E_BODY'],
  [{ files: [], locale: 'de' }, 'E_BODY'],
  [{ files: [{ name: '../x', content: '' }] }, 'E_LIMIT'],
  [{ files: [], days: -1 }, 'E_SCOPE'],
])('check and submit refuse %j alike, and it costs nothing', async (body, code) => {
  const bob = await api.customer(10);
  for (const path of ['check', 'submit']) {
    const answer = await post(path, body, bob);
    expect([answer.status, answer.body.ok, answer.body.code]).toEqual([422, false, code]);
  }
  expect((await get('/v1/backtest/balance', bob)).body.balance).toBe(10);
});

test('more source than a strategy may have is refused, however much more it is', async () => {
  for (const bytes of [LIMITS.source_bytes + 1, 2_000_000]) {
    const answer = await post('check', { files: [{ name: 'a.py', content: 'x'.repeat(bytes) }] });
    expect([answer.status, answer.body.code]).toEqual([422, 'E_LIMIT']);
  }
});

test('a body that is not said to be JSON is refused', async () => {
  const answer = await post('check', '{}', undefined, { 'content-type': 'text/plain' });
  expect([answer.status, answer.body.code]).toEqual([422, 'E_BODY']);
});

test('a submit holds the credits, queues the run and shows it', async () => {
  const bob = await api.customer(10);
  const { status, body } = await post('submit', { files, email: 'bob@example.com', locale: 'zh' }, bob);
  expect(status).toBe(202);
  expect(body).toMatchObject({ ok: true, status: 'queued', credits_held: 4, quote: { credits: 4 } });
  const run = (await get(`/v1/backtest/run/${body.run_id}`, bob)).body;
  expect(run).toMatchObject({
    run_id: body.run_id,
    status: 'queued',
    language: 'python@3.14',
    assets: ['BTC', 'ETH'],
    from: '2026-10-14',
    to: '2026-10-15',
    market_days: 4,
    credits_held: 4,
    credits_spent: null,
    archive_available: false,
    source_sha256: body.source_sha256,
  });
  expect(run.queue_position).toBeGreaterThan(0);
  expect((await get('/v1/backtest/runs', bob)).body.runs).toEqual([run]);
  const { balance, history } = (await get('/v1/backtest/balance', bob)).body;
  expect(balance).toBe(6);
  expect(history[0]).toMatchObject({ kind: 'hold', change: -4, run_id: body.run_id });
  expect(await api.db.query('select email, locale from run where id = $1', [body.run_id])).toEqual([
    { email: 'bob@example.com', locale: 'zh' },
  ]);
});

test('too few credits are told with the balance, what is needed and the quote', async () => {
  const bob = await api.customer(3);
  const { status, body } = await post('submit', { files }, bob);
  expect(status).toBe(402);
  expect(body).toMatchObject({ balance: 3, required: 4, quote: { credits: 4, approxUsd: 0.4 } });
  expect((await get('/v1/backtest/runs', bob)).body.runs).toEqual([]);
});

test('a submit that is repeated under its key is answered as the first was', async () => {
  const bob = await api.customer(10);
  const headers = { 'idempotency-key': 'tuesday-1' };
  const first = await post('submit', { files }, bob, headers);
  const second = await post('submit', { files }, bob, headers);
  expect([first.status, second.status]).toEqual([202, 202]);
  expect(second.body).toEqual(first.body);
  expect((await get('/v1/backtest/balance', bob)).body.balance).toBe(6);
  const other = await post('submit', { files, assets: ['BTC'] }, bob, headers);
  expect([other.status, other.body.code]).toEqual([422, 'E_BODY']);
  const bad = await post('submit', { files }, bob, { 'idempotency-key': 'two words' });
  expect([bad.status, bad.body.code]).toEqual([422, 'E_BODY']);
});

test('a series is uploaded once by its link and used by its key', async () => {
  const key = await uploaded(ann, SIGNAL);
  const body = { files: withSeries, uploads: { 'signal.csv': key } };
  expect((await post('check', body, ann)).status).toBe(200);
  expect((await post('submit', body, ann)).status).toBe(202);
  expect((await post('check', { files: withSeries }, ann)).body.code).toBe('E_SERIES');
});

test('a check that names uploads needs a key', async () => {
  const body = { files: withSeries, uploads: { 'signal.csv': 'upload/0' } };
  expect((await post('check', body)).body).toEqual({ error: 'missing API key' });
  expect((await post('check', body)).status).toBe(401);
});

test('an upload that is not there, is no upload or is of somebody else is refused', async () => {
  const { key } = (await post('upload', { bytes: 5 }, ann)).body;
  const theirs = await uploaded(await api.customer(0), SIGNAL);
  const [empty, foreign] = ['nothing was uploaded for "signal.csv"', '"signal.csv" names no upload of yours'];
  const wrong = [[key, empty], ...[theirs, 'upload/../x', 'plan/x', 'x\0'].map((other) => [other, foreign])];
  for (const [upload, why] of wrong)
    for (const path of ['check', 'submit']) {
      const answer = await post(path, { files: withSeries, uploads: { 'signal.csv': upload } }, ann);
      expect([answer.status, answer.body.code, answer.body.detail]).toEqual([
        422,
        'E_SERIES',
        expect.stringContaining(why),
      ]);
    }
});

test.each([0, -1, 1.5, '7', null, LIMITS.series_bytes + 1])(
  'an upload of %j bytes is a bad size',
  async (bytes) => {
    expect((await post('upload', { bytes }, ann)).status).toBe(400);
  },
);

test('the grant of an upload says how to send it', async () => {
  const { body } = await post('upload', { bytes: LIMITS.series_bytes }, ann);
  expect(body).toMatchObject({ bytes: LIMITS.series_bytes, expires_in: 300 });
  expect((await post('upload', 'nope', ann)).status).toBe(400);
});

test('the archive of a run is one redirect away, or a link with as=json', async () => {
  const { id, sha256 } = await finished(ann, 'a zip');
  const answer = await get(`/v1/backtest/run/${id}/archive`, ann);
  expect([answer.status, answer.text, answer.headers.get('x-service-sha256')]).toEqual([302, '', sha256]);
  const download = await fetch(answer.headers.get('location')!);
  expect([await download.text(), download.headers.get('content-type')]).toEqual(['a zip', 'application/zip']);
  const json = await get(`/v1/backtest/run/${id}/archive?as=json`, ann);
  expect([json.status, json.body.expires_in, json.headers.get('x-service-sha256')]).toEqual([
    200,
    900,
    sha256,
  ]);
  const part = await fetch(json.body.url, { headers: { range: 'bytes=2-' } });
  expect([part.status, await part.text()]).toEqual([206, 'zip']);
  expect((await get(`/v1/backtest/run/${id}`, ann)).body).toMatchObject({
    archive_available: true,
    archive_bytes: 5,
  });
  expect((await get(`/v1/backtest/run/${id}/archive?as=xml`, ann)).status).toBe(400);
});

test('a run without an archive has none', async () => {
  const { run_id } = (await post('submit', { files }, ann)).body;
  const answer = await get(`/v1/backtest/run/${run_id}/archive`, ann);
  expect(answer.status).toBe(409);
  expect(answer.body.error).toContain('no archive for this run');
});

test("another customer's run, its archive and what never was a run are all no such run", async () => {
  const { id } = await finished(ann, 'a zip');
  const eve = await api.customer(10);
  for (const run of [id, 'run_000000000000000000000000', 'x', '%00', '%27%20or%201=1', 'x'.repeat(500)])
    for (const path of [`/v1/backtest/run/${run}`, `/v1/backtest/run/${run}/archive`]) {
      const answer = await get(path, eve);
      expect([path, answer.status, answer.body]).toEqual([path, 404, { error: 'no such run' }]);
    }
  expect((await get('/v1/backtest/runs', eve)).body.runs).toEqual([]);
});

test('the list of runs is the newest first, as many as asked for', async () => {
  const bob = await api.customer(100);
  const ids: string[] = [];
  for (let i = 0; i < 3; i++) ids.unshift((await post('submit', { files }, bob)).body.run_id);
  const listed = async (query: string) =>
    (await get(`/v1/backtest/runs${query}`, bob)).body.runs.map((run: { run_id: string }) => run.run_id);
  expect(await listed('')).toEqual(ids);
  expect(await listed('?limit=2')).toEqual(ids.slice(0, 2));
  expect((await get('/v1/backtest/runs?limit=9007199254740991', bob)).status).toBe(200);
  for (const limit of ['0', '-1', 'x', '1.5', '', '1e99'])
    expect((await get(`/v1/backtest/runs?limit=${limit}`, bob)).status).toBe(400);
});

const KEYED = [
  ['GET', '/v1/backtest/balance'],
  ['GET', '/v1/backtest/runs'],
  ['GET', '/v1/backtest/run/x'],
  ['GET', '/v1/backtest/run/x/archive'],
  ['POST', '/v1/backtest/upload'],
  ['POST', '/v1/backtest/submit'],
] as const;

test.each(KEYED)('%s %s tells a missing key from a wrong one', async (method, path) => {
  const body = method === 'POST' ? { body: {} } : {};
  const ask = (headers: Record<string, string>) => api.call(method, path, { headers, ...body });
  const missing = [
    {},
    { apikey: ann.key },
    { 'x-api-key': ann.key },
    { authorization: ann.key },
    { authorization: `Basic ${ann.key}` },
    { authorization: 'Bearer' },
    { authorization: 'Bearer ' },
    { authorization: `Bearer${ann.key}` },
  ];
  for (const headers of missing) {
    const answer = await ask(headers);
    expect([headers, answer.status, answer.body]).toEqual([headers, 401, { error: 'missing API key' }]);
  }
  for (const headers of [{ authorization: `Bearer ${ann.key}x` }, { 'x-backtest-key': 'nope' }]) {
    const answer = await ask(headers as Record<string, string>);
    expect([answer.status, answer.body]).toEqual([401, { error: 'invalid or expired API key' }]);
  }
});

test('a key may come as X-Backtest-Key', async () => {
  const answer = await api.call('GET', '/v1/backtest/balance', { headers: { 'x-backtest-key': ann.key } });
  expect(answer.status).toBe(200);
});

test('a key that was revoked or has expired is none', async () => {
  for (const change of ['revoked_ms = now_ms()', 'expires_ms = now_ms()']) {
    const bob = await api.customer(1);
    await api.db.query(`update api_key set ${change} where customer = $1`, [bob.id]);
    expect((await get('/v1/backtest/balance', bob)).body).toEqual({ error: 'invalid or expired API key' });
  }
});

test.each([
  ['GET', '/'],
  ['GET', '/v2/health'],
  ['DELETE', '/v1/health'],
  ['POST', '/v1/backtest/balance'],
])('%s %s is no route', async (method, path) => {
  const answer = await api.call(method, path);
  expect([answer.status, typeof answer.body.error]).toEqual([404, 'string']);
});

test('HEAD is answered as GET is, without a body', async () => {
  const head = (path: string, key: string) =>
    fetch(`${api.url}${path}`, {
      method: 'HEAD',
      redirect: 'manual',
      headers: { authorization: `Bearer ${key}` },
    });
  const { id } = await finished(ann, 'a zip');
  const archive = `/v1/backtest/run/${id}/archive`;
  for (const [path, key, status] of [
    ['/v1/health', '', 200],
    ['/v1/backtest/balance', ann.key, 200],
    ['/v1/backtest/balance', 'nope', 401],
    [archive, ann.key, 302],
  ] as const) {
    const answer = await head(path, key);
    expect([path, answer.status, await answer.text()]).toEqual([path, status, '']);
  }
  const link = (await get(`${archive}?as=json`, ann)).body.url;
  const answer = await head(link.slice(api.url.length), '');
  expect([answer.status, answer.headers.get('content-length')]).toEqual([200, '5']);
});

test('a link of the store is good for what it was made for and nothing else', async () => {
  const { body } = await post('upload', { bytes: 3 }, ann);
  const put = (url: string, text: string) => fetch(url, { method: 'PUT', body: text });
  expect((await put(body.url.replace('bytes=3', 'bytes=4'), 'abcd')).status).toBe(403);
  expect((await fetch(body.url)).status).toBe(403);
  expect((await put(body.url, 'abcd')).status).toBeGreaterThanOrEqual(400);
  expect((await put(body.url, 'abc')).status).toBe(200);
  expect((await put(body.url, 'abc')).status).toBe(409);
  expect((await fetch(`${api.url}/v1/objects/../../etc/passwd`)).status).toBe(404);
});

test('every answer that the document lists was given here, but those of overload', () => {
  const missing = api.answers.listed.filter((one) => !api.answers.seen.has(one) && !/ (429|503)$/.test(one));
  expect(missing).toEqual([]);
});
