"""What has been seen of price feeds, klines and series."""

import re
from bisect import bisect_left
from collections import deque
from types import SimpleNamespace

from .wire import PRICES, SILENT, TWAP30S, TWAP60S

KLINE_COLUMNS = ('open_ms', 'open', 'high', 'low', 'close', 'volume')
#: History never reaches further back than this.
DAY_MS = 86_400_000

_kinds = (PRICES, TWAP30S, TWAP60S)
_price_rows = re.compile(b'[%b]' % re.escape(bytes(_kinds + tuple(kind | SILENT for kind in _kinds))))


class Kline(SimpleNamespace):
    """A candle, at its close."""


class SeriesRow(SimpleNamespace):
    """A row of the strategy's own series, at its time plus its lag."""


class History(SimpleNamespace):
    """Columns as lists of equal length, oldest first."""


class Feed:
    """One feed and its history: `times` when the strategy saw each row, `data` a list for each column."""

    __slots__ = ('kind', 'asset', 'interval', 'name', 'columns', 'dataset', 'times', 'data', 'coming')

    def __init__(self, told):
        self.kind = told['kind']
        self.asset = told['asset'] or None
        self.interval = told['interval'] or None
        self.name = told['name']
        self.dataset = {'kline': 'klines', 'series': self.name}.get(self.kind, self.kind)
        if self.kind == 'kline':
            self.columns = KLINE_COLUMNS
        elif self.kind == 'series':
            self.columns = ('time_ms', *told['columns'])
        else:
            self.columns = ('value',)
        self.reset()

    def reset(self):
        self.times = []
        self.data = [[] for _ in self.columns]
        self.coming = deque()

    def take(self, ts, event_ts):
        """Moves the next record into the history; returns what its hook is called with."""
        record = [None if one is None else float(one) for one in self.coming.popleft()]
        record[0] = int(record[0])
        self.times.append(ts)
        for column, value in zip(self.data, record):
            column.append(value)
        common = {'market': None, 'asset': self.asset, 'ts_ms': ts, 'event_ts_ms': event_ts}
        if self.kind == 'kline':
            return Kline(**common, interval=self.interval, **dict(zip(self.columns, record)))
        values = dict(zip(self.columns[1:], record[1:]))
        return SeriesRow(**common, name=self.name, time_ms=record[0], values=values)

    def since(self, ms):
        """The rows that were seen at `ms` or later."""
        first = bisect_left(self.times, ms)
        columns = {name: column[first:] for name, column in zip(self.columns, self.data)}
        if self.kind == 'series':
            columns = {'time_ms': columns.pop('time_ms'), 'values': columns}
        return History(ts_ms=self.times[first:], **columns)

    def forget(self, before):
        """Drops old rows, seldom enough that it costs little a row."""
        if self.times and self.times[0] < before - DAY_MS:
            old = bisect_left(self.times, before)
            del self.times[:old]
            for column in self.data:
                del column[:old]


def absorb(frame, feeds, start, end):
    """Adds the price rows start..end of a frame to their feeds."""
    for found in _price_rows.finditer(frame.kinds, start, end):
        i = found.start()
        feed = feeds[frame.market[i]]
        feed.times.append(int(frame.ts[i]))
        feed.data[0].append(frame.price[i])
