import { z } from 'zod';

/** Money in major units of each currency. */
export const amounts = z.object({ usd: z.number(), cny: z.number() });
export type Amounts = z.infer<typeof amounts>;

export const pack = z.object({ id: z.string(), credits: z.number().int(), amounts });
export type Pack = z.infer<typeof pack>;

/** What credits are sold in, the smallest first. */
export const packs: readonly Pack[] = [
  { id: 'credits_100', credits: 100, amounts: { usd: 10, cny: 72 } },
  { id: 'credits_500', credits: 500, amounts: { usd: 45, cny: 324 } },
  { id: 'credits_2500', credits: 2500, amounts: { usd: 200, cny: 1440 } },
];

/** About what credits cost, at the price of the smallest pack: nobody pays more than that. */
export function approximate(credits: number): Amounts {
  const [smallest] = packs;
  const share = (amount: number) => Math.round((credits * amount * 100) / smallest.credits) / 100;
  return { usd: share(smallest.amounts.usd), cny: share(smallest.amounts.cny) };
}
