/** A row as it comes: integers of any size are numbers (none here leaves the safe ones), jsonb is parsed. */
export type Row = Record<string, unknown>;

/** What runs SQL: a database, or a transaction of it. Parameters are `$1`, `$2`, ... */
export interface Sql {
  /** One statement. Throws `SqlError` for what the database refuses, `Unreachable` where it cannot be asked. */
  query<R extends Row>(text: string, parameters?: readonly unknown[]): Promise<R[]>;
}

/** Postgres, as a server or embedded. Both hold the same schema. */
export interface Database extends Sql {
  readonly kind: 'postgres' | 'pglite';
  /**
   * Runs `work` in one transaction: committed when it returns, rolled back when it throws. Run again, from its start,
   * when the database asks for that (deadlock, serialization); so `work` must touch nothing but `sql`.
   */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** Several statements at once, without parameters: for migrations. */
  script(text: string): Promise<void>;
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
