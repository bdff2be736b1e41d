import { connect } from '../compose.ts';
import { readConfig } from '../config.ts';
import { buildImages } from '../sandbox/images.ts';

/** `backtest images build`. */
export async function buildAll(): Promise<void> {
  const docker = await connect(readConfig());
  await buildImages({ docker, log: (line) => process.stderr.write(`${line}\n`) });
}
