// npm test [-- vitest's arguments]
import { handOver, prepare } from './prepare.mjs';
import { sandboxProblem } from './sandbox.mjs';
import { servicesProblem } from './services.mjs';

await prepare();
const engine = await sandboxProblem();
if (engine) console.error(`Tests that need containers will fail: ${engine}`);
const services = await servicesProblem();
if (services) console.error(`Tests that need Redis, Postgres or an S3 server will fail: ${services}`);
await handOver(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...process.argv.slice(2)]);
