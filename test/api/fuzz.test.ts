import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, type Call, type Customer, filesOf, type Service, startApi } from './api.ts';

// Whatever is sent, it is answered with a status of the document, in time, and without a word about our insides.

let api: Service;
let me: Customer;
beforeAll(async () => {
  api = await startApi();
  me = await api.customer(1_000_000);
});
afterAll(() => api.close());

const SEED = 20261121;
const bounded = { seed: SEED, interruptAfterTimeLimit: 6_000, numRuns: 100_000, endOnFailure: true };

async function survives(method: string, path: string, call: Call): Promise<Answer> {
  // Holds it to the document too.
  const answer = await api.call(method, path, call);
  expect(answer.status, `${method} ${path} ${answer.text}`).toBeLessThan(500);
  expect(answer.text).not.toMatch(/\n\s+at |node_modules|\/src\/|file:\/\//);
  return answer;
}

const POSTS = ['quote', 'check', 'submit', 'upload'].map((name) => `/v1/backtest/${name}`);
const GETS = ['balance', 'runs', 'packs', 'capacity', 'contract'].map((name) => `/v1/backtest/${name}`);

const name = fc.oneof(
  fc.constantFrom(
    'manifest.json',
    'strategy.py',
    '../x',
    '/etc/passwd',
    'a/b/c',
    '',
    'a\0b',
    'CON',
    '\ud800',
  ),
  fc.string({ unit: 'binary', maxLength: 120 }),
);
const junk = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  fc.constantFrom(1e308, -0, 2 ** 53, '\0', '\ud800', null, [], {}),
);
const day = fc.constantFrom(
  '2026-10-14',
  '2026-10-15',
  '2026-02-30',
  '0000-01-01',
  '9999-12-31',
  '2026-10-14T00:00',
  '',
);
const or = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 4, arbitrary }, { weight: 1, arbitrary: junk });
const body = fc.record(
  {
    venue: or(fc.constantFrom('venue_a', 'venue_b', 'venue_c')),
    assets: or(fc.array(fc.constantFrom('BTC', 'ETH', 'btc', 'A'.repeat(17), '\0'), { maxLength: 4 })),
    from: or(day),
    to: or(day),
    days: or(fc.integer()),
    range: or(fc.constantFrom('7 days', '30 days', '8 days')),
    sweep_cells: or(fc.integer()),
    mode: or(fc.constantFrom('market', 'session')),
    intervals: or(fc.array(fc.constantFrom('5m', '15m', '1h', '7m', '\0'), { maxLength: 9 })),
    language: or(fc.constantFrom('python@3.14', 'nodejs@24')),
    files: or(
      fc.array(fc.record({ name: or(name), content: or(fc.string({ unit: 'binary' })) }), { maxLength: 18 }),
    ),
    uploads: or(fc.dictionary(name, fc.oneof(name, fc.constant(`upload/${'0'.repeat(32)}`)), { maxKeys: 6 })),
    email: or(fc.emailAddress()),
    locale: or(fc.constantFrom('en', 'zh', 'de')),
    bytes: or(fc.integer()),
  },
  { requiredKeys: [] },
);

test('bodies of the right fields and any contents', async () => {
  const property = fc.asyncProperty(fc.constantFrom(...POSTS), body, fc.boolean(), (path, sent, keyed) =>
    survives('POST', path, { body: sent, ...(keyed && { key: me.key }) }).then(() => {}),
  );
  await fc.assert(property, bounded);
});

test('manifests and sources with anything in them', async () => {
  const [manifest, source] = await filesOf('momentum-python');
  const cut = (text: string) =>
    fc
      .tuple(fc.nat(text.length), fc.nat(20), fc.string({ unit: 'binary', maxLength: 6 }))
      .map(([at, drop, put]) => ({
        content: text.slice(0, at) + put + text.slice(at + drop),
      }));
  const property = fc.asyncProperty(cut(manifest.content), cut(source.content), async (a, b) => {
    const files = [
      { ...manifest, ...a },
      { ...source, ...b },
    ];
    const checked = await survives('POST', '/v1/backtest/check', { body: { files } });
    const submitted = await survives('POST', '/v1/backtest/submit', { body: { files }, key: me.key });
    expect([200, 422]).toContain(checked.status);
    // What passes the check is never refused.
    expect(submitted.status).toBe(checked.status === 200 ? 202 : 422);
  });
  await fc.assert(property, bounded);
});

test('texts that are no JSON, in any type, under any header and any path', async () => {
  const value = fc.string({
    unit: fc.constantFrom(...' !"%,;=\\/{}[]<>()@:?*\t\u00e4\u00ffaB0~'.split('')),
    maxLength: 60,
  });
  const header = fc.constantFrom(
    'authorization',
    'x-backtest-key',
    'idempotency-key',
    'content-type',
    'accept',
    'x-forwarded-for',
    'range',
    'if-none-match',
    'x-http-method-override',
    'content-encoding',
  );
  const path = fc.oneof(
    fc.constantFrom(...POSTS, ...GETS),
    fc.webPath().map((tail) => `/v1/backtest/run/${tail}/archive`),
    fc.webQueryParameters().map((query) => `/v1/backtest/runs?limit=${query}`),
    fc.webQueryParameters().map((query) => `/v1/objects/upload/x?${query}`),
    fc.constantFrom(
      '/%',
      '/%ff',
      '/v1/backtest/run/%c0%80',
      '/v1/backtest/run/a%00b',
      '//',
      '/v1/../../x',
      '/v1/objects/%2e%2e/x',
    ),
  );
  const property = fc.asyncProperty(
    fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'),
    path,
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.dictionary(header, value, { maxKeys: 3 }),
    fc.boolean(),
    async (method, where, text, headers, keyed) => {
      const sent = method === 'GET' || text === '' ? {} : { body: text };
      await survives(method, where, {
        ...sent,
        headers,
        ...(keyed && !headers.authorization && { key: me.key }),
      });
    },
  );
  await fc.assert(property, bounded);
});

test('deep, wide and huge bodies', async () => {
  const deep = (open: string, close: string, levels: number) => open.repeat(levels) + close.repeat(levels);
  const bodies = [
    deep('[', ']', 30_000),
    deep('{"a":', '}', 10_000).replace(':}', ':1}'),
    `{"files":${deep('[', ']', 30_000)}}`,
    `{"files":[{"name":"manifest.json","content":${JSON.stringify(deep('[', ']', 200_000))}}]}`,
    `{"uploads":{${Array.from({ length: 20_000 }, (_, i) => `"f${i}":"k"`).join()}},"files":[]}`,
    `{"files":[${Array.from({ length: 20_000 }, () => '{"name":"a","content":""}').join()}]}`,
    `{"assets":[${Array.from({ length: 100_000 }, () => '"B"').join()}],"files":[]}`,
    `{"__proto__":{"files":[]},"constructor":{"prototype":{}}}`,
    '1e400',
    '"\ud800"',
    `{"files":[],"files":1${' '.repeat(1000)}}`,
    JSON.stringify({ files: [{ name: 'a', content: randomBytes(7_500_000).toString('base64') }] }),
  ];
  for (const path of POSTS)
    for (const sent of bodies) {
      const answer = await survives('POST', path, { body: sent, key: me.key });
      expect([400, 422], `${path} ${sent.slice(0, 40)} ${answer.text.slice(0, 200)}`).toContain(
        answer.status,
      );
      if (answer.status === 422) expect(answer.body).toMatchObject({ ok: false, code: expect.any(String) });
    }
});
