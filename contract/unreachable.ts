/** Something that the service stands on (database, queue, object store, archive) is away. Asking again is safe. */
export class Unreachable extends Error {
  constructor(what: string, cause: unknown) {
    super(`${what} cannot be reached: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = 'Unreachable';
  }
}
