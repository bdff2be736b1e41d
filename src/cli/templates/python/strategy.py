"""
Buys the favourite a minute before the close, if the market holds it likelier than `least_mid`. A start: replace it.

What a hook can ask and do is in backtest.pyi, which editors read. A hook that is not defined is never called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # for the editor; there is no such module at run time
    from backtest import Context, Fill, Market, Settlement, Timer, Update


class Strategy:
    # In market mode (the default) each market gets a Strategy and a portfolio of its own.

    def on_market_open(self, ctx: Context, market: Market) -> None:
        ctx.timer(ctx.remaining_ms(market) - ctx.params['before_close_ms'], tag=market)

    def on_timer(self, ctx: Context, timer: Timer) -> None:
        market = timer.tag
        mid = ctx.book(market, 'up').mid
        if mid is None:
            return  # one side of the book is empty
        favourite = 'up' if mid >= 0.5 else 'down'
        book = ctx.book(market, favourite)
        if book.mid >= ctx.params['least_mid']:
            ctx.buy(market, favourite, size=ctx.params['size'], limit=book.best_ask, tag='favourite')

    def on_order(self, ctx: Context, update: Update) -> None:
        if update.status == 'rejected':
            ctx.log(update.id, 'was rejected:', update.reason)

    def on_fill(self, ctx: Context, fill: Fill) -> None:
        ctx.log(fill.side, fill.size, fill.outcome, 'at', fill.price)

    def on_settle(self, ctx: Context, settlement: Settlement) -> None:
        ctx.log('settled', settlement.outcome, 'cash', ctx.cash)
