import { expect, test } from 'vitest';
import { parse } from '../../src/config.ts';

const config = (env: Record<string, string>) => parse(env, '/home/me', '/tmp');

test('with an empty environment everything has a sensible place', () => {
  expect(config({})).toEqual({
    cache_folder: '/home/me/.cache/backtest-fleet',
    cache_bytes: 20e9,
    temp_folder: '/tmp',
    docker_host: null,
    draw: true,
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
