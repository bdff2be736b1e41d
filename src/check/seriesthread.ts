// The thread in which a large series is read: what it is given as workerData, what came of it as its one message.
import { parentPort, workerData } from 'node:worker_threads';
import type { Limits } from '../../contract/limits.ts';
import { Rejection } from '../../contract/rejection.ts';
import { checkSeries, type Series } from './series.ts';

export interface SeriesRequest {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly limits: Pick<Limits, 'series_bytes'>;
}

export type SeriesAnswer = { readonly series: Series } | { readonly refused: string };

const { name, bytes, limits } = workerData as SeriesRequest;
try {
  const series = checkSeries(name, bytes, limits);
  const arrays = [series.ts, ...series.values].map(({ buffer }) => buffer as ArrayBuffer);
  parentPort!.postMessage({ series } satisfies SeriesAnswer, arrays);
} catch (error) {
  if (!(error instanceof Rejection)) throw error;
  parentPort!.postMessage({ refused: error.message } satisfies SeriesAnswer);
}
