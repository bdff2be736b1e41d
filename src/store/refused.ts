export type RefusalReason = 'too_long' | 'too_short' | 'taken';

const refusals: Record<RefusalReason, readonly [status: number, message: string]> = {
  too_long: [
    413,
    'the body is longer than the link allows; nothing was kept. Ask for a link of the right size.',
  ],
  too_short: [400, 'the body ended before the size of its link; nothing was kept. Send it again.'],
  taken: [409, 'the link was used already; what came first is kept. Ask for a new link.'],
};

/** An upload that is not taken, by the fault of who sends it. */
export class Refused extends Error {
  readonly reason: RefusalReason;
  /** HTTP status. */
  readonly status: number;

  constructor(reason: RefusalReason) {
    super(refusals[reason][1]);
    this.name = 'Refused';
    this.reason = reason;
    this.status = refusals[reason][0];
  }
}
