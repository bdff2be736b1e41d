/** How many decimals an integer of each kind holds: a price of 5000 is 0.5 dollars, money of 5000 is 0.005. */
export const places = { integer: 0, price: 4, size: 4, money: 6 } as const;

/** An integer amount as an exact decimal: no trailing zeros, never an exponent. Throws where it is no whole number. */
export function decimal(value: number, digits: number): string {
  if (!Number.isSafeInteger(value)) throw new Error(`an amount of ${value} is no whole number of its unit`);
  const size = Math.abs(value);
  const rest = size % 10 ** digits;
  const whole = String((size - rest) / 10 ** digits);
  const text = rest === 0 ? whole : `${whole}.${String(rest).padStart(digits, '0').replace(/0+$/, '')}`;
  return value < 0 ? `-${text}` : text;
}

/** Micro-dollars as dollars: the double nearest to the exact decimal. */
export const dollars = (micro: number): number => micro / 1e6;

/** A quotient as the report shows it, to 6 decimals; never -0. */
export const rounded = (value: number): number => Math.round(value * 1e6) / 1e6 + 0;
