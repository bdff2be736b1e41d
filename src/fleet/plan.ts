import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type Limits, type Plan, plan as planSchema } from '../../contract/index.ts';
import { type Prepared, readSeries } from '../run/prepare.ts';
import type { ObjectStore } from '../store/store.ts';
import { fetchObject } from './object.ts';

/** The object that says all of what to run, named by its content. `uploads`: a series' file and its object. */
export async function storePlan(
  store: ObjectStore,
  prepared: Prepared,
  uploads: ReadonlyMap<string, string>,
): Promise<string> {
  const { checked, manifestText: manifest_text, files, series, quote, marketDays } = prepared;
  const plan: Plan = {
    format: 1,
    checked: { ...checked, manifest: prepared.manifest },
    manifest_text,
    files: [...files],
    series: series.map(({ file, sha256 }) => ({ file, sha256, object: uploads.get(file)! })),
    quote,
    market_days: [...marketDays],
  };
  const bytes = gzipSync(JSON.stringify(plan));
  const key = `plan/${createHash('sha256').update(bytes).digest('hex')}.json.gz`;
  await store.put(key, bytes);
  return key;
}

/** Reads a plan back, series included. Throws a fault where an object is missing or not what it was. */
export async function loadPlan(store: ObjectStore, key: string, limits: Limits): Promise<Prepared> {
  const bytes = await fetchObject(store, key, /^plan\/([0-9a-f]{64})/.exec(key)![1]!);
  const plan = planSchema.parse(JSON.parse(gunzipSync(bytes).toString()));
  const { manifest } = plan.checked;
  const sha256 = new Map(plan.series.map((one) => [one.object, one.sha256]));
  const places = new Map(plan.series.map(({ file, object }) => [file, object]));
  const series = await readSeries(manifest, places, limits, (object) =>
    fetchObject(store, object, sha256.get(object)!),
  );
  return {
    checked: plan.checked,
    manifest,
    manifestText: plan.manifest_text,
    files: plan.files,
    series,
    venue: plan.quote.venue,
    quote: plan.quote,
    marketDays: plan.market_days,
  };
}
