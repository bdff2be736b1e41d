"""
What a strategy can see and do. For editors only: it is not part of the strategy's source.

Times are UTC milliseconds of the replay. Prices are dollars from 0 to 1, sizes are shares, money is dollars. Rows
(Change, Trade, Tick, Quote) are one object each, used again for every row: keep copy(), not the row.
"""

from collections.abc import Mapping
from typing import Any, Literal, Self, overload

Outcome = Literal['up', 'down']
Side = Literal['buy', 'sell']
Tif = Literal['gtc', 'gtd', 'ioc', 'fak', 'fok']
PriceFeed = Literal['prices', 'twap30s', 'twap60s']

class Context:
    @property
    def now_ms(self) -> int: ...
    @property
    def params(self) -> Mapping[str, Any]:
        """The manifest's params, or those of the sweep's cell."""
    @property
    def markets(self) -> list[Market]:
        """The markets that are open now."""
    def market(self, id: str) -> Market | None: ...
    def remaining_ms(self, market: Market | str) -> int: ...
    def book(self, market: Market | str, outcome: Outcome) -> Book:
        """A live view: its prices are those of the moment they are read."""
    def price(self, asset: str, feed: PriceFeed = 'prices') -> float | None:
        """The last value, None before the first."""
    @overload
    def history(self, asset: str, dataset: PriceFeed, ms: float) -> PriceHistory:
        """What was seen in the last `ms`, at most a day; warmup_ms says how much of it lies before the start."""
    @overload
    def history(self, asset: str, dataset: Literal['klines'], ms: float, interval: str | None = None) -> KlineHistory: ...
    @overload
    def history(self, asset: str | None, dataset: str, ms: float) -> SeriesHistory:
        """By the name of a series."""
    def round_price(self, market: Market | str, price: float) -> float:
        """The nearest price on the market's grid."""
    def fee(self, market: Market | str, price: float, size: float) -> float:
        """What taking `size` shares at `price` costs in fees."""
    @property
    def cash(self) -> float: ...
    @property
    def available_cash(self) -> float:
        """Cash that no open order reserves."""
    @property
    def equity(self) -> float:
        """Cash, and positions at what the best bid would pay."""
    def position(self, market: Market | str, outcome: Outcome) -> Position: ...
    @property
    def orders(self) -> list[Order]:
        """Orders that are not known to be done."""
    def buy(
        self,
        market: Market | str,
        outcome: Outcome,
        *,
        size: float | None = None,
        amount: float | None = None,
        limit: float | None = None,
        tif: Tif = 'gtc',
        post_only: bool = False,
        reduce_only: bool = False,
        expire_at_ms: float | None = None,
        tag: str | None = None,
    ) -> str:
        """
        Orders `size` shares, or shares for `amount` dollars (ioc and fok only); without a limit it is a market order.
        Returns the order's id. A bad order is a rejected one (on_order tells why), never an exception.
        """
    def sell(
        self,
        market: Market | str,
        outcome: Outcome,
        *,
        size: float | None = None,
        limit: float | None = None,
        tif: Tif = 'gtc',
        post_only: bool = False,
        reduce_only: bool = False,
        expire_at_ms: float | None = None,
        tag: str | None = None,
    ) -> str: ...
    def cancel(self, id: str) -> None: ...
    def cancel_all(self, market: Market | str | None = None, side: Side | None = None) -> None:
        """All orders, or those of a market, of a side, or of both."""
    def merge(self, market: Market | str, size: float) -> str:
        """Turns shares of both outcomes into a dollar apiece; returns an id."""
    def split(self, market: Market | str, size: float) -> str:
        """The reverse of merge."""
    def timer(self, delay_ms: float, tag: Any = None) -> int:
        """Calls on_timer after `delay_ms`, at least 1; the tag can be anything. Returns the timer's id."""
    def cancel_timer(self, id: int | None) -> bool: ...
    def random(self) -> float:
        """In [0, 1), from the manifest's seed."""
    def forecast(self, market: Market | str, p_up: float) -> None:
        """Records a probability of up; the report counts them."""
    def log(self, *values: object) -> None: ...

