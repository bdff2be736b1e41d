"""Markets and the views on their books."""

from types import SimpleNamespace

from .errors import StrategyError
from .frame import buy_price, sell_price


class Fee(SimpleNamespace):
    """The taker's fee: curve (quadratic, linear, notional), rate, taken_in (cash, shares)."""


class Market:
    """An up/down market. `strike` is None until it is known; `tick_size` follows the venue's changes."""

    __slots__ = (
        'id', 'asset', 'interval', 'start_ms', 'end_ms', 'strike', 'settlement_feed', 'tie', 'tick_size', 'min_size',
        'fee', 'taker_delay_ms', 'tradable', '_index', '_last', '_books',
    )

    def __init__(self, told):
        for name in ('id', 'asset', 'interval', 'start_ms', 'end_ms', 'settlement_feed', 'tie', 'tick_size',
                     'min_size', 'taker_delay_ms', 'tradable'):
            setattr(self, name, told[name])
        self.fee = Fee(**told['fee'])
        self.strike = None
        self._index = told['index']
        self._last = None  # (bid, ask) at its close

    def __repr__(self):
        return f'Market({self.id!r})'


class Book:
    """The book of one outcome, as it stands whenever it is asked."""

    __slots__ = ('market', 'outcome', '_world', '_down')

    def __init__(self, world, market, outcome):
        self.market, self.outcome = market, outcome
        self._world, self._down = world, outcome == 'down'

    def _quote(self):
        self._world.guard()
        return self._world.quote(self.market)

    @property
    def best_bid(self):
        """Dollars, or None when nobody bids."""
        bid, ask = self._quote()
        return buy_price(bid, ask, self._down)

    @property
    def best_ask(self):
        """Dollars, or None when nobody asks."""
        bid, ask = self._quote()
        return sell_price(bid, ask, self._down)

    @property
    def mid(self):
        """Dollars, or None unless both sides are there."""
        bid, ask = self._quote()
        if not bid or not ask:
            return None
        both = bid + ask
        return (20000 - both if self._down else both) / 20000

    def levels(self, side, n=None):
        """The best `n` levels (all without n) of side 'buy' or 'sell': a list of (price, shares), best first."""
        if side not in ('buy', 'sell'):
            raise StrategyError(f"book.levels: side must be 'buy' or 'sell', not {side!r}")
        return self._world.levels(self.market, self._down, side == 'sell', n)
