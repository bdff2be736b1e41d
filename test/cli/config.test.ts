import { expect, test } from 'vitest';
import { FLEET_LIMITS } from '../../contract/index.ts';
import { parse } from '../../src/config.ts';

const config = (env: Record<string, string>) => parse(env, '/home/me', '/tmp');

test('with an empty environment everything has a sensible place', () => {
  expect(config({})).toEqual({
    cache_folder: '/home/me/.cache/backtest-fleet',
    cache_bytes: 20e9,
    temp_folder: '/tmp',
    docker_host: null,
    draw: true,
    data_folder: '/home/me/.local/share/backtest-fleet',
    database_url: null,
    redis_url: null,
    s3: null,
    archive: null,
    host: '127.0.0.1',
    port: 8080,
    public_url: null,
    proxies: 0,
    ops_port: 9090,
    slots: null,
    sandbox: 'docker',
    fleet: FLEET_LIMITS,
    log_level: 'info',
    server: null,
    key: null,
  });
});

test('the cache goes where the desktop keeps caches, or where one says', () => {
  expect(config({ XDG_CACHE_HOME: '/big' }).cache_folder).toBe('/big/backtest-fleet');
  expect(config({ XDG_CACHE_HOME: '/big', BACKTEST_CACHE: '/bigger' }).cache_folder).toBe('/bigger');
  // The standard for it says that a relative path is to be ignored.
  expect(config({ XDG_CACHE_HOME: 'here' }).cache_folder).toBe('/home/me/.cache/backtest-fleet');
});

test('a size that is no number is refused by the name of its variable', () => {
  expect(config({ BACKTEST_CACHE_GB: '0.5' }).cache_bytes).toBe(5e8);
  for (const text of ['lots', '-1', 'NaN'])
    expect(() => config({ BACKTEST_CACHE_GB: text })).toThrow(/BACKTEST_CACHE_GB/);
});

test('an empty variable counts as not set', () => {
  expect(config({ DOCKER_HOST: '', BACKTEST_CACHE_GB: '', CI: '' })).toEqual(config({}));
});

test('nothing is drawn in CI or on a terminal that cannot', () => {
  expect(config({ CI: 'true' }).draw).toBe(false);
  expect(config({ TERM: 'dumb' }).draw).toBe(false);
});

test('an operator tunes how a fleet shares runs, within reason', () => {
  const env = {
    BACKTEST_LEASE_MS: '900',
    BACKTEST_SWEEP_MS: '200',
    BACKTEST_GRACE_MS: '0',
    BACKTEST_BACKOFF_MS: '5',
  };
  expect(config(env).fleet).toEqual({
    ...FLEET_LIMITS,
    lease_ms: 900,
    sweep_ms: 200,
    grace_ms: 0,
    backoff_ms: 5,
    // A lease is renewed well before it ends.
    progress_ms: 300,
  });
  for (const name of Object.keys(env)) {
    expect(() => config({ [name]: 'soon' })).toThrow(name);
    expect(() => config({ [name]: '-1' })).toThrow(name);
  }
  expect(() => config({ BACKTEST_LEASE_MS: '1' })).toThrow(
    /BACKTEST_LEASE_MS is "1". It must be at least 300/,
  );
});

test('a sandbox is docker unless one says otherwise, in so many words', () => {
  expect(config({ BACKTEST_SANDBOX: 'process' }).sandbox).toBe('process');
  expect(() => config({ BACKTEST_SANDBOX: 'none' })).toThrow(/BACKTEST_SANDBOX is "none".*docker, process/);
});
