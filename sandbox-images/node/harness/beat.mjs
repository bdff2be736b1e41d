import { workerData } from 'node:worker_threads';
import { FromBox, NO_HOOK } from './codes.mjs';
import { CLOCK_AT, Shared, writeFrames } from './control.mjs';

/**
 * The watchdog's thread: tells the worker each second where the strategy is, also while a hook does not return.
 * Nobody times a hook, as that would cost more than most hooks: a look at the count of calls is what tells.
 */
const LOOK_MS = 250;
const LOOKS_PER_BEAT = 4;

const { fd, buffer } = workerData;
const shared = new Int32Array(buffer);
const clock = new Float64Array(buffer, CLOCK_AT, 1);
let seen = -1;
let since = 0;
for (let looks = 1; ; looks++) {
  Atomics.wait(shared, Shared.wait, 0, LOOK_MS);
  const moment = performance.now();
  const serial = shared[Shared.serial];
  const hook = shared[Shared.hook];
  if (serial !== seen) {
    seen = serial;
    since = moment;
  }
  if (looks % LOOKS_PER_BEAT !== 0) continue;
  const { user, system } = process.cpuUsage();
  const payload = Buffer.alloc(32);
  payload.writeDoubleLE(clock[0], 0);
  payload.writeDoubleLE((user + system) / 1000, 8);
  payload.writeDoubleLE(hook === NO_HOOK ? 0 : moment - since, 16);
  payload.writeUInt16LE(shared[Shared.market], 24);
  payload[26] = hook;
  try {
    writeFrames(fd, shared, [[FromBox.beat, payload]]);
  } catch {
    break; // nobody listens any more
  }
}
