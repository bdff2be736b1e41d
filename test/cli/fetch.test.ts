import { existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test, vi } from 'vitest';
import type { Run } from '../../contract/api.ts';
import { freePort } from '../services/service.ts';
import { type Meddler, meddler, serving } from './serving.ts';
import { BUYER, backtest, folder, found, jsonOf, strategy } from './support.ts';

/** A report reaches its reader whole and as it was made, whatever the line does. */

let between: Meddler;
let env: Readonly<Record<string, string>>;
let id: string;
/** The whole archive. */
let right: Buffer;

const objects = (from: number) =>
  between.seen.slice(from).filter(({ path }) => path.startsWith('/v1/objects/'));
const fetched = (cwd: string) => backtest(['fetch', id], { cwd, env });
/** A folder with what an earlier attempt has left. */
function begun(part: Buffer): { cwd: string; file: string; part: string } {
  const cwd = folder();
  const file = join(cwd, 'report.zip');
  writeFileSync(`${file}.part`, part);
  return { cwd, file, part: `${file}.part` };
}

beforeAll(async () => {
  const port = await freePort();
  between = await meddler(`http://127.0.0.1:${port}`);
  // Links lead through it, too.
  const server = await serving({ port, env: { BACKTEST_PUBLIC_URL: between.url } });
  env = { ...server.env, BACKTEST_SERVER: between.url };
  const dir = strategy('node', BUYER.node);
  const ended = await backtest(['submit', dir, '--days', '1', '--yes', '--watch', '--json'], { env });
  id = (jsonOf(ended) as Run).run_id;
  const cwd = folder();
  expect(await fetched(cwd)).toMatchObject({ code: 0, stdout: `out/${id}.zip\n` });
  right = readFileSync(join(cwd, `out/${id}.zip`));
}, 180_000);

test('a connection that is cut in the middle is gone on with where it was cut', async () => {
  const cwd = folder();
  const file = join(cwd, `out/${id}.zip`);
  const from = between.seen.length;
  // What a client has not taken in yet when a connection breaks is lost for it.
  const until = () => vi.waitUntil(() => statSync(`${file}.part`, { throwIfNoEntry: false })?.size, 30_000);
  const cut = { bytes: Math.floor(right.length / 2), until };
  between.meddle = (path) => (path.startsWith('/v1/objects/') && objects(from).length === 1 ? cut : null);
  expect(await fetched(cwd)).toMatchObject({ code: 0 });
  expect(objects(from).map(({ range }) => range)).toEqual([
    undefined,
    expect.stringMatching(/^bytes=[1-9]\d*-$/),
  ]);
  expect(readFileSync(file).equals(right)).toBe(true);
  expect(found(join(cwd, 'out'))).toEqual([`${id}.zip`]);
});

test('a command that was interrupted is gone on with by the next, also when the link has run out', async () => {
  const half = right.subarray(0, Math.floor(right.length / 2));
  const { cwd, file } = begun(half);
  const from = between.seen.length;
  between.meddle = (path) =>
    path.startsWith('/v1/objects/') && objects(from).length === 1 ? { status: 403 } : null;
  expect(await backtest(['fetch', id, '--out', file], { cwd, env })).toMatchObject({ code: 0 });
  expect(objects(from).map(({ range }) => range)).toEqual([`bytes=${half.length}-`, `bytes=${half.length}-`]);
  expect(new Set(objects(from).map(({ path }) => path)).size).toBeGreaterThan(1);
  expect(readFileSync(file).equals(right)).toBe(true);
});

test('what is damaged is refused and removed, and the next attempt brings it whole', async () => {
  const { cwd, file, part } = begun(Buffer.alloc(Math.floor(right.length / 2), 7));
  between.meddle = () => null;
  const ended = await backtest(['fetch', id, '--out', file], { cwd, env });
  expect(ended).toMatchObject({
    code: 3,
    stdout: '',
    stderr: expect.stringMatching(/damaged.*sha256.*fetch it again/),
  });
  expect([existsSync(file), existsSync(part)]).toEqual([false, false]);
  expect(await backtest(['fetch', id, '--out', file], { cwd, env })).toMatchObject({ code: 0 });
  expect(readFileSync(file).equals(right)).toBe(true);
});

test('what is there already is not fetched again, and what was changed is', async () => {
  const cwd = folder();
  between.meddle = () => null;
  await fetched(cwd);
  const from = between.seen.length;
  expect(await fetched(cwd)).toMatchObject({ code: 0, stdout: `out/${id}.zip\n` });
  expect(objects(from)).toEqual([]);
  truncateSync(join(cwd, `out/${id}.zip`), 10);
  expect(await fetched(cwd)).toMatchObject({ code: 0 });
  expect(readFileSync(join(cwd, `out/${id}.zip`)).equals(right)).toBe(true);
});

test('a run that is not there has no report', async () => {
  const ended = await backtest(['fetch', 'run_0'], { cwd: folder(), env });
  expect(ended).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('no such run') });
});
