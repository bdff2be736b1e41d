import type { LedgerEntry } from '../../contract/ledger.ts';
import { aligned } from '../report/summary.ts';
import { openClient, type ServerOptions } from './client.ts';

export interface BalanceOptions extends ServerOptions {
  readonly json?: boolean;
}

/** `backtest balance`. With `json`, stdout gets the service's own answer. */
export async function balanceCommand(options: BalanceOptions): Promise<void> {
  const account = await openClient(options).balance();
  const { balance, history } = account;
  const lines = history.length > 0 ? aligned(history.map(line)).join('\n') : 'Nothing was booked yet.';
  process.stdout.write(options.json ? `${JSON.stringify(account)}\n` : `${balance} credits\n\n${lines}\n`);
}

function line({ created_ms, kind, change, run_id }: LedgerEntry): string[] {
  const when = new Date(created_ms).toISOString().slice(0, 16).replace('T', ' ');
  return [when, kind, change > 0 ? `+${change}` : String(change), run_id ?? ''];
}
