import pino, { type DestinationStream, type Level, type Logger } from 'pino';
import type { WorkerEvent } from '../fleet/worker.ts';

const MESSAGE_CHARACTERS = 2_000;

/** JSON lines on stdout, or on `to`. */
export function makeLog(
  level: string,
  base: Readonly<Record<string, string>>,
  to?: DestinationStream,
): Logger {
  const formatters = { level: (label: string) => ({ level: label }) };
  const options = { level, base, formatters, timestamp: pino.stdTimeFunctions.isoTime };
  return to ? pino(options, to) : pino(options);
}

/** Writes what a worker tells of itself: fields that are named here one by one, never an object as it comes. */
export function logEvent(log: Logger, event: WorkerEvent): void {
  const [level, fields] = told(event);
  log[level]({ event: event.event, ...('claim' in event && claimed(event.claim)), ...fields });
}

function told(event: WorkerEvent): [Level, object] {
  switch (event.event) {
    case 'claimed':
    case 'handed_back':
      return ['info', {}];
    case 'lost':
      return ['warn', {}];
    case 'done':
      return ['info', { ...came(event.done), ended: event.ended, ms: Math.round(event.ms) }];
    case 'fault':
      return ['error', { wait_ms: event.wait_ms, message: clean(event.message) }];
    case 'swept': {
      const { expired, overdue, rung, removed } = event.swept;
      const any = expired + overdue + rung + removed > 0;
      return [any ? 'info' : 'trace', { expired, overdue, rung, removed }];
    }
    case 'trouble':
      return ['warn', { what: event.what, message: clean(event.message) }];
  }
}

const claimed = ({ run, number, fence, kind }: Extract<WorkerEvent, { claim: unknown }>['claim']) => ({
  run,
  fence,
  ...(kind === 'shard' ? { shard: number } : { assembly: number }),
});

function came(done: Extract<WorkerEvent, { event: 'done' }>['done']) {
  if ('assembly' in done) return { bytes: done.assembly.bytes };
  const { shard } = done;
  if (!shard.ok) return { outcome: shard.failure.kind };
  const { ticks, stage_ms, replay_ms } = shard;
  return { outcome: 'completed', ticks, stage_ms: Math.round(stage_ms), replay_ms: Math.round(replay_ms) };
}

/**
 * An error's message as a log may hold it: bounded, and without what opens a door. Keys, mail addresses, and of links
 * the name, the password and the query, which is where a signature stands.
 */
export function clean(message: string): string {
  return (
    message
      .slice(0, 2 * MESSAGE_CHARACTERS)
      .replace(/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/@'"]*@/gi, '$1')
      .replace(/(\b[a-z][a-z0-9+.-]*:\/\/[^\s?'"]*)\?[^\s'"]*/gi, '$1')
      .replace(/\bbk_[A-Za-z0-9_-]+/g, '[key]')
      .replace(/[^\s@<>"']+@[^\s@<>"']+\.[a-z]{2,}/gi, '[address]')
      // Only now, lest the half of a secret that was cut through be taken for something else.
      .slice(0, MESSAGE_CHARACTERS)
  );
}
