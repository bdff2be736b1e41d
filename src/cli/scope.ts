import { statSync } from 'node:fs';
import { Rejection } from '../../contract/rejection.ts';
import { type Scope, scope } from '../../contract/scope.ts';
import type { Archive } from '../archive/catalogue.ts';
import { isRemote } from '../archive/fetch.ts';
import { openArchive } from '../compose.ts';

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

/** Throws a Rejection, E_SCOPE, where there is no such folder. */
export async function archiveOf(location: string): Promise<Archive> {
  if (!isRemote(location) && !statSync(location, { throwIfNoEntry: false })?.isDirectory())
    throw new Rejection('E_SCOPE', `--archive ${location}: there is no such folder.`);
  return openArchive(location);
}
