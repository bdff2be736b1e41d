/** One thing measured. `limit`, in the same unit: the best that this machine could do; `limitName` says at what. */
export interface Row {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly limit?: number;
  readonly limitName?: string;
}
