import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runResult } from '../../contract/run.ts';
import { ARCHIVE, BUYER, backtest, folder, found, jsonOf, ownArchive, SCOPE, strategy } from './support.ts';

/** What is nobody's fault but the machine's or the archive's: exit code 3, one clear message, nothing half-written. */

const BOOK = 'BTCUSD-book-5m-2026-10-14.csv.gz';

const run = (archive: string, given: Parameters<typeof backtest>[1], ...args: string[]) =>
  backtest(
    ['run', strategy('node', BUYER.node), '--archive', archive, '--sandbox', 'process', ...SCOPE, ...args],
    given,
  );

test.concurrent('a file that does not match its sha256 is named', async () => {
  const archive = ownArchive();
  damage(archive, (bytes) => bytes.fill(0, 40, 60), false);
  const cwd = folder();
  const ended = await run(archive, { cwd });
  expect(ended).toMatchObject({ code: 3, stdout: '' });
  expect(ended.stderr).toMatch(new RegExp(`venue_a/2026-10-14/${BOOK}.*sha256`));
  expect(found(join(cwd, 'out'))).toEqual([]);
});

test.concurrent('a truncated file is named, and nothing of it is kept in the cache', async () => {
  const archive = ownArchive();
  damage(archive, (bytes) => bytes.subarray(0, bytes.length / 2), true);
  const cwd = folder();
  const env = { XDG_CACHE_HOME: join(cwd, 'cache') };
  for (let attempt = 0; attempt < 2; attempt++) {
    const ended = await run(archive, { cwd, env });
    expect(ended.code).toBe(3);
    expect(ended.stderr).toMatch(new RegExp(`venue_a/2026-10-14/${BOOK}.*gzip`));
  }
  expect(found(join(cwd, 'out'))).toEqual([]);
  expect(found(join(cwd, 'cache/backtest-fleet')).filter((name) => name.endsWith('.tmp'))).toEqual([]);
});

test.concurrent('an output folder that cannot be made is named before anything runs', async () => {
  const cwd = folder();
  writeFileSync(join(cwd, 'taken'), '');
  const ended = await run(ARCHIVE, { cwd }, '--out', 'taken');
  expect(ended).toMatchObject({
    code: 3,
    stdout: '',
    stderr: expect.stringMatching(/Cannot write the report to taken: it is a file/),
  });
  expect(ended.stderr).not.toContain('replaying');
});

test.concurrent('a cache folder that cannot be used is named', async () => {
  const cwd = folder();
  writeFileSync(join(cwd, 'file'), '');
  const ended = await run(ARCHIVE, { cwd, env: { BACKTEST_CACHE: join(cwd, 'file/cache') } });
  expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining(join(cwd, 'file/cache')) });
});

test.concurrent('a setting that makes no sense is named', async () => {
  const ended = await run(ARCHIVE, { env: { BACKTEST_CACHE_GB: 'lots' } });
  expect(ended.stderr).toBe('BACKTEST_CACHE_GB is "lots". It must be a number of gigabytes, such as 20.\n');
});

test.concurrent('without Docker, the ways out are named and no other sandbox is chosen', async () => {
  const cwd = folder();
  const env = { DOCKER_HOST: `unix://${join(cwd, 'nothing.sock')}` };
  const ended = await backtest(
    ['run', strategy('node', BUYER.node), '--archive', ARCHIVE, ...SCOPE, '--json'],
    { cwd, env },
  );
  expect(ended.code).toBe(3);
  for (const part of ['nothing.sock', 'npx backtest doctor', '--sandbox process'])
    expect(ended.stderr).toContain(part);
  expect(runResult.parse(jsonOf(ended))).toMatchObject({
    outcome: 'fault',
    report: null,
    rejection: { code: 'E_FAULT' },
  });
  expect(found(join(cwd, 'out'))).toEqual([]);
});

test.concurrent('where the image was never built, the command that builds it is named', async () => {
  const cwd = folder();
  // An engine that is there and has no images.
  const engine = createServer((request, answer) => {
    answer.statusCode = request.url?.endsWith('/_ping')
      ? 200
      : request.url?.includes('/containers/json')
        ? 200
        : 404;
    answer.end(request.url?.includes('/containers/json') ? '[]' : '{"message":"no such image"}');
  });
  await new Promise<void>((ready) => engine.listen(join(cwd, 'engine.sock'), ready));
  try {
    const env = { DOCKER_HOST: `unix://${join(cwd, 'engine.sock')}` };
    const ended = await backtest(['run', strategy('node', BUYER.node), '--archive', ARCHIVE, ...SCOPE], {
      cwd,
      env,
    });
    expect(ended).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/image for nodejs@24 is missing.*npx backtest images build/),
    });
  } finally {
    engine.close();
  }
  expect(found(join(cwd, 'out'))).toEqual([]);
});

/** A disk of a few kilobytes. Only root on Linux can have one made. */
const disk = tinyDisk(folder());
afterAll(() => {
  if (disk !== null) execFileSync('umount', [disk]);
});

test.skipIf(disk === null)('a full disk is named, and no part of a report stays on it', async () => {
  const ended = await run(ARCHIVE, {}, '--out', join(disk!, 'report'));
  expect(ended).toMatchObject({
    code: 3,
    stdout: '',
    stderr: expect.stringMatching(/Cannot write the report to .*disk is full/),
  });
  expect(found(disk!)).toEqual([]);
});

test.skipIf(disk === null)(
  'a full disk under the cache is named, and no part of a day stays on it',
  async () => {
    const cwd = folder();
    const ended = await run(ARCHIVE, { cwd, env: { BACKTEST_CACHE: join(disk!, 'cache') } });
    expect(ended).toMatchObject({ code: 3, stderr: expect.stringMatching(/cache .*ENOSPC/) });
    expect(found(join(cwd, 'out'))).toEqual([]);
    expect(found(join(disk!, 'cache')).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  },
);

function tinyDisk(path: string): string | null {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return null;
  try {
    mkdirSync(path, { recursive: true });
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=32k', 'tmpfs', path], { stdio: 'ignore' });
    return path;
  } catch {
    return null;
  }
}

/** Changes the bytes of a file; `listed`: its index.json is made to fit. */
function damage(archive: string, change: (bytes: Buffer) => Buffer, listed: boolean): void {
  const day = join(archive, 'venue_a/2026-10-14');
  const bytes = change(readFileSync(join(day, BOOK)));
  writeFileSync(join(day, BOOK), bytes);
  if (!listed) return;
  const index = JSON.parse(readFileSync(join(day, 'index.json'), 'utf8'));
  const entry = index.files.find((file: { name: string }) => file.name === BOOK);
  entry.bytes = bytes.length;
  entry.sha256 = createHash('sha256').update(bytes).digest('hex');
  writeFileSync(join(day, 'index.json'), JSON.stringify(index));
}
