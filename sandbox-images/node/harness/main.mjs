/** The harness of a Node strategy: node main.mjs WIRE_DIR WORK_DIR. It holds no engine: frames in, hooks, frames out. */
import { WorkerGone } from './control.mjs';
import { dial } from './reader.mjs';
import { Run } from './run.mjs';

const [wireFolder, workFolder] = process.argv.slice(2);
// Kept from before the strategy runs; it leaves without asking handlers or threads that the strategy left behind.
const exit = process.reallyExit.bind(process);

const control = await dial(`${wireFolder}/control`);
const bulk = await dial(`${wireFolder}/bulk`);
// Writes go by the descriptor: a hook may block the thread for long, and the watchdog's thread writes too.
const run = new Run(control.socket._handle.fd, control, bulk, workFolder);

function fail(error) {
  try {
    run.failed(error);
  } catch {
    // The worker is gone; its verdict does not wait for ours.
  }
  exit(error instanceof WorkerGone ? 3 : 1);
}
// An error in a callback or a promise of the strategy's own ends the run like one in a hook.
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);

try {
  await run.serve();
} catch (error) {
  fail(error);
}
exit(0);
