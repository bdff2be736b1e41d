"""`ctx`: what a hook can ask and do."""

import math
from types import MappingProxyType

from .account import Order
from .errors import StrategyError, cut
from .feeds import DAY_MS
from .wire import (
    AMOUNT, CANCEL, CANCEL_ALL, FORECAST, LIMIT, MERGE, NO_MARKET, ORDER, OUTCOMES, POST_ONLY, REDUCE_ONLY, SIDES,
    SPLIT, TIFS, command, forecast,
)

NAN = float('nan')


def number(value):
    """A float from anything that is a number; NaN from all else, so that a bad order is a rejected one."""
    if isinstance(value, (str, bytes, bool)) or value is None:
        return NAN
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return NAN


def one_of(table, value):
    """The code of a word, 0 for what is not one."""
    return table.get(value, 0) if isinstance(value, str) else 0


class Context:
    """One for each segment. Usable only inside a running hook."""

    __slots__ = ('_run', '_world', '_account', '_random')

    def __init__(self, run, world, account, random):
        self._run, self._world, self._account, self._random = run, world, account, random

    # The moment.

    @property
    def now_ms(self):
        self._world.guard()
        return self._world.now_ms()

    @property
    def params(self):
        return MappingProxyType(self._run.params)

    @property
    def markets(self):
        """The markets that are open now."""
        self._world.guard()
        return list(self._world.open.values())

    def market(self, id):
        """The market of an id, or None."""
        self._world.guard()
        return self._world.find(id)

    def remaining_ms(self, market):
        return max(0, self._known(market).end_ms - self._world.now_ms())

    # Prices.

    def book(self, market, outcome):
        """The book of 'up' or 'down'."""
        books = self._known(market)._books
        if outcome not in books:
            raise StrategyError(f"outcome must be 'up' or 'down', not {outcome!r}")
        return books[outcome]

    def price(self, asset, feed='prices'):
        """The last value of a price feed, None before the first."""
        self._world.guard()
        found = self._world.feed(asset, feed)
        if found.columns != ('value',):
            raise StrategyError(f"ctx.price: {feed!r} is no price feed; see ctx.history")
        self._world.absorb()
        return found.data[0][-1] if found.times else None

    def history(self, asset, dataset, ms, interval=None):
        """What a feed, klines or a series showed in the last `ms`, at most a day: lists, oldest first."""
        self._world.guard()
        found = self._world.feed(asset, dataset, interval)
        self._world.absorb()
        length = number(ms)
        if length != length:
            raise StrategyError(f'ctx.history: ms must be a number, not {ms!r}')
        return found.since(self._world.now_ms() - min(length, DAY_MS))

    def round_price(self, market, price):
        """The nearest price on the market's grid."""
        tick = math.floor(self._known(market).tick_size * 10000 + 0.5)
        steps = math.floor(price * 10000 / tick + 0.5)
        return min(max(steps * tick, tick), 10000 - tick) / 10000

    def fee(self, market, price, size):
        """What taking `size` shares at `price` would cost in fees, dollars."""
        rule = self._known(market).fee
        if rule.curve == 'quadratic':
            return size * rule.rate * (price * (1 - price))
        if rule.curve == 'linear':
            return size * rule.rate * min(price, 1 - price)
        return size * rule.rate * price

    # The account, as the last event left it.

    @property
    def cash(self):
        self._world.guard()
        return self._account.cash / 1_000_000

    @property
    def available_cash(self):
        """Cash that no open order reserves."""
        self._world.guard()
        return self._account.available / 1_000_000

    @property
    def equity(self):
        """Cash, and positions at what the best bid would pay."""
        self._world.guard()
        worth = 0.0
        for index, held in self._account.positions.items():
            bid, ask = self._world.quote(self._world.by_index[index])
            worth += held[0] * bid / 1e8
            worth += held[2] * (10000 - ask if ask else 0) / 1e8
        return self._account.cash / 1_000_000 + worth

    def position(self, market, outcome):
        """Shares of an outcome, and what of them is locked by open sells."""
        book = self.book(market, outcome)
        return self._account.position(book.market._index, outcome == 'down')

    @property
    def orders(self):
        """Orders that are not known to be done, in the order they were sent."""
        self._world.guard()
        return list(self._account.live.values())

    # Commands. They leave when the hook returns.

    def buy(self, market, outcome, *, size=None, amount=None, limit=None, tif='gtc', post_only=False,
            reduce_only=False, expire_at_ms=None, tag=None):
        """Orders `size` shares, or shares for `amount` dollars; returns the order's id."""
        return self._order('buy', market, outcome, size, amount, limit, tif, post_only, reduce_only, expire_at_ms, tag)

    def sell(self, market, outcome, *, size=None, limit=None, tif='gtc', post_only=False, reduce_only=False,
             expire_at_ms=None, tag=None):
        """Orders the sale of `size` shares; returns the order's id."""
        return self._order('sell', market, outcome, size, None, limit, tif, post_only, reduce_only, expire_at_ms, tag)

    def _order(self, side, market, outcome, size, amount, limit, tif, post_only, reduce_only, expire_at_ms, tag):
        found, index, id = self._target(market, '#')
        flags = (POST_ONLY if post_only else 0) | (REDUCE_ONLY if reduce_only else 0)
        if amount is not None:
            flags |= AMOUNT
        if limit is not None:
            flags |= LIMIT
        if size is not None and amount is not None:
            wanted = NAN
        else:
            wanted = number(size if amount is None else amount)
        label = None if tag is None else cut(str(tag), self._run.tag_bytes, b'')
        sent = self._run.next_number()
        self._run.command(command.pack(
            sent, 0, ORDER, SIDES[side], one_of(OUTCOMES, outcome), one_of(TIFS, tif), flags, len(label or b''), index,
            wanted, 0.0 if limit is None else number(limit), 0.0 if expire_at_ms is None else number(expire_at_ms),
        ) + (label or b''))
        self._account.sent(Order(
            id, sent, found, outcome if outcome in ('up', 'down') else None, side,
            None if limit is None else number(limit), None if amount is not None else wanted,
            None if label is None else label.decode(),
        ))
        return id

    def cancel(self, id):
        """Asks to cancel an order by its id."""
        self._world.guard()
        order = self._account.orders.get(id) if isinstance(id, str) else None
        sent = self._run.next_number()
        self._account.expect(sent, order or Order(id, sent))
        index = order.market._index if order and order.market else NO_MARKET
        self._run.command(command.pack(sent, order._number if order else 0, CANCEL, 0, 0, 0, 0, 0, index, 0, 0, 0))

    def cancel_all(self, market=None, side=None):
        """Asks to cancel all orders, or those of a market, of a side ('buy' or 'sell'), or of both."""
        self._world.guard()
        found = None if market is None else self._world.find(market)
        if (market is not None and found is None) or (side is not None and side not in ('buy', 'sell')):
            # On the wire this would read as "all markets" or "both sides".
            self.log(f'cancel_all: no market {market!r} or side {side!r}; nothing was cancelled')
            return
        sent = self._run.next_number()
        self._account.expect(sent, Order(None, sent, found))
        index = found._index if found else NO_MARKET
        self._run.command(command.pack(sent, 0, CANCEL_ALL, SIDES.get(side, 0), 0, 0, 0, 0, index, 0, 0, 0))

    def merge(self, market, size):
        """Asks to turn `size` shares of each outcome into a dollar apiece; returns an id."""
        return self._convert(MERGE, market, size)

    def split(self, market, size):
        """Asks to turn `size` dollars into as many shares of each outcome; returns an id."""
        return self._convert(SPLIT, market, size)

    def _convert(self, kind, market, size):
        found, index, id = self._target(market, '!')
        sent = self._run.next_number()
        wanted = number(size)
        self._account.expect(sent, Order(id, sent, found, size=wanted))
        self._run.command(command.pack(sent, 0, kind, 0, 0, 0, 0, 0, index, wanted, 0, 0))
        return id

    def _target(self, market, mark):
        self._world.guard()
        found = self._world.find(market)
        name = found.id if found else str(getattr(market, 'id', market))[:64]
        return found, found._index if found else NO_MARKET, self._account.next_id(name, mark)

    # The rest.

    def timer(self, delay_ms, tag=None):
        """Calls on_timer after `delay_ms`, at least 1 ms from now; returns the timer's id."""
        self._world.guard()
        delay = number(delay_ms)
        if delay != delay:
            raise StrategyError(f'ctx.timer: delay_ms must be a number, not {delay_ms!r}')
        return self._run.set_timer(delay, tag)

    def cancel_timer(self, id):
        """Takes a timer back; False when it has run or never was."""
        self._world.guard()
        return self._run.cancel_timer(id)

    def random(self):
        """A float in [0, 1), from the run's seed; the same sequence in every language."""
        self._world.guard()
        return self._random()

    def forecast(self, market, p_up):
        """Records a probability of up."""
        self._world.guard()
        found = self._world.find(market)
        index = found._index if found else NO_MARKET
        self._run.hold(FORECAST, forecast.pack(self._world.now_ms(), number(p_up), index, 0, 0))

    def log(self, *values):
        """Writes a line to the run's log, stamped with replay time."""
        self._world.guard()
        self._run.log(' '.join(map(str, values)))

    def _known(self, market):
        self._world.guard()
        found = self._world.find(market)
        if found is None:
            raise StrategyError(f'no market {market!r}')
        return found
