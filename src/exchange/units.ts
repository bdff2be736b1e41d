/**
 * Integers all the way: a price is a count of 1e-4 dollars, a size a count of 1e-4 shares, money a count of 1e-6
 * dollars. No float decides a fill or a balance.
 */
export const DOLLAR = 10_000;
export const SHARE = 10_000;
/** Own orders and own fills come in hundredths of a share, which makes price x size whole in micro-dollars. */
export const SIZE_STEP = 100;
export const MICRO = 1_000_000;

/** Down to the step of own orders. */
export const toStep = (size: number): number => size - (size % SIZE_STEP);

/** price x size, in micro-dollars. Exact for sizes on the step, otherwise rounded down. */
export const notional = (price: number, size: number): number => Math.floor((price * size) / 100);

/** Dollars, as a strategy writes them, to a price; null where it is no count of 1e-4 within (0, 1). */
export function priceOf(dollars: number): number | null {
  const price = Math.round(dollars * DOLLAR);
  const exact = Math.abs(dollars * DOLLAR - price) < 1e-6;
  return exact && price > 0 && price < DOLLAR ? price : null;
}

/** Shares, as a strategy writes them, down to the step; null for NaN, infinities and what is not above 0. */
export function sizeOf(shares: number): number | null {
  // The nudge keeps 10.05 from becoming 10.04: 10.05 * 100 is 1004.9999999999999 in binary.
  const size = Math.floor(shares * (SHARE / SIZE_STEP) + 1e-6) * SIZE_STEP;
  return Number.isSafeInteger(size) && size > 0 && size < 1e15 ? size : null;
}

/** Dollars to micro-dollars, rounded down; null for what is no positive amount of money. */
export function moneyOf(dollars: number): number | null {
  const micro = Math.floor(dollars * MICRO + 1e-3);
  return Number.isSafeInteger(micro) && micro > 0 ? micro : null;
}

/** Shares, on the step, that so much money buys at a price. */
export const sharesFor = (money: number, price: number): number => toStep(Math.floor((money * 100) / price));
