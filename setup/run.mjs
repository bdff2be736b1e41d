// node setup/run.mjs FILE.ts [arguments]: runs a TypeScript file under a Node.js that can.
import { resolve } from 'node:path';
import { handOver, prepare, stop } from './prepare.mjs';

const [file, ...args] = process.argv.slice(2);
if (!file) stop('Usage: node setup/run.mjs FILE.ts [arguments]');
await prepare();
await handOver(process.execPath, [resolve(file), ...args]);
