"""What a strategy can know at a moment of the replay, apart from its own account."""

from threading import get_ident

from .depth import Depth
from .errors import OUTSIDE, StrategyError
from .feeds import DAY_MS, absorb
from .frame import OF_MARKET, Change, Quote, Tick, Trade
from .market import Book, Market
from .wire import (
    DEPTH, DEPTH_PART, DEPTH_SAME, KLINE, MARKET_OPEN, NO_HOOK, NO_MARKET, ON_BOOK, ON_KLINE, ON_MARKET_OPEN,
    ON_PRICE, ON_QUOTE, ON_SERIES, ON_STRIKE, ON_TICK_SIZE, ON_TRADE, PRICES, QUOTE, SERIES, STRIKE, TICK_SIZE,
    TRADE, TWAP30S, TWAP60S,
)

HOOK_OF_KIND = {
    DEPTH: ON_BOOK, DEPTH_PART: ON_BOOK, DEPTH_SAME: ON_BOOK, TRADE: ON_TRADE, PRICES: ON_PRICE, TWAP30S: ON_PRICE,
    TWAP60S: ON_PRICE, QUOTE: ON_QUOTE, TICK_SIZE: ON_TICK_SIZE, KLINE: ON_KLINE, SERIES: ON_SERIES,
    MARKET_OPEN: ON_MARKET_OPEN, STRIKE: ON_STRIKE,
}


class World:
    """
    The state of one segment. `cursor` is the row object that the row loop moves: rows up to `cursor._i` of the frame
    are known. `_now` is None while rows run, as each row has its own time.
    """

    def __init__(self, start, frame, told, signal):
        self.signal = signal  # not empty: the row loop must stop and look around
        self.frame = frame
        self.feeds = frame.feeds
        self._new_rows()
        self.start_ms = told['start_ms']
        self.by_index = frame.markets = {}
        self.by_id = {}
        self.open = {}
        self.depth = Depth() if start['depth'] else None
        self._now = self.start_ms
        self._hook = (NO_HOOK, NO_MARKET)
        self._absorbed = self._deep = 0
        self._thread = 0
        self.offence = None
        self.serial = 0
        for feed in self.feeds:
            feed.reset()
        for one in told['markets']:
            market = Market(one)
            market._books = {outcome: Book(self, market, outcome) for outcome in ('up', 'down')}
            self.by_index[market._index] = market
            if market.start_ms <= self.start_ms:
                self.show(market)
        self._first = told['markets'][0]['index'] if told['markets'] else NO_MARKET

    # Who may look, and when.

    def guard(self):
        """Raises unless the caller is a running hook."""
        if self._thread != get_ident():
            self.offence = self.offence or StrategyError(OUTSIDE)
            self.signal.append(True)
            raise self.offence

    def enter(self, hook, market):
        """A hook that is not a row's runs at `_now`."""
        self._hook = (hook, market)
        self._thread = get_ident()
        self.serial += 1

    def enter_rows(self, first):
        self.cursor._i = first
        self._floor = self._now
        self._now = None
        self._thread = get_ident()

    def leave(self):
        """No hook runs; the clock stands."""
        if self._now is None:
            self._now = self.now_ms()
        self._hook = (NO_HOOK, NO_MARKET)
        self._thread = 0

    def at(self, ms):
        """Sets the clock, which never goes back."""
        if ms > self._now:
            self._now = int(ms)

    def now_ms(self):
        now = self._now
        # A market's open may be older than the segment.
        return max(int(self.frame.ts[self.cursor._i]), self._floor) if now is None else now

    def place(self):
        """(hook, market) where the replay stands, for the wire."""
        if self._now is not None:
            return self._hook
        i = self.cursor._i
        kind = self.frame.kinds[i]
        hook = HOOK_OF_KIND.get(kind, NO_HOOK)
        return hook, self.frame.market[i] if OF_MARKET[kind] else NO_MARKET

    # Markets.

    def show(self, market):
        """The strategy may know of a market from its open on."""
        self.by_id[market.id] = market
        if market._last is None:
            self.open[market.id] = market

    def shut(self, market):
        """Trading has stopped: its book is as it was last."""
        market._last = self.quote(market)
        self.open.pop(market.id, None)
        if self.depth:
            self._read_depth(self.cursor._i + 1)
            self.depth.drop(market._index)

    def find(self, market):
        """A market by its id or by itself; None when it is not known, or was kept from another segment."""
        if isinstance(market, Market):
            return market if self.by_index.get(market._index) is market else None
        return self.by_id.get(market) if isinstance(market, str) else None

    def quote(self, market):
        if market._last is not None:
            return market._last
        frame, i, index = self.frame, self.cursor._i, market._index
        if i >= 0 and (frame.market[i] if OF_MARKET[frame.kinds[i]] else self._first) == index:
            return frame.bid[i], frame.ask[i]
        return frame.quote(index, i + 1)

    def levels(self, market, down, sell, n):
        self.guard()
        if self.depth is None:
            raise StrategyError(
                'whole books are kept only for a strategy whose source says `book.levels`; call it by that name'
            )
        self._read_depth(self.cursor._i + 1)
        return self.depth.levels(market._index, down, sell, n)

    def _read_depth(self, end):
        if end > self._deep:
            self.depth.read(self.frame, self._deep, end)
            self._deep = end

    # Feeds.

    def feed(self, asset, dataset, interval=None):
        for feed in self.feeds:
            if feed.dataset == dataset and (feed.kind == 'series' or feed.asset == asset):
                if interval is None or feed.interval == interval:
                    return feed
        declared = ', '.join(sorted({f'{feed.asset or "-"} {feed.dataset}' for feed in self.feeds})) or 'none'
        raise StrategyError(f'no feed {asset} {dataset}{f" {interval}" if interval else ""}; declared: {declared}')

    def absorb(self):
        end = self.cursor._i + 1
        if end > self._absorbed:
            absorb(self.frame, self.feeds, self._absorbed, end)
            self._absorbed = end

    def finish_frame(self):
        """Keeps of a frame whose rows are done what the next frame does not repeat."""
        self.absorb()
        if self.depth:
            self._read_depth(self.frame.n)
        if self._now is not None:
            for feed in self.feeds:
                feed.forget(self._now - DAY_MS)

    def new_frame(self):
        """The rows of the last frame are over: where they stood, later ones stand by now."""
        for row in self.rows:
            row.end()
        self._new_rows()
        self._absorbed = self._deep = 0

    def _new_rows(self):
        self.rows = Change(self.frame), Trade(self.frame), Tick(self.frame), Quote(self.frame)
        self.cursor = self.rows[0]
