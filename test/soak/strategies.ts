import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Scope } from '../../contract/index.ts';
import { strategy } from '../run/runs.ts';

/** A kind of run that customers submit, and how it ends when nothing is wrong with the fleet. */
export interface Kind {
  readonly name: string;
  readonly folder: string;
  readonly wanted: Partial<Scope>;
  readonly ends: 'done' | 'failed';
  /** What it costs when it is done. */
  readonly spent: number;
}

const day = { assets: ['BTC'], from: '2026-10-14', to: '2026-10-14' };
const days = { ...day, to: '2026-10-15' };

/** All kinds; strategies that are no fixtures are written into `folder`. */
export function kinds(folder: string): Kind[] {
  const made = (name: string, manifest: object, body: string): string => {
    const path = join(folder, name);
    mkdirSync(path, { recursive: true });
    const whole = {
      contract: 1,
      name,
      language: 'nodejs@24',
      entry: 'main.mjs',
      datasets: ['book'],
      ...manifest,
    };
    writeFileSync(join(path, 'manifest.json'), JSON.stringify(whole));
    writeFileSync(join(path, 'main.mjs'), `export class Strategy {\n${body}\n}\n`);
    return path;
  };
  const buys = `onMarketOpen(ctx, market) { ctx.buy({ market, outcome: 'up', size: ctx.params.size, limit: 0.9 }); }`;
  const sweep = { params: { size: 1 }, sweep: { size: [5, 10] } };
  const breaks = `onMarketOpen(ctx) { if (ctx.params.size === 10) throw new Error('broken'); ctx.log('fine'); }`;
  return [
    { name: 'market', folder: strategy('idle-node'), wanted: day, ends: 'done', spent: 1 },
    { name: 'two days', folder: strategy('timers-node'), wanted: days, ends: 'done', spent: 2 },
    {
      name: 'session',
      folder: made('session', { mode: 'session', params: { size: 5 } }, buys),
      wanted: days,
      ends: 'done',
      spent: 2,
    },
    { name: 'sweep', folder: made('sweep', sweep, buys), wanted: day, ends: 'done', spent: 2 },
    { name: 'half a sweep', folder: made('half', sweep, breaks), wanted: day, ends: 'done', spent: 1 },
    {
      name: 'broken',
      folder: made('broken', { params: { size: 10 } }, breaks),
      wanted: days,
      ends: 'failed',
      spent: 0,
    },
  ];
}
