import { CommanderError } from 'commander';
import { exitCode, explain } from './failure.ts';
import { program } from './program.ts';

/** What is still being cleaned up at the end may take so long; then it is left. */
const LEAVE_MS = 10_000;

process.on('uncaughtException', (error) => {
  fail(error);
  process.exit();
});
// A reader that has seen enough, such as `head`, is no error.
process.stdout.on('error', () => process.exit());

try {
  await program.parseAsync();
} catch (error) {
  fail(error);
}
setTimeout(() => process.exit(), LEAVE_MS).unref();

/** The one place where an error becomes a message and an exit code. */
function fail(error: unknown): void {
  // Commander has printed its own.
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode;
    return;
  }
  process.stderr.write(explain(error, program.opts().debug === true));
  process.exitCode = exitCode(error);
}
