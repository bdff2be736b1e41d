import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import yauzl from 'yauzl';
import type { Scope } from '../../contract/index.ts';
import { Bench } from '../run/runs.ts';

/** sha256 of every entry of a report archive, by name, but for what tells who made it. */
export type Entries = Readonly<Record<string, string>>;

export async function entriesOf(zip: Buffer): Promise<Entries> {
  const entries: Record<string, string> = {};
  for await (const { name, content } of unzip(zip))
    if (!name.endsWith('provenance.json')) entries[name] = sha256(content);
  return entries;
}

/** What one machine makes of strategies, without a fleet and without trouble. Each is run once. */
export class Calm {
  private readonly bench = new Bench();
  private readonly made = new Map<string, Promise<Entries | null>>();

  /** Null where there is no report. */
  entries(folder: string, scope: Partial<Scope>): Promise<Entries | null> {
    const key = JSON.stringify([folder, scope]);
    const made = this.made.get(key) ?? this.run(folder, scope);
    this.made.set(key, made);
    return made;
  }

  private async run(folder: string, scope: Partial<Scope>): Promise<Entries | null> {
    const { result, out } = await this.bench.run(folder, { scope });
    if (result.outcome !== 'completed') return null;
    const entries: Record<string, string> = {};
    const cells = readdirSync(out).includes('cells') ? readdirSync(join(out, 'cells')) : [];
    for (const cell of cells.length > 0 ? cells.map((name) => `cells/${name}/`) : [''])
      for await (const { name, content } of unzip(join(out, cell, 'report.zip')))
        if (name !== 'provenance.json') entries[`${cell}${name}`] = sha256(content);
    return entries;
  }

  close(): Promise<void> {
    return this.bench.close();
  }
}

async function* unzip(from: Buffer | string): AsyncGenerator<{ name: string; content: Buffer }> {
  const zip = await (typeof from === 'string' ? yauzl.openPromise(from) : yauzl.fromBufferPromise(from));
  for await (const entry of zip.eachEntry())
    yield { name: entry.fileName, content: await buffer(await zip.openReadStreamPromise(entry)) };
}

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
