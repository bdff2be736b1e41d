// npm run demo [-- --sandbox docker|process ...]: a first backtest, straight from a clone.
import { handOver, prepare, stop } from './prepare.mjs';
import { sandboxProblem } from './sandbox.mjs';

await prepare();
const args = process.argv.slice(2);
const wanted = args.join(' ').match(/--sandbox[ =](\w+)/)?.[1];
if (wanted !== 'process') {
  const problem = await sandboxProblem();
  if (problem && wanted) stop(problem);
  if (problem) {
    console.error(
      `No containers here, so the strategy runs as a plain process of yours. ${problem.split('\n')[0]}`,
    );
    args.push('--sandbox', 'process');
  }
}
await handOver(process.execPath, ['dist/src/cli/main.js', 'demo', ...args]);
