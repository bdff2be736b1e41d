/** @import { Context, Fill, Market, Settlement, Timer, Update } from './backtest.d.ts' */

/**
 * Buys the favourite a minute before the close, if the market holds it likelier than `least_mid`. A start: replace it.
 * What a hook can ask and do is in backtest.d.ts, which editors read. A hook that is not defined is never called.
 */
export class Strategy {
  // In market mode (the default) each market gets a Strategy and a portfolio of its own.

  /** @param {Context} ctx @param {Market} market */
  onMarketOpen(ctx, market) {
    ctx.timer(ctx.remainingMs(market) - ctx.params.before_close_ms, market);
  }

  /** @param {Context} ctx @param {Timer} timer */
  onTimer(ctx, timer) {
    /** @type {Market} */
    const market = timer.tag;
    const { mid } = ctx.book(market, 'up');
    if (mid === null) return; // one side of the book is empty
    const outcome = mid >= 0.5 ? 'up' : 'down';
    const book = ctx.book(market, outcome);
    if (book.mid !== null && book.mid >= ctx.params.least_mid) {
      ctx.buy({ market, outcome, size: ctx.params.size, limit: book.bestAsk, tag: 'favourite' });
    }
  }

  /** @param {Context} ctx @param {Update} update */
  onOrder(ctx, update) {
    if (update.status === 'rejected') ctx.log(update.id, 'was rejected:', update.reason);
  }

  /** @param {Context} ctx @param {Fill} fill */
  onFill(ctx, fill) {
    ctx.log(fill.side, fill.size, fill.outcome, 'at', fill.price);
  }

  /** @param {Context} ctx @param {Settlement} settlement */
  onSettle(ctx, settlement) {
    ctx.log('settled', settlement.outcome, 'cash', ctx.cash);
  }
}
