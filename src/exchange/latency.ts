import type { Leg } from '../../contract/index.ts';

/** A leg's delay in whole ms for draw number `n`: a pure function of seed, leg and number, never of a running generator. */
export type Latency = (n: number) => number;

/** What a constant leg may be at most: a wide distribution must not put an arrival a century away. */
const LONGEST_MS = 60_000;
const Z99 = 2.3263478740408408;

/**
 * A constant leg is itself. A distribution is lognormal with the given median and 99th percentile, drawn by hash, so
 * that a draw does not depend on how many came before it.
 */
export function latency(leg: Leg, seed: number, salt: number): Latency {
  if (typeof leg === 'number') {
    const ms = Math.round(leg);
    return () => ms;
  }
  const sigma = Math.log(leg.p99 / leg.p50) / Z99;
  return (n) => Math.min(LONGEST_MS, Math.round(leg.p50 * Math.exp(sigma * normal(seed, salt, n))));
}

/** A standard normal deviate by Box and Muller from two hashed uniforms. */
function normal(seed: number, salt: number, n: number): number {
  const u = (hash(seed, salt, 2 * n) + 1) / 4294967297;
  const v = hash(seed, salt, 2 * n + 1) / 4294967296;
  return Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * v);
}

/** 32 well-mixed bits from three integers, by the finalizer of MurmurHash3 after each. */
function hash(seed: number, salt: number, n: number): number {
  let h = mix(seed | 0) ^ Math.imul(Math.floor(seed / 4294967296), 0x9e3779b1);
  h = mix(h ^ Math.imul(salt, 0x85ebca6b));
  return mix(h ^ n) >>> 0;
}

function mix(value: number): number {
  let h = value | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}
