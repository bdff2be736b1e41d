import { Unreachable } from '../../contract/unreachable.ts';
import { type Sql, SqlError } from './database.ts';

/** SQLSTATE classes and codes that say that a server is away or overloaded, not that a statement is wrong. */
const AWAY = /^(08...|53...|57P..|58...|57014|25006|25P03|25P04)$/;
/** Serialization failure, deadlock: the transaction is fine and came at the wrong time. */
const AGAIN = /^(40001|40P01)$/;
const ATTEMPTS = 8;

/** What a driver threw, as what a `Sql` throws. Bugs of ours (TypeError and the like) stay as they are. */
export function failure(error: unknown): unknown {
  if (error instanceof SqlError || error instanceof Unreachable) return error;
  if (error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError)
    return error;
  const { code, constraint, message } = error as { code?: unknown; constraint?: string; message: string };
  // No SQLSTATE begins like EPIPE and its kind.
  const state = typeof code === 'string' && /^[^E][0-9A-Z]{4}$/.test(code) ? code : null;
  return state === null || AWAY.test(state)
    ? new Unreachable('the database', error)
    : new SqlError(message, state, constraint ?? null, error);
}

/** An answer of a driver, whose failures are put into our words. */
export const told = <T>(answer: Promise<T>): Promise<T> =>
  answer.catch((error) => {
    throw failure(error);
  });

/** Runs a whole transaction, and again a few times when the database asks for that. */
export async function retried<T>(attempt: () => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      if (attempts === ATTEMPTS || !(error instanceof SqlError && AGAIN.test(error.code))) throw error;
      // Rivals that wait equally long meet again.
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 10 * attempts));
    }
  }
}

/**
 * Runs `work` with a `Sql` that remembers the first statement which failed. A transaction that had one cannot be
 * committed, so it fails even where `work` looked away.
 */
export async function unbroken<T>(sql: Sql, work: (sql: Sql) => Promise<T>): Promise<T> {
  const failures: unknown[] = [];
  const remember = async <R>(answer: Promise<R>): Promise<R> => {
    try {
      return await answer;
    } catch (error) {
      failures.push(error);
      throw error;
    }
  };
  const result = await work({
    query: (text, parameters) => remember(sql.query(text, parameters)),
    script: (text) => remember(sql.script(text)),
  });
  if (failures.length > 0) throw failures[0];
  return result;
}
