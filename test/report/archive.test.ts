import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import yauzl from 'yauzl';
import { report as schema } from '../../contract/report.ts';
import { writeReport } from '../../src/report/archive.ts';
import { prepareOut } from '../../src/report/folder.ts';
import { order, run, twoMarkets, unit } from './run.ts';

let scratch = '';
let out = '';
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'report-archive-'));
  out = join(scratch, 'out');
});
afterEach(() => {
  chmodSync(scratch, 0o755);
  rmSync(scratch, { recursive: true });
});

const extras = (run_id: string) => ({ manifest_text: '{ "contract": 1 }', provenance: { run_id } });
const write = (folder: string, id = 'run-1') => writeReport(run(twoMarkets()), extras(id), folder);
const read = (folder: string, name: string) => readFileSync(join(folder, name), 'utf8');

const archived = [
  'report.json',
  'orders.csv',
  'orders.parquet',
  'fills.csv',
  'fills.parquet',
  'equity.csv',
  'equity.parquet',
  'markets.csv',
  'markets.parquet',
  'logs.txt',
  'manifest.json',
  'provenance.json',
  'sha256sums.txt',
];

interface Zipped {
  readonly name: string;
  readonly time: string;
  readonly mode: number;
  readonly content: Buffer;
}

async function unzip(path: string): Promise<Zipped[]> {
  const zip = await yauzl.openPromise(path);
  const all: Zipped[] = [];
  for await (const entry of zip.eachEntry()) {
    all.push({
      name: entry.fileName,
      time: entry.getLastModDate({ timezone: 'UTC' }).toISOString(),
      mode: entry.externalFileAttributes >>> 16,
      content: await buffer(await zip.openReadStreamPromise(entry)),
    });
  }
  return all;
}

test('the folder and the zip hold the same files, in a fixed order, with fixed times and modes', async () => {
  const { archive } = await write(out);
  expect(archive).toBe(join(out, 'report.zip'));
  const zipped = await unzip(archive);
  expect(zipped.map((entry) => entry.name)).toEqual(archived);
  expect(readdirSync(out).sort()).toEqual([...archived, 'report.zip'].sort());
  for (const entry of zipped) {
    expect(entry.content.equals(readFileSync(join(out, entry.name)))).toBe(true);
    expect(entry.time).toBe('1980-01-01T00:00:00.000Z');
    expect(entry.mode & 0o7777).toBe(0o644);
  }
});

test('report.json validates, manifest.json is as it was submitted, logs carry time and market', async () => {
  const { report } = await write(out);
  expect(schema.parse(JSON.parse(read(out, 'report.json')))).toEqual(report);
  expect(read(out, 'manifest.json')).toBe('{ "contract": 1 }');
  expect(read(out, 'logs.txt')).toBe('2026-04-16T07:10:04.904Z m1 bought\n');
});

test('a log text with line breaks stays on one line', async () => {
  const logs = [{ ts_ms: 0, market: '', text: 'one\ntwo\r\nthree' }];
  await writeReport(run([unit({ logs })]), extras('run-1'), out);
  expect(read(out, 'logs.txt')).toBe('1970-01-01T00:00:00.000Z  one\\ntwo\\nthree\n');
});

test('two runs of the same differ in provenance.json and in nothing else', async () => {
  const first = await write(out);
  const second = await write(join(scratch, 'again'), 'run-2');
  expect(second.result_digest).toBe(first.result_digest);
  const [a, b] = [await unzip(first.archive), await unzip(second.archive)];
  const differ = a.filter((entry, at) => !entry.content.equals(b[at].content)).map((entry) => entry.name);
  expect(differ).toEqual(['provenance.json']);
});

test('the same run with the same provenance is the same zip, byte for byte, whatever the umask', async () => {
  const first = await write(out);
  const umask = process.umask(0o077);
  const second = await write(join(scratch, 'again')).finally(() => process.umask(umask));
  expect(readFileSync(first.archive).equals(readFileSync(second.archive))).toBe(true);
});

test('a different result has a different digest', async () => {
  const { result_digest } = await write(out);
  const units = [...twoMarkets(), unit({ orders: [order({ status: 'rejected', filled: 0 })] })];
  const other = await writeReport(run(units), extras('run-1'), join(scratch, 'other'));
  expect(other.result_digest).not.toBe(result_digest);
});

