import { DOLLAR } from './units.ts';

/**
 * What a taker pays. `quadratic`: shares x rate x p (1 - p); `linear`: shares x rate x min(p, 1 - p); `notional`:
 * shares x p x rate. Rounded down to 1e-5 dollars for each fill. Makers pay nothing on either venue.
 * `taken_in` shares: a buyer receives fewer shares instead of paying cash; sellers always pay cash.
 */
export interface Fee {
  readonly curve: 'quadratic' | 'linear' | 'notional';
  /** Count of 1e-6. */
  readonly rate: number;
  readonly taken_in: 'cash' | 'shares';
}

const FIVE_DECIMALS = 10;

/** Micro-dollars for one fill. BigInt: the product of four integers leaves the safe range; fills are rare. */
export function takerFee(fee: Fee, price: number, size: number): number {
  const other = DOLLAR - price;
  const shape =
    fee.curve === 'quadratic'
      ? price * other
      : DOLLAR * (fee.curve === 'linear' ? Math.min(price, other) : price);
  // size 1e-4 x rate 1e-6 x shape 1e-8 = 1e-18 dollars; 1e13 of those are 1e-5 dollars.
  return Number((BigInt(size) * BigInt(fee.rate) * BigInt(shape)) / 10_000_000_000_000n) * FIVE_DECIMALS;
}

/** The most that a buy of `size` at or under `limit` can cost in cash fees. */
export function greatestFee(fee: Fee, limit: number, size: number): number {
  if (fee.taken_in === 'shares') return 0;
  return takerFee(fee, fee.curve === 'notional' ? limit : Math.min(limit, DOLLAR / 2), size);
}

/** The most that spending `money` can cost in cash fees: on every curve a fee is at most rate x notional. */
export function greatestFeeOnMoney(fee: Fee, money: number): number {
  if (fee.taken_in === 'shares') return 0;
  return Number((BigInt(money) * BigInt(fee.rate) + 999_999n) / 1_000_000n);
}

/** Shares withheld from a buyer in place of a fee, rounded up. */
export const feeInShares = (fee: number, price: number): number => Math.ceil((fee * 100) / price);
