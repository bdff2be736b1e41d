/** A row as it comes: integers of any size, sums of them too, are numbers (none here leaves the safe ones), jsonb is parsed. */
export type Row = Record<string, unknown>;

/** What runs SQL: a database, or a transaction of it. */
export interface Sql {
  /**
   * One statement. Parameters are `$1`, `$2`, ...; one for a jsonb is JSON text, an array is an SQL array. Throws
   * `SqlError` for what the database refuses, `Unreachable` where it cannot be asked or takes too long to answer.
   */
  query<R extends Row>(text: string, parameters?: readonly unknown[]): Promise<R[]>;
  /** Several statements at once, without parameters: for migrations. May take minutes. */
  script(text: string): Promise<void>;
}

/** Postgres, as a server or embedded. Both hold the same schema. */
export interface Database extends Sql {
  readonly kind: 'postgres' | 'pglite';
  /**
   * Runs `work` in one transaction: committed when it returns, rolled back when it throws. Run again, from its start,
   * when the database asks for that (deadlock, serialization); so `work` must touch nothing but `sql`, and least of all
   * this database, which may be waiting for it. After a statement that failed nothing can be committed, so that failure
   * is thrown even if `work` caught it.
   */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** Waits for what runs. Whatever is asked later throws `Unreachable`. */
  close(): Promise<void>;
}

/** The database refused a statement. `constraint` names the rule of the schema that it breaks. */
export class SqlError extends Error {
  /** SQLSTATE, such as 23505. */
  readonly code: string;
  readonly constraint: string | null;

  constructor(message: string, code: string, constraint: string | null, cause: unknown) {
    super(message, { cause });
    this.name = 'SqlError';
    this.code = code;
    this.constraint = constraint;
  }
}
