// A process of the fleet: `main.js worker` (the default), `main.js api`, or `main.js all`. Options come by the environment.
import { constants } from 'node:os';
import { readConfig } from '../src/config.ts';
import { clean, makeLog } from '../src/ops/log.ts';
import { type Role, roles, startService } from '../src/ops/service.ts';

const role = (process.argv[2] ?? 'worker') as Role;
let log = makeLog('info', { role });
let leaving = false;

process.on('uncaughtException', fail);

try {
  if (!roles.includes(role)) throw new Error(`"${role}" is none of: ${roles.join(', ')}.`);
  const config = readConfig();
  log = makeLog(config.log_level, { role });
  const service = await startService(config, role, log);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => leave(signal, service));
  await service.started;
} catch (error) {
  fail(error);
}

/** Asked once, it finishes what it has or hands it back; asked twice, it leaves that to the sweepers of others. */
function leave(signal: 'SIGTERM' | 'SIGINT', service: { stop(): Promise<void> }): void {
  if (leaving) process.exit(128 + constants.signals[signal]);
  leaving = true;
  service.stop().then(() => process.exit(0), fail);
}

function fail(error: unknown): void {
  log.fatal({ event: 'failed', message: clean((error as Error).stack ?? String(error)) });
  process.exit(1);
}
