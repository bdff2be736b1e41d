import { homedir, tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** Everything that the environment decides. */
export interface Config {
  /** Where staged archive days are kept, and how much of them. */
  readonly cache_folder: string;
  readonly cache_bytes: number;
  /** For sockets and scratch files; a Docker engine must see it under the same path. */
  readonly temp_folder: string;
  /** As in DOCKER_HOST; null: the engine of this machine. */
  readonly docker_host: string | null;
  /** Whether a terminal may be drawn on: not in CI, not on a terminal that cannot. */
  readonly draw: boolean;
}

type Env = Readonly<Record<string, string | undefined>>;

const CACHE_GB = 20;

/** Throws an Error that names the variable when one is unusable. An empty variable counts as not set. */
export function parse(env: Env, home: string, temp: string): Config {
  const gigabytes = Number(env.BACKTEST_CACHE_GB || CACHE_GB);
  if (!(gigabytes >= 0 && gigabytes <= 1e6)) {
    throw new Error(
      `BACKTEST_CACHE_GB is "${env.BACKTEST_CACHE_GB}". It must be a number of gigabytes, such as 20.`,
    );
  }
  const xdg = env.XDG_CACHE_HOME ?? '';
  return Object.freeze({
    cache_folder: env.BACKTEST_CACHE || join(isAbsolute(xdg) ? xdg : join(home, '.cache'), 'backtest-fleet'),
    cache_bytes: Math.floor(gigabytes * 1e9),
    temp_folder: temp,
    docker_host: env.DOCKER_HOST || null,
    draw: !env.CI && env.TERM !== 'dumb',
  });
}

export const readConfig = (): Config => parse(process.env, homedir(), tmpdir());
