import { z } from 'zod';

/** Why a submission is refused before anything runs, and what became of a run that made no report. */
export const rejectionCodes = [
  'E_BODY',
  'E_MANIFEST',
  'E_SCOPE',
  'E_LIMIT',
  'E_ENTRY',
  'E_SYNTAX',
  'E_HOOK',
  'E_IMPORT',
  'E_SERIES',
  'E_COVERAGE',
] as const;
export type RejectionCode = (typeof rejectionCodes)[number];

export const rejection = z.object({ ok: z.literal(false), code: z.enum(rejectionCodes), detail: z.string() });

/** The caller's fault, found before anything runs. Nothing was held, nothing was written. */
export class Rejection extends Error {
  readonly code: RejectionCode;
  /** HTTP status of every rejection. */
  readonly status = 422;

  constructor(code: RejectionCode, detail: string) {
    super(detail);
    this.name = 'Rejection';
    this.code = code;
  }

  toJSON(): z.infer<typeof rejection> {
    return { ok: false, code: this.code, detail: this.message };
  }
}
