import { answer, exitCode, explain } from './failure.ts';
import { program } from './program.ts';

/** What is still being cleaned up at the end may take so long; then it is left. */
const LEAVE_MS = 10_000;

// Node.js warns of what this program uses, which is nothing to its user.
if (!process.argv.includes('--debug')) process.removeAllListeners('warning');
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

/** The one place where an error becomes a message, an answer and an exit code. */
function fail(error: unknown): void {
  process.exitCode = exitCode(error);
  process.stderr.write(explain(error, program.opts().debug === true));
  if (process.exitCode !== 0 && process.argv.includes('--json'))
    process.stdout.write(`${JSON.stringify(answer(error, program.args[0]))}\n`);
}
