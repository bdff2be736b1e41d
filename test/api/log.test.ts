import { Writable } from 'node:stream';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { filesOf, startApi } from './api.ts';

test('a log tells who asked what and how it went, and holds no key, link, address or source', async () => {
  const lines: string[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const api = await startApi({ log: pino({ level: 'trace' }, sink) });
  const me = await api.customer(10);
  const mark = 'peculiar_word_of_the_source';
  const files = (await filesOf('momentum-python')).map((file) =>
    file.name.endsWith('.py') ? { ...file, content: `${file.content}\n# ${mark}\n` } : file,
  );
  const email = 'somebody.peculiar@example.com';
  const post = (path: string, body: unknown) =>
    api.call('POST', `/v1/backtest/${path}?secret=${me.key}`, { key: me.key, body });

  const { run_id } = (await post('submit', { files, email })).body;
  await post('check', { files, email: mark });
  await post('check', { files: [{ name: mark, content: `(((( ${mark}` }], email });
  await post('quote', `{"${mark}`);
  await api.call('GET', `/v1/backtest/run/${mark}${me.key}`, { key: me.key });
  await api.call('GET', `/v1/backtest/run/${run_id}`, { key: me.key });
  await api.call('GET', `/v1/${mark}?api_key=${me.key}`, { headers: { 'x-backtest-key': me.key } });
  const upload = (await post('upload', { bytes: mark.length })).body;
  await fetch(upload.url, { method: 'PUT', headers: upload.headers, body: mark });
  await fetch(upload.url, { method: 'PUT', headers: upload.headers, body: mark });
  // A fault whose message quotes what was sent.
  await api.db.script('alter table run alter column email type integer using null');
  const fault = await fetch(`${api.url}/v1/backtest/submit`, {
    method: 'POST',
    headers: { 'x-backtest-key': me.key, 'content-type': 'application/json' },
    body: JSON.stringify({ files, email }),
  });
  expect([fault.status, await fault.json()]).toEqual([
    500,
    { error: 'internal error: asking again is safe' },
  ]);
  await api.db.close();
  await api.call('GET', '/v1/backtest/balance', { key: me.key });
  await api.close();

  const log = lines.join('');
  const signature = new URL(upload.url).searchParams.get('signature')!;
  for (const secret of [me.key, signature, 'signature=', upload.key, email, mark])
    expect(log).not.toContain(secret);
  const parsed = lines.map((line) => JSON.parse(line));
  expect(parsed).toContainEqual(
    expect.objectContaining({
      method: 'POST',
      route: '/v1/backtest/submit',
      status: 202,
      customer: me.id,
      run: run_id,
      ms: expect.any(Number),
    }),
  );
  // Faults are logged with their place.
  expect(parsed.find(({ level }) => level === 50).at[0]).toMatch(/^at /);
  expect(parsed.find(({ level }) => level === 40).what).toContain('the database cannot be reached');
});
