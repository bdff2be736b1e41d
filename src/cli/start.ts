import { Mistake } from './failure.ts';

/** `backtest init`. */
export async function start(_dir: string, _options: { readonly language: string }): Promise<void> {
  throw new Mistake('backtest init has no templates yet.');
}