class Position:
    shares: float
    locked: float

class Order:
    id: str
    market: Market | None
    outcome: Outcome | None
    side: Side
    limit: float | None
    size: float | None
    remaining: float | None
    status: Literal['sent', 'accepted']
    tag: str | None

class Fee:
    curve: Literal['quadratic', 'linear', 'notional']
    rate: float
    taken_in: Literal['cash', 'shares']

class Market:
    id: str
    asset: str
    interval: str
    start_ms: int
    end_ms: int
    strike: float | None
    """None until it is known."""
    settlement_feed: Literal['prices', 'twap30s', 'twap60s', 'klines']
    tie: Literal['up', 'split']
    tick_size: float
    min_size: float
    fee: Fee
    taker_delay_ms: int
    tradable: bool
    """False for a market that came in as context."""

class Book:
    market: Market
    outcome: Outcome
    @property
    def best_bid(self) -> float | None: ...
    @property
    def best_ask(self) -> float | None: ...
    @property
    def mid(self) -> float | None: ...
    def levels(self, side: Side, n: int | None = None) -> list[tuple[float, float]]:
        """(price, shares) of the bids ('buy') or asks ('sell'), best first; all of them without n."""

class _Happened:
    ts_ms: int
    """When the strategy sees it."""
    event_ts_ms: int
    """When the venue said it."""

class _Row(_Happened):
    def copy(self) -> Self:
        """The values in an object of their own."""

class Tick(_Row):
    """A value of a price feed."""

    market: None
    feed: PriceFeed
    asset: str
    value: float

class Change(_Row):
    """The level (outcome, side, price) now holds `size` shares."""

    market: Market
    outcome: Outcome
    side: Side
    price: float
    size: float
    snapshot: bool
    best_bid: float | None
    best_ask: float | None
    levels: list[tuple[Side, float, float]]
    """Every level that this row changed: (side, price, size)."""

class Trade(_Row):
    market: Market
    outcome: Outcome
    side: Side
    """The taker's."""
    price: float
    size: float

class Quote(_Row):
    market: Market
    outcome: Outcome
    bid: float | None
    ask: float | None

class TickSizeChange(_Happened):
    market: Market
    outcome: Outcome
    old_tick_size: float
    new_tick_size: float

class Kline(_Happened):
    """A candle, at its close."""

    market: None
    asset: str
    interval: str
    open_ms: int
    open: float
    high: float
    low: float
    close: float
    volume: float

class SeriesRow(_Happened):
    market: None
    name: str
    time_ms: int
    """The row's own timestamp."""
    values: Mapping[str, float | None]
    """By column; None for an empty field."""

class PriceHistory:
    ts_ms: list[int]
    value: list[float]

class KlineHistory:
    ts_ms: list[int]
    open_ms: list[int]
    open: list[float]
    high: list[float]
    low: list[float]
    close: list[float]
    volume: list[float]

class SeriesHistory:
    ts_ms: list[int]
    time_ms: list[int]
    values: dict[str, list[float | None]]

class Timer(_Happened):
    market: None
    id: int
    tag: Any

class Update(_Happened):
    market: Market | None
    id: str | None
    outcome: Outcome | None
    side: Side | None
    status: Literal['accepted', 'rejected', 'cancelled', 'expired', 'cancel_rejected', 'converted']
    reason: str | None
    size: float
    remaining: float
    tag: str | None

class Fill(_Happened):
    market: Market
    order_id: str
    outcome: Outcome
    side: Side
    price: float
    size: float
    fee: float
    liquidity: Literal['maker', 'taker']
    remaining: float
    tag: str | None

class Settlement(_Happened):
    market: Market
    outcome: Literal['up', 'down', 'split']
    final: float | None
    """The value that decided; None where unknown."""
