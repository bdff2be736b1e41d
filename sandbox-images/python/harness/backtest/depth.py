"""Whole books. Kept only where the strategy's source names `levels`."""

from .wire import DEPTH, DEPTH_PART, SILENT

_changes = frozenset((DEPTH, DEPTH_PART, DEPTH | SILENT, DEPTH_PART | SILENT))


class Depth:
    """For each market its bids and its asks in terms of up: {price as a count of 1e-4: shares}."""

    def __init__(self):
        self._books = {}

    def read(self, frame, start, end):
        """Applies the rows start..end of a frame."""
        kinds, markets, sides, prices, sizes = frame.kinds, frame.market, frame.sides, frame.price, frame.size
        books = self._books
        for i in range(start, end):
            if kinds[i] not in _changes:
                continue
            book = books.get(markets[i])
            if book is None:
                book = books[markets[i]] = ({}, {})
            price = int(prices[i] * 10000 + 0.5)
            side = sides[i]
            if side & 2:
                price = 10000 - price
                side ^= 1
            size = sizes[i]
            if size:
                book[side & 1][price] = size
            else:
                book[side & 1].pop(price, None)

    def levels(self, market, down, sell, n):
        """The best `n` levels (None: all) of one side of an outcome: (price, shares), best first."""
        book = self._books.get(market)
        if book is None:
            return []
        asks = sell != down
        prices = sorted(book[asks], reverse=not asks)[:n]
        side = book[asks]
        return [((10000 - price if down else price) / 10000, side[price]) for price in prices]

    def drop(self, market):
        self._books.pop(market, None)
