import { homedir, tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { FLEET_LIMITS, type FleetLimits } from '../contract/limits.ts';

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
  /** Where the embedded database, objects and secrets of this machine lie. */
  readonly data_folder: string;
  /** `postgres://...`; null: embedded, in the data folder. */
  readonly database_url: string | null;
  /** `redis://...`; null: a queue inside of this process. */
  readonly redis_url: string | null;
  /** Null: objects in the data folder. */
  readonly s3: S3Config | null;
  /** The archive that the fleet replays: a folder or an http(s) address. */
  readonly archive: string | null;
  readonly host: string;
  readonly port: number;
  /** Where clients reach the api; null: by its host and port. */
  readonly public_url: string | null;
  /** Load balancers in front of the api: so many of the addresses that a request names are taken at their word. */
  readonly proxies: number;
  /** Where a worker answers /live, /ready and /metrics. */
  readonly ops_port: number;
  /** How many tasks a worker takes at once; null: one for each core. */
  readonly slots: number | null;
  /** What a worker runs strategies in. `process` protects nothing: for one's own code only. */
  readonly sandbox: 'docker' | 'process';
  readonly fleet: FleetLimits;
  readonly log_level: string;
  /** For commands against a server: its address and the key to use. */
  readonly server: string | null;
  readonly key: string | null;
}

export interface S3Config {
  readonly bucket: string;
  readonly region: string;
  /** Null: AWS itself. */
  readonly endpoint: string | null;
  /** Null: as AWS's own tools find them. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | null;
}

type Env = Readonly<Record<string, string | undefined>>;

const CACHE_GB = 20;
const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/** Throws an Error that names the variable when one is unusable. An empty variable counts as not set. */
export function parse(env: Env, home: string, temp: string): Config {
  const gigabytes = Number(env.BACKTEST_CACHE_GB || CACHE_GB);
  if (!(gigabytes >= 0 && gigabytes <= 1e6)) {
    throw new Error(
      `BACKTEST_CACHE_GB is "${env.BACKTEST_CACHE_GB}". It must be a number of gigabytes, such as 20.`,
    );
  }
  return Object.freeze({
    cache_folder: env.BACKTEST_CACHE || xdg(env.XDG_CACHE_HOME, join(home, '.cache')),
    cache_bytes: Math.floor(gigabytes * 1e9),
    temp_folder: temp,
    docker_host: env.DOCKER_HOST || null,
    draw: !env.CI && env.TERM !== 'dumb',
    data_folder: env.BACKTEST_DATA || xdg(env.XDG_DATA_HOME, join(home, '.local/share')),
    database_url: url(env, 'DATABASE_URL', ['postgres:', 'postgresql:']),
    redis_url: url(env, 'REDIS_URL', ['redis:', 'rediss:']),
    s3: s3(env),
    archive: env.BACKTEST_ARCHIVE || null,
    host: env.BACKTEST_HOST || '127.0.0.1',
    port: whole(env, 'BACKTEST_PORT', 65_535) ?? 8080,
    public_url: url(env, 'BACKTEST_PUBLIC_URL', ['http:', 'https:'])?.replace(/\/+$/, '') ?? null,
    proxies: whole(env, 'BACKTEST_PROXIES', 16) ?? 0,
    ops_port: whole(env, 'BACKTEST_OPS_PORT', 65_535) ?? 9090,
    slots: whole(env, 'BACKTEST_SLOTS', 256) || null,
    sandbox: oneOf(env, 'BACKTEST_SANDBOX', ['docker', 'process'], 'docker'),
    fleet: fleet(env),
    log_level: oneOf(env, 'BACKTEST_LOG', LEVELS, 'info'),
    server: url(env, 'BACKTEST_SERVER', ['http:', 'https:'])?.replace(/\/+$/, '') ?? null,
    key: env.BACKTEST_KEY || null,
  });
}

const xdg = (folder: string | undefined, otherwise: string): string =>
  join(isAbsolute(folder ?? '') ? folder! : otherwise, 'backtest-fleet');

function url(env: Env, name: string, protocols: readonly string[]): string | null {
  const value = env[name];
  if (!value) return null;
  // Not quoted: it may hold a password.
  if (!URL.canParse(value) || !protocols.includes(new URL(value).protocol))
    throw new Error(
      `${name} is no address that begins with ${protocols.map((one) => `${one}//`).join(' or ')}`,
    );
  return value;
}

function whole(env: Env, name: string, most: number): number | null {
  const value = env[name];
  if (!value) return null;
  if (!/^\d{1,9}$/.test(value) || Number(value) > most)
    throw new Error(`${name} is "${value}". It must be a whole number of at most ${most}.`);
  return Number(value);
}

function oneOf<T extends string>(env: Env, name: string, values: readonly T[], otherwise: T): T {
  const value = (env[name] || otherwise) as T;
  if (!values.includes(value))
    throw new Error(`${name} is "${value}". It must be one of ${values.join(', ')}.`);
  return value;
}

/** What an operator may tune of the fleet. All workers of a fleet should agree on the lease. */
function fleet(env: Env): FleetLimits {
  const ms = (name: string, otherwise: number, least: number): number => {
    const value = whole(env, name, 86_400_000) ?? otherwise;
    if (value < least) throw new Error(`${name} is "${value}". It must be at least ${least} milliseconds.`);
    return value;
  };
  const lease_ms = ms('BACKTEST_LEASE_MS', FLEET_LIMITS.lease_ms, 300);
  return Object.freeze({
    ...FLEET_LIMITS,
    lease_ms,
    // A claim is renewed at these moments only.
    progress_ms: Math.min(FLEET_LIMITS.progress_ms, Math.floor(lease_ms / 3)),
    sweep_ms: ms('BACKTEST_SWEEP_MS', FLEET_LIMITS.sweep_ms, 100),
    grace_ms: ms('BACKTEST_GRACE_MS', FLEET_LIMITS.grace_ms, 0),
    backoff_ms: ms('BACKTEST_BACKOFF_MS', FLEET_LIMITS.backoff_ms, 1),
  });
}

function s3(env: Env): S3Config | null {
  const bucket = env.BACKTEST_S3_BUCKET;
  if (!bucket) return null;
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  return {
    bucket,
    region: env.AWS_REGION || 'us-east-1',
    endpoint: url(env, 'BACKTEST_S3_ENDPOINT', ['http:', 'https:']),
    credentials: accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : null,
  };
}

export const readConfig = (): Config => parse(process.env, homedir(), tmpdir());
