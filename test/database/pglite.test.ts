import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openPglite } from '../../src/database/pglite.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pglite-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** Another process that has the folder open. */
async function opener() {
  const module = new URL('../../src/database/pglite.ts', import.meta.url);
  const script = `
    const { openPglite } = await import(${JSON.stringify(module.href)});
    const db = await openPglite(${JSON.stringify(folder)});
    await db.script("create table purse (id text); insert into purse values ('ann')");
    console.log('open');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return child;
}

test('what was committed is there again after the folder was closed', async () => {
  const db = await openPglite(folder);
  await db.script("create table purse (id text); insert into purse values ('ann')");
  await db.close();
  const again = await openPglite(folder);
  expect(await again.query('select id from purse')).toEqual([{ id: 'ann' }]);
  await again.close();
});

test('a folder is open in one process at a time, and a killed process leaves it free and whole', async () => {
  const other = await opener();
  await expect(openPglite(folder)).rejects.toThrow(`${folder} is in use by another process`);
  other.kill('SIGKILL');
  await once(other, 'exit');
  const db = await openPglite(folder);
  expect(await db.query('select id from purse')).toEqual([{ id: 'ann' }]);
  await expect(openPglite(folder)).rejects.toThrow('is in use');
  await db.close();
});

test('of many that open a folder at once, at most one gets it', async () => {
  const opened = await Promise.allSettled(Array.from({ length: 5 }, () => openPglite(folder)));
  const got = opened.filter((one) => one.status === 'fulfilled');
  expect(got.length).toBeLessThan(2);
  for (const { value } of got) await value.close();
  await (await openPglite(folder)).close();
});
