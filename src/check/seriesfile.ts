import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Limits } from '../../contract/limits.ts';
import { Rejection } from '../../contract/rejection.ts';
import { checkSeries, type Series } from './series.ts';
import type { SeriesAnswer, SeriesRequest } from './seriesthread.ts';

/** What is read within some ms is not worth a thread. */
const INLINE_BYTES = 512 * 1024;
const THREAD = new URL(`./seriesthread${extname(import.meta.url)}`, import.meta.url);

/** As `checkSeries`, but a large one is read on another thread: an api answers others meanwhile. */
export async function readSeriesFile(
  name: string,
  bytes: Uint8Array,
  limits: Pick<Limits, 'series_bytes'>,
): Promise<Series> {
  if (bytes.length < INLINE_BYTES) return checkSeries(name, bytes, limits);
  const thread = new Worker(THREAD, { workerData: { name, bytes, limits } satisfies SeriesRequest });
  const [answer] = (await once(thread, 'message')) as [SeriesAnswer];
  if ('refused' in answer) throw new Rejection('E_SERIES', answer.refused);
  return answer.series;
}
