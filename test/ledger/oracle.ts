import type { LedgerEntry } from '../../contract/ledger.ts';
import type { Outcome, Step } from './book.ts';

type Line = Omit<LedgerEntry, 'created_ms'>;

/** The ledger as one would keep it on paper: a list of lines for each customer. */
export function paperLedger() {
  const lines: { readonly customer: string; readonly line: Line }[] = [];
  const find = (id: string) => lines.find(({ line }) => line.id === id);
  const of = (customer: string) => lines.filter((one) => one.customer === customer).map(({ line }) => line);
  const balance = (customer: string) => of(customer).reduce((sum, { change }) => sum + change, 0);

  function take(customer: string, { kind, of: name, amount }: Step): Outcome {
    const id = kind === 'grant' ? name : `${name}:${kind}`;
    const held = find(`${name}:hold`);
    const ends = kind === 'settle' || kind === 'release';
    if (ends && !held) return 'LedgerConflict';
    if (ends && find(`${name}:${kind === 'settle' ? 'release' : 'settle'}`)) return 'AlreadyEnded';

    const rest = held ? 0 - held.line.change - amount : 0;
    const line: Line = {
      id,
      kind,
      change: { grant: amount, hold: 0 - amount, settle: rest, release: rest + amount }[kind],
      spent: kind === 'settle' ? amount : 0,
      run_id: kind === 'grant' ? null : name,
    };
    const first = find(id);
    if (first) {
      const same =
        (ends || first.customer === customer) && JSON.stringify(first.line) === JSON.stringify(line);
      return same ? first.line : 'LedgerConflict';
    }
    if (kind === 'settle' && rest < 0) return 'LedgerConflict';
    if (kind === 'hold' && balance(customer) < amount) return 'InsufficientCredits';
    lines.push({ customer: ends ? held!.customer : customer, line });
    return line;
  }
  return { take, balance, history: (customer: string) => of(customer).reverse().slice(0, 25) };
}
