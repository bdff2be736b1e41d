import { setTimeout as sleep } from 'node:timers/promises';
import type { Run } from '../../contract/api.ts';
import type { RunReport } from '../../contract/state.ts';
import { readConfig } from '../config.ts';
import { aligned, fixed } from '../report/summary.ts';
import { type Client, NoAnswer, openClient, type ServerOptions } from './client.ts';
import { Mistake } from './failure.ts';
import { meter, textOf } from './progress.ts';
import { tell } from './run.ts';

/** A run that takes long is asked for less often: after some minutes every five seconds. */
const ASK_MS = { first: 1_000, most: 5_000, growth: 0.02 };

export interface StatusOptions extends ServerOptions {
  readonly watch?: boolean;
  readonly json?: boolean;
}

/** `backtest status`. With `json`, stdout gets the service's own answer: a run, or a list of runs. */
export async function statusCommand(id: string | undefined, options: StatusOptions): Promise<void> {
  if (id === undefined && options.watch)
    throw new Mistake('--watch needs a run: npx backtest status RUN --watch');
  const client = openClient(options);
  if (id === undefined) {
    const runs = await client.runs();
    process.stdout.write(options.json ? `${JSON.stringify({ runs })}\n` : list(runs));
    return;
  }
  const run = options.watch ? await watch(client, id) : await client.run(id);
  process.exitCode = exitOf(run);
  process.stdout.write(options.json ? `${JSON.stringify(run)}\n` : describe(run));
}

/** Shows on stderr how far a run is until it is over. Ctrl-C leaves the run alone. */
export async function watch(client: Client, id: string): Promise<Run> {
  const display = meter(readConfig().draw && process.stderr.isTTY === true);
  const leave = (): void => {
    display.stop();
    process.stderr.write(`\nThe run goes on. Come back to it: npx backtest status ${id} --watch\n`);
    process.exit(130);
  };
  process.on('SIGINT', leave);
  try {
    const began = performance.now();
    for (let place = -1; ; ) {
      const run = await client.run(id).catch((error) => {
        if (!(error instanceof NoAnswer)) throw error;
        throw new NoAnswer(
          `${error.message}\nThe run is not lost. Come back to it: npx backtest status ${id} --watch`,
        );
      });
      if (run.finished_ms !== null) {
        // A short one ends between two looks; what was shown last would stand there as if it had been all.
        if (run.status === 'done' && run.progress !== null) display.show(run.progress);
        return run;
      }
      if (run.progress !== null) display.show(run.progress);
      else if (run.queue_position !== null && run.queue_position !== place) {
        place = run.queue_position;
        process.stderr.write(`queued, place ${place}\n`);
      }
      const waited = performance.now() - began;
      await sleep(Math.min(ASK_MS.first + waited * ASK_MS.growth, ASK_MS.most));
    }
  } finally {
    display.stop();
    process.off('SIGINT', leave);
  }
}

/** As of `backtest run`: 2 for the strategy's failure, 3 for a fault of the service. */
export function exitOf({ status, rejection }: Run): number {
  if (status !== 'failed') return 0;
  return rejection !== null && 'kind' in rejection ? 2 : 3;
}

/** A run in words. `report`: where its report is to be had. */
export function describe(run: Run, report = `npx backtest fetch ${run.run_id}`): string {
  const { run_id, status, venue, assets, from, to, language, mode, rejection } = run;
  const scope = `  ${assets.join(' ')} on ${venue}, ${from} to ${to}, ${language}, ${mode} mode`;
  const now = run.progress !== null && run.finished_ms === null ? `, ${textOf(run.progress)}` : '';
  const place = run.queue_position === null ? '' : `, place ${run.queue_position}`;
  const lines = [`${run_id}: ${status}${place}${now}`, scope, `  ${credits(run)}`, ''];
  if (rejection !== null) lines.push(tell({ outcome: 'failed', rejection }));
  if (run.report !== null) lines.push(...results(run.report), '');
  if (run.archive_available) lines.push(`  report: ${report}`, '');
  return lines.join('\n');
}

function credits({ market_days, credits_held, credits_spent }: Run): string {
  const days = `${fixed(market_days)} market-days`;
  if (credits_spent === null) return `${days}, ${fixed(credits_held)} credits held`;
  return `${days}, ${fixed(credits_spent)} credits charged, ${fixed(credits_held - credits_spent)} returned`;
}

/** A line for each cell, and why the first of those that failed did. */
function results({ cells }: RunReport): string[] {
  const swept = cells.length > 1 ? Object.keys(cells[0]!.params).filter((name) => differs(cells, name)) : [];
  const rows = cells.map(({ params, net, fills, markets, failure }) => [
    ...swept.map((name) => JSON.stringify(params[name])),
    net === null ? (failure?.code ?? '-') : `${fixed(net, 2)} $`,
    ...[fills, markets].map((count) => (count === null ? '-' : fixed(count))),
  ]);
  const table = aligned([[...swept, 'net pnl', 'fills', 'markets'], ...rows]);
  const failures = cells.flatMap(({ failure }) => failure ?? []);
  if (failures.length === 0) return table;
  const count = `${failures.length} of ${cells.length} cells failed, as cells.json in the report tells.`;
  return [...table, '', `  ${count} The first:`, `  ${failures[0]!.detail}`];
}

const differs = (cells: RunReport['cells'], name: string): boolean =>
  new Set(cells.map(({ params }) => JSON.stringify(params[name]))).size > 1;

function list(runs: readonly Run[]): string {
  if (runs.length === 0) return 'no runs yet\n';
  const rows = runs.map((run) => [
    run.run_id,
    run.status,
    new Date(run.created_ms).toISOString().slice(0, 16).replace('T', ' '),
    run.assets.join(' '),
    fixed(run.credits_spent ?? run.credits_held),
  ]);
  const head = ['run', 'status', 'submitted (UTC)', 'assets', 'credits'];
  return `${aligned([head, ...rows]).join('\n')}\n`;
}
