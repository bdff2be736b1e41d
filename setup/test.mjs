// npm test [-- vitest's arguments]
import { handOver, prepare } from './prepare.mjs';
import { sandboxProblem } from './sandbox.mjs';

await prepare();
const problem = await sandboxProblem();
if (problem) console.error(`Tests that need containers will fail: ${problem}`);
await handOver(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...process.argv.slice(2)]);
