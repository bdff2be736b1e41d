import { Rejection } from '../../contract/rejection.ts';
import { type Scope, scope } from '../../contract/scope.ts';

/** The part of a command line that says what to run over. */
export interface ScopeOptions {
  readonly venue: string;
  readonly assets?: string[];
  readonly from?: string;
  readonly to?: string;
  readonly days?: number;
}

/** Throws a Rejection, E_SCOPE, that names the option. */
export function scopeOf({ venue, assets, from, to, days }: ScopeOptions): Scope {
  const parsed = scope.safeParse({ venue, assets, from, to, days });
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  throw new Rejection('E_SCOPE', `--${String(path[0])}: ${message}`);
}
