import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rm, stat, writeFile } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import {
  cellParams,
  type Failure,
  type MarketResult,
  type ParamValue,
  type RunReport,
} from '../../contract/index.ts';
import { writeReport, zipCells } from '../report/archive.ts';
import { ARCHIVE } from '../report/folder.ts';
import type { Prepared } from '../run/prepare.ts';
import { reportInput } from '../run/run.ts';
import { Inventory } from '../run/staging.ts';
import { makeFolder, removeFolder } from '../sandbox/folder.ts';
import { loadShard, type ShardParts, type ShardResult } from './shard.ts';

/** A shard as the database knows it: its result, or what became of the strategy; neither where it was called off. */
export interface ShardRow {
  readonly number: number;
  readonly cell: number;
  readonly result: string | null;
  readonly sha256: string | null;
  readonly failure: Failure | null;
}

export interface Assembled {
  /** The object that holds the archive, and its size. */
  readonly archive: string;
  readonly bytes: number;
  readonly report: RunReport;
}

/**
 * Makes the reports of a run from its shards, cell by cell and in the order of the plan, and stores their archive. A cell
 * with a failed shard has none; what counts for it is its first failure.
 */
export async function assemble(
  parts: ShardParts,
  temp: string,
  prepared: Prepared,
  { run, fence }: { readonly run: string; readonly fence: number },
  shards: readonly ShardRow[],
  signal: AbortSignal,
): Promise<Assembled> {
  const { store, sandbox } = parts;
  // One of a box: what a killed process leaves of it is swept away with those.
  const folder = await makeFolder(temp, 'assembly-');
  try {
    const provenance = {
      run,
      sandbox: { kind: sandbox.kind, ...(await sandbox.describe(prepared.manifest.language)) },
      machine: { platform: platform(), arch: arch(), node: process.version },
    };
    const cells: Cell[] = [];
    for (const [cell, params] of cellParams(prepared.manifest).entries()) {
      signal.throwIfAborted();
      const own = shards.filter((shard) => shard.cell === cell);
      const failure = own.find((shard) => shard.failure !== null)?.failure;
      cells.push(
        failure
          ? { cell, params, ...NOTHING, failure }
          : await writeCell(parts, join(folder, nameOf(cell)), prepared, { cell, params }, own, provenance),
      );
    }
    const archive = cells.length > 1 ? await zipSweep(folder, cells) : join(folder, nameOf(0), ARCHIVE);
    const sha256 = await digest(archive);
    const object = `run/${run}/${fence}/${sha256}.zip`;
    signal.throwIfAborted();
    await store.put(object, { file: archive });
    return { archive: object, bytes: (await stat(archive)).size, report: { archive_sha256: sha256, cells } };
  } finally {
    await removeFolder(folder);
  }
}

type Cell = RunReport['cells'][number];

const NOTHING = { result_digest: null, market_days: 0, net: null, fills: null, markets: null };

/** Writes the report of a cell that has all of its shards. */
async function writeCell(
  { store, limits }: ShardParts,
  out: string,
  prepared: Prepared,
  { cell, params }: Pick<Cell, 'cell'> & { readonly params: Readonly<Record<string, ParamValue>> },
  shards: readonly ShardRow[],
  provenance: object,
): Promise<Cell> {
  const results: ShardResult[] = [];
  for (const { result, sha256 } of shards) results.push(await loadShard(store, result!, sha256!));
  const inventory = new Inventory();
  for (const { files } of results) inventory.addRecords(files);
  const units = results.map(({ unit }) => unit);
  const dropped = [...new Set(results.flatMap((result) => result.dropped))].sort();
  const { prefetch_ms } = limits;
  const input = reportInput({ prepared, cell, params, units, inventory, dropped, prefetch_ms });
  const ticks = results.reduce((sum, result) => sum + result.ticks, 0);
  const extras = { manifest_text: prepared.manifestText, provenance: { ...provenance, ticks } };
  const { report, archive, result_digest } = await writeReport(input, extras, out);
  // A sweep's archive holds the files of each cell, not their zips.
  if (prepared.quote.sweepCells > 1) await rm(archive);
  return {
    cell,
    params,
    result_digest,
    market_days: new Set(units.flatMap(({ markets }) => markets.map(marketDay))).size,
    net: report.pnl.net,
    fills: report.fills.count,
    markets: report.markets.count,
    failure: null,
  };
}

const marketDay = ({ asset, interval, date }: MarketResult): string => `${asset} ${interval} ${date}`;

const nameOf = (cell: number): string => String(cell).padStart(3, '0');

async function zipSweep(folder: string, cells: readonly Cell[]): Promise<string> {
  const index = join(folder, 'cells.json');
  await writeFile(index, `${JSON.stringify(cells, null, 2)}\n`);
  const reported = cells
    .filter(({ result_digest }) => result_digest !== null)
    .map(({ cell }) => nameOf(cell));
  const archive = join(folder, 'sweep.zip');
  await zipCells(
    archive,
    index,
    reported.map((name) => ({ name: `cells/${name}`, folder: join(folder, name) })),
  );
  return archive;
}

async function digest(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