test('sha256sum verifies every file, and the digest is the hash of the list', async () => {
  const { result_digest } = await write(out);
  const checked = execFileSync('sha256sum', ['-c', 'sha256sums.txt'], { cwd: out, encoding: 'utf8' });
  const named = archived.filter((name) => name !== 'provenance.json' && name !== 'sha256sums.txt');
  expect(checked).toBe(named.map((name) => `${name}: OK\n`).join(''));
  expect(createHash('sha256').update(read(out, 'sha256sums.txt')).digest('hex')).toBe(result_digest);
  expect(JSON.parse(read(out, 'provenance.json'))).toEqual({ run_id: 'run-1', result_digest });
});

test('a former report is replaced, with nothing of it left', async () => {
  await write(out);
  await prepareOut(out);
  await writeReport(run([]), extras('run-2'), out);
  expect(read(out, 'provenance.json')).toContain('run-2');
  expect(readdirSync(scratch)).toEqual(['out']);
});

test('folders on the way are made, and an empty one is taken', async () => {
  const deep = join(scratch, 'a', 'b');
  await write(deep);
  expect(readdirSync(deep)).toContain('report.zip');
  mkdirSync(out);
  await prepareOut(out);
  expect(readdirSync(out)).toEqual([]);
  await write(out);
});

test("a folder with somebody's files is refused by their name, even beside a former report", async () => {
  await write(out);
  writeFileSync(join(out, 'notes.txt'), 'mine');
  await expect(prepareOut(out)).rejects.toThrow(/not empty.*notes\.txt.*another folder/);
  await expect(write(out)).rejects.toThrow('notes.txt');
  expect(read(out, 'notes.txt')).toBe('mine');
});

test('a file in the place of the folder is refused', async () => {
  writeFileSync(out, '');
  await expect(prepareOut(out)).rejects.toThrow('it is a file');
  await expect(prepareOut(join(out, 'deeper'))).rejects.toThrow(`Cannot write the report to ${out}`);
});

test('a run that cannot be counted leaves nothing behind', async () => {
  const units = [unit({ orders: [order({ size: 0.5 })] })];
  await expect(writeReport(run(units), extras('run-1'), out)).rejects.toThrow('no whole number');
  expect(readdirSync(scratch)).toEqual([]);
});

/** Runs `use` in a small disk of its own; it takes root to have one. */
async function onDisk(options: string, use: (disk: string) => Promise<void>): Promise<void> {
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', scratch]);
  try {
    await use(scratch);
  } finally {
    execFileSync('umount', [scratch]);
  }
}
const probe = mkdtempSync(join(tmpdir(), 'report-mount-'));
const mounts = spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', probe]).status === 0;
if (mounts) execFileSync('umount', [probe]);
rmSync(probe, { recursive: true });

test.runIf(mounts)(
  'a disk that fills up ends in a clear error, the former report still in place',
  async () => {
    await onDisk('size=256k', async (disk) => {
      await write(out);
      const orders = Array.from({ length: 5000 }, (_, at) => order({ order_id: `m1-${at}` }));
      const full = writeReport(run([unit({ orders })]), extras('run-2'), out);
      await expect(full).rejects.toThrow(`Cannot write the report to ${out}: the disk is full.`);
      expect(readdirSync(disk)).toEqual(['out']);
      execFileSync('sha256sum', ['-c', '--quiet', 'sha256sums.txt'], { cwd: out });
    });
  },
);

test.runIf(mounts)(
  'a full disk is seen before anything runs, whichever file it is that does not fit',
  async () => {
    await onDisk('size=256k', async (disk) => {
      writeFileSync(join(disk, 'ballast'), Buffer.alloc(254 * 1024));
      await expect(prepareOut(out)).rejects.toThrow('the disk is full');
      const seen = new Set<boolean>();
      for (let free = 16; free <= 96; free += 8) {
        writeFileSync(join(disk, 'ballast'), Buffer.alloc((256 - free) * 1024));
        const failure = await write(out).then(
          () => null,
          (error: Error) => error.message,
        );
        if (failure !== null) expect(failure).toContain('the disk is full');
        expect(readdirSync(disk)).toEqual(failure === null ? ['ballast', 'out'] : ['ballast']);
        seen.add(failure === null);
        rmSync(out, { recursive: true, force: true });
      }
    });
  },
);

test.runIf(mounts)('a mount point is refused before anything runs', async () => {
  await onDisk('size=64k', async (disk) => {
    await expect(prepareOut(disk)).rejects.toThrow('mount point');
  });
});

test.runIf(mounts || process.getuid?.() !== 0)(
  'a place without permission is refused before anything runs',
  async () => {
    const refused = async () => {
      await expect(prepareOut(out)).rejects.toThrow('no permission to write there');
      expect(readdirSync(scratch)).toEqual([]);
    };
    if (process.getuid?.() === 0) return onDisk('ro', refused);
    chmodSync(scratch, 0o555);
    await refused();
  },
);
