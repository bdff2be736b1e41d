"""The current tick frame, and the objects through which hooks see its rows."""

import struct
from itertools import compress
from types import SimpleNamespace

from .errors import KEPT, StrategyError
from .wire import DEPTH, DEPTH_PART, DEPTH_SAME, MARKET_OPEN, QUOTE, SILENT, STRIKE, TICK_SIZE, TRADE

_head = struct.Struct('<dII')

_of_market = bytearray(256)
for _kind in (DEPTH, DEPTH_PART, DEPTH_SAME, TRADE, QUOTE, TICK_SIZE, MARKET_OPEN, STRIKE):
    _of_market[_kind] = _of_market[_kind | SILENT] = 1
#: 1 at the kinds whose `market` column names a market, not a feed.
OF_MARKET = bytes(_of_market)


class Frame:
    """Columns of the frame in hand, read in place. One object for the whole life of the box."""

    __slots__ = (
        'sequence', 'n', 'through', 'ts', 'price', 'size', 'lag', 'market', 'bid', 'ask', 'kinds', 'sides',
        'quotes', 'scanned', 'markets', 'feeds',
    )

    def __init__(self):
        self.reset()

    def reset(self):
        """No rows, and none known to be complete."""
        self.n = self.scanned = 0
        self.through = float('-inf')
        self.kinds = self.sides = b''
        self.ts = self.price = self.size = ()
        self.quotes = {}

    def load(self, sequence, payload):
        through, n, q = _head.unpack_from(payload)

        def column(start, width, code):
            return payload[16 + start * n:16 + (start + width) * n].cast(code)

        self.sequence, self.n, self.through = sequence, n, through
        self.ts = column(0, 8, 'd')
        self.price = column(8, 8, 'd')
        self.size = column(16, 8, 'd')
        self.lag = column(24, 4, 'I')
        self.market = column(28, 2, 'H')
        self.bid = column(30, 2, 'H')
        self.ask = column(32, 2, 'H')
        self.kinds = bytes(payload[16 + 34 * n:16 + 35 * n])
        self.sides = bytes(payload[16 + 35 * n:16 + 36 * n])
        table = payload[16 + 36 * n:16 + 36 * n + 6 * q].cast('H').tolist()
        self.quotes = dict(zip(table[0::3], zip(table[1::3], table[2::3])))
        self.scanned = 0

    def quote(self, market, end):
        """(bid, ask) of a market after the rows before `end`: counts of 1e-4 in terms of up, 0 for none."""
        start = self.scanned
        if end > start:
            own = self.kinds[start:end].translate(OF_MARKET)
            after = zip(compress(self.bid[start:end], own), compress(self.ask[start:end], own))
            self.quotes.update(zip(compress(self.market[start:end], own), after))
            self.scanned = end
        return self.quotes.get(market, (0, 0))


class Over:
    """The frame of a row that is over."""

    def __getattr__(self, name):
        raise StrategyError(KEPT)


class Copy(SimpleNamespace):
    """A row that no longer changes."""

    def copy(self):
        return self


class Row:
    """
    A row as a hook sees it. One object of each class is reused for every row: keep `copy()`, not the row itself.
    The loop writes the index and the two numbers that most hooks want; all else is read from the frame when asked for.
    """

    __slots__ = ('_frame', '_i', '_a', '_b')
    FIELDS = ('market', 'ts_ms', 'event_ts_ms')

    def __init__(self, frame):
        self._frame, self._i, self._a, self._b = frame, -1, 0.0, 0.0

    @property
    def market(self):
        return self._frame.markets[self._frame.market[self._i]]

    @property
    def ts_ms(self):
        return int(self._frame.ts[self._i])

    @property
    def event_ts_ms(self):
        return int(self._frame.ts[self._i]) - self._frame.lag[self._i]

    def end(self):
        self._frame = Over()

    def copy(self):
        """The row's values in an object of their own, which later rows do not change."""
        return Copy(**{name: getattr(self, name) for name in self.FIELDS})

    def __repr__(self):
        return type(self).__name__ + repr(self.copy())[4:]


class Sided(Row):
    __slots__ = ()

    @property
    def outcome(self):
        return 'down' if self._frame.sides[self._i] & 2 else 'up'

    @property
    def side(self):
        return 'sell' if self._frame.sides[self._i] & 1 else 'buy'


class Trade(Sided):
    """A print; `side` is the taker's."""

    __slots__ = ()
    FIELDS = Row.FIELDS + ('outcome', 'side', 'price', 'size')
    price = Row._a
    size = Row._b


class Change(Sided):
    """A change of a market's depth: the level (outcome, side, price) now holds `size` shares."""

    __slots__ = ()
    FIELDS = Trade.FIELDS + ('snapshot', 'best_bid', 'best_ask', 'levels')
    price = Row._a
    size = Row._b

    @property
    def snapshot(self):
        return self._frame.sides[self._i] & 4 != 0

    @property
    def best_bid(self):
        # `buy_price` in line: hooks ask this a million times.
        frame, i = self._frame, self._i
        if frame.sides[i] & 2:
            ask = frame.ask[i]
            return (10000 - ask) / 10000 if ask else None
        bid = frame.bid[i]
        return bid / 10000 if bid else None

    @property
    def best_ask(self):
        frame, i = self._frame, self._i
        if frame.sides[i] & 2:
            bid = frame.bid[i]
            return (10000 - bid) / 10000 if bid else None
        ask = frame.ask[i]
        return ask / 10000 if ask else None

    @property
    def levels(self):
        """Every level that this row of the archive changed: a list of (side, price, size)."""
        frame, i = self._frame, self._i
        if frame.kinds[i] == DEPTH_SAME:
            return []
        first, market = i, frame.market[i]
        while first and frame.kinds[first - 1] == DEPTH_PART and frame.market[first - 1] == market:
            first -= 1
        return [
            ('sell' if frame.sides[j] & 1 else 'buy', frame.price[j], frame.size[j]) for j in range(first, i + 1)
        ]


class Tick(Row):
    """A value of a price feed: prices, twap30s or twap60s."""

    __slots__ = ()
    FIELDS = Row.FIELDS + ('feed', 'asset', 'value')
    value = Row._a
    market = None

    @property
    def feed(self):
        return self._frame.feeds[self._frame.market[self._i]].kind

    @property
    def asset(self):
        return self._frame.feeds[self._frame.market[self._i]].asset


class Quote(Sided):
    """The venue's own word on an outcome's best bid and ask; None where there is none."""

    __slots__ = ()
    FIELDS = Row.FIELDS + ('outcome', 'bid', 'ask')

    @property
    def bid(self):
        return self._a if self._a == self._a else None

    @property
    def ask(self):
        return self._b if self._b == self._b else None


def buy_price(bid, ask, down):
    """Best bid in dollars of an outcome, from the counts in terms of up; None for none."""
    if down:
        return (10000 - ask) / 10000 if ask else None
    return bid / 10000 if bid else None


def sell_price(bid, ask, down):
    """Best ask in dollars of an outcome, from the counts in terms of up; None for none."""
    if down:
        return (10000 - bid) / 10000 if bid else None
    return ask / 10000 if ask else None
