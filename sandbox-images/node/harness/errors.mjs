import { inspect } from 'node:util';

/** The strategy broke a rule of the harness; the message says which. */
export class StrategyError extends Error {
  name = 'StrategyError';
}

export const OUTSIDE =
  'ctx was used outside of a running hook. Use it only inside the hook that received it: ' +
  'not from another thread, a callback, or after the hook returned.';

export const KEPT =
  'a row was kept after its hook had returned, and is over by now: keep row.copy() instead.';

/**
 * The text as UTF-8 of at most `limit` bytes, cut between characters, with the note where something is missing.
 * @param {string} text
 * @param {number} limit
 * @param {string} note
 */
export function cut(text, limit, note) {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= limit) return bytes;
  const kept = start(bytes, Math.max(0, limit - Buffer.byteLength(note)));
  return Buffer.concat([kept, Buffer.from(note)]);
}

/** The first bytes of UTF-8 text, at most `limit`, without half a character at the end. */
function start(bytes, limit) {
  let end = limit;
  while (end > 0 && (bytes[end] & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end);
}

/** The last bytes, without half a character at the start. */
function rest(bytes, limit) {
  let from = bytes.length - limit;
  while (from < bytes.length && (bytes[from] & 0xc0) === 0x80) from++;
  return bytes.subarray(from);
}

/** A traceback with the strategy's own frames only, its files named as the author named them. */
export function describe(error, folder, limit) {
  let text;
  try {
    text = chain(error, `${folder}/`, 0);
  } catch {
    text = 'an exception that cannot be shown';
  }
  // The first lines say what happened, the last ones where it began: keep both ends.
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= limit) return bytes;
  const note = Buffer.from('\n ... [cut] ...\n');
  const half = Math.floor((limit - note.length) / 2);
  return Buffer.concat([start(bytes, half), note, rest(bytes, half)]);
}

function chain(error, folder, depth) {
  if (!(error instanceof Error)) return `Uncaught ${typeof error === 'string' ? error : inspect(error)}`;
  const own = String(error.stack ?? error)
    .split('\n')
    .filter((line) => !/^\s+at /.test(line) || line.includes(folder))
    .join('\n')
    .replaceAll(`file://${folder}`, '')
    .replaceAll(folder, '');
  if (error.cause === undefined || depth === 8) return own;
  return `${own}\n[cause]: ${chain(error.cause, folder, depth + 1)}`;
}
