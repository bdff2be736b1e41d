/** The customer has fewer credits than are asked for. Nothing changed. */
export class InsufficientCredits extends Error {
  readonly balance: number;
  readonly required: number;

  constructor(balance: number, required: number) {
    super(`${required} credits are needed, ${balance} are there`);
    this.name = 'InsufficientCredits';
    this.balance = balance;
    this.required = required;
  }
}

/** What is asked contradicts what the ledger holds already. Nothing changed; asking again does not help. */
export class LedgerConflict extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LedgerConflict';
  }
}

/** The hold was ended the other way before. Nothing changed. */
export class AlreadyEnded extends Error {
  constructor(run: string, kind: string) {
    super(`the hold of ${run} was ended by a ${kind} before`);
    this.name = 'AlreadyEnded';
  }
}
