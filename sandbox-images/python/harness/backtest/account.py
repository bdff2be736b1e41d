"""What the strategy owns and what it has asked for, as far as it has been told."""

from types import SimpleNamespace

from .wire import (
    CANCEL_REJECTED, CANCELLED, CONVERTED, EXPIRED, FILL, ON_FILL, ON_ORDER, ON_SETTLE, REASONS, REJECTED, SETTLE,
    STATUSES,
)

OUTCOME_NAMES = (None, 'up', 'down', 'split')
SIDE_NAMES = (None, 'buy', 'sell')
LIQUIDITY_NAMES = ('none', 'maker', 'taker')
DONE = frozenset((REJECTED, CANCELLED, EXPIRED))


class Update(SimpleNamespace):
    """What became of an order, a cancel, a merge or a split; `status` and `reason` tell."""


class Fill(SimpleNamespace):
    """A fill of one of the strategy's orders."""


class Settlement(SimpleNamespace):
    """A market's outcome: 'up', 'down' or 'split'. `final` is the value that decided, None where unknown."""


class Position:
    """Shares of one outcome, and how many of them open sells lock."""

    __slots__ = ('shares', 'locked')

    def __init__(self, shares, locked):
        self.shares, self.locked = shares, locked

    def __repr__(self):
        return f'Position(shares={self.shares}, locked={self.locked})'


class Order:
    """An order, or a merge or split, that the strategy sent. `limit`, `size`, `remaining` are None while not known."""

    __slots__ = ('id', 'market', 'outcome', 'side', 'limit', 'size', 'remaining', 'status', 'tag', '_number')

    def __init__(self, id, number, market=None, outcome=None, side=None, limit=None, size=None, tag=None):
        self.id, self.market, self.outcome, self.side = id, market, outcome, side
        self.limit, self.size, self.remaining, self.tag = limit, size, size, tag
        self.status = 'sent'
        self._number = number

    def __repr__(self):
        return (f'Order({self.id!r}, {self.side} {self.outcome}, limit={self.limit}, size={self.size}, '
                f'remaining={self.remaining}, {self.status})')


class Account:
    """Cash in millionths of a dollar, shares in ten-thousandths; both whole numbers, changed by events alone."""

    def __init__(self, capital):
        self.cash = self.available = float(round(capital * 1e6))
        self.positions = {}  # market index: [up, up locked, down, down locked]
        self.orders = {}  # every order by its id
        self.live = {}
        self._by_number = {}  # whom the answer to a command is about
        self._counts = {}

    def next_id(self, market_id, mark):
        """`<market>#1` and so on; `mark` tells orders from merges and splits."""
        key = market_id + mark
        count = self._counts[key] = self._counts.get(key, 0) + 1
        return f'{key}{count}'

    def sent(self, order):
        self.orders[order.id] = self.live[order.id] = order
        self._by_number[order._number] = order

    def expect(self, number, subject):
        """The answer to command `number` will be about `subject`."""
        self._by_number[number] = subject

    def position(self, index, down):
        held = self.positions.get(index)
        if held is None:
            return Position(0.0, 0.0)
        first = 2 if down else 0
        return Position(held[first] / 10000, held[first + 1] / 10000)

    def apply(self, event, market):
        """Takes in an event; returns its hook and what the hook is called with."""
        (ts, event_ts, price, size, remaining, fee, cash, available, up, up_locked, down, down_locked,
         number, index, kind, reason, outcome, side, liquidity) = event
        self.cash += cash
        self.available += available
        if up or up_locked or down or down_locked:
            held = self.positions.setdefault(index, [0.0, 0.0, 0.0, 0.0])
            held[0] += up
            held[1] += up_locked
            held[2] += down
            held[3] += down_locked
            if not any(held):
                del self.positions[index]
        common = {'market': market, 'ts_ms': int(ts), 'event_ts_ms': int(event_ts)}
        if kind == SETTLE:
            final = price if price == price else None
            return ON_SETTLE, Settlement(**common, outcome=OUTCOME_NAMES[outcome], final=final)
        order = self._by_number.get(number) or Order(None, number)
        if kind not in (CANCEL_REJECTED, CONVERTED):
            self._follow(order, kind, size, remaining)
        if kind == FILL:
            return ON_FILL, Fill(
                **common, order_id=order.id, outcome=OUTCOME_NAMES[outcome], side=SIDE_NAMES[side],
                price=price / 10000, size=size / 10000, fee=fee / 1_000_000, liquidity=LIQUIDITY_NAMES[liquidity],
                remaining=remaining / 10000, tag=order.tag,
            )
        return ON_ORDER, Update(
            **common, id=order.id, outcome=order.outcome, side=order.side, status=STATUSES[kind],
            reason=REASONS[reason], remaining=remaining / 10000, size=size / 10000, tag=order.tag,
        )

    def _follow(self, order, kind, size, remaining):
        order.remaining = remaining / 10000
        if kind != FILL:
            order.size = size / 10000
            order.status = STATUSES[kind]
        elif not remaining:
            order.status = 'filled'
        if kind in DONE or not remaining:
            self.live.pop(order.id, None)
