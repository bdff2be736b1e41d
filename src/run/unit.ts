import { Conversation, type UnitOptions, type UnitOutcome, type UnitPlan } from './conversation.ts';

/** The longest time that a timer can wait for, ms. */
const TIMER_MS = 2 ** 31 - 1;

/** Runs a unit in a fresh box. A fault of ours is thrown; what became of the strategy is returned. */
export async function runUnit(plan: UnitPlan, options: UnitOptions): Promise<UnitOutcome> {
  options.signal.throwIfAborted();
  const { sandbox, limits, deadline_ms } = options;
  const box = await sandbox.open({ name: plan.name, language: plan.language, limits, deadline_ms });
  const conversation = new Conversation(plan, box, options);
  const abort = (): void => conversation.stop();
  options.signal.addEventListener('abort', abort);
  // The backstop for a box that says harmless things for ever.
  const left_ms = Math.min(deadline_ms - Date.now(), TIMER_MS);
  const overdue = setTimeout(() => conversation.overdue(), left_ms).unref();
  try {
    await conversation.run();
  } finally {
    clearTimeout(overdue);
    options.signal.removeEventListener('abort', abort);
    conversation.close();
    conversation.exit = await box.close(conversation.ended ? 2_000 : 0);
  }
  options.signal.throwIfAborted();
  return conversation.outcome();
}
