import { LIMITS } from '../../contract/limits.ts';
import { Rejection } from '../../contract/rejection.ts';
import type { Checked, SourceFile } from '../../contract/source.ts';
import { analyse, type CheckOptions } from '../../src/check/analyse.ts';

const everything = ['prices', 'book', 'best_bid_ask', 'last_trade_price', 'tick_size_change', 'klines'];

export const python = { language: 'python@3.14', entry: 'main.py', datasets: everything };
export const node = { language: 'nodejs@24', entry: 'main.js', datasets: everything };

/** Files of a strategy: a manifest made of the given keys, and sources by name. */
export function strategy(manifest: object, sources: Record<string, string>): SourceFile[] {
  const whole = { 'manifest.json': JSON.stringify({ contract: 1, name: 'test', ...manifest }), ...sources };
  return Object.entries(whole).map(([name, content]) => ({ name, content }));
}

export const accepted = (files: readonly SourceFile[], options: Partial<CheckOptions> = {}): Checked =>
  analyse(files, { limits: LIMITS, ...options });

/** The code and the words with which files are refused; fails when they are not. */
export function refused(files: readonly SourceFile[], options: Partial<CheckOptions> = {}): string {
  try {
    analyse(files, { limits: LIMITS, ...options });
  } catch (error) {
    if (error instanceof Rejection) return `${error.code} ${error.message}`;
    throw error;
  }
  throw new Error('expected a rejection');
}

export const PY = 'class Strategy:\n    def on_book(self, ctx, change):\n        pass\n';
export const JS = 'export class Strategy {\n  onBook(ctx, change) {}\n}\n';
