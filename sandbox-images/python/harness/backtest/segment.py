"""One segment of the replay: which thing comes next, and the hook it calls."""

import heapq
from bisect import bisect_right
from itertools import compress
from types import AsyncGeneratorType, CoroutineType, GeneratorType

from . import wire as w
from .account import Account
from .context import Context
from .errors import StrategyError
from .seeds import generator
from .world import HOOK_OF_KIND, World

# Ranks within a millisecond; rows come before all of them.
TIMER, PRIVATE, CLOSE, SETTLE, STOP = range(5)
RANK_OF_EVENT = {w.SETTLE: SETTLE, w.STOP: STOP}

# What the row loop does with a row: these four in line, all else by `_rare`, 0 nothing.
BOOK_ROW, TRADE_ROW, PRICE_ROW, QUOTE_ROW, RARE_ROW = 1, 2, 3, 4, 5
COMMON = {
    w.DEPTH: BOOK_ROW, w.DEPTH_SAME: BOOK_ROW, w.TRADE: TRADE_ROW, w.PRICES: PRICE_ROW, w.TWAP30S: PRICE_ROW,
    w.TWAP60S: PRICE_ROW, w.QUOTE: QUOTE_ROW,
}
#: Rows that change what is known beyond quotes and feeds; they count even when silent or without a hook.
RARE = (w.TICK_SIZE, w.KLINE, w.SERIES, w.MARKET_OPEN, w.STRIKE)
CUT = b' ... [cut]'


class TickSizeChange:
    """The price grid of a market changed."""

    __slots__ = ('market', 'outcome', 'old_tick_size', 'new_tick_size', 'ts_ms', 'event_ts_ms')


class Timer:
    """A timer that is due."""

    __slots__ = ('id', 'tag', 'ts_ms', 'event_ts_ms', 'market')

    def __init__(self, id, tag, ms):
        self.id, self.tag, self.ts_ms, self.event_ts_ms, self.market = id, tag, ms, ms, None


class Segment:
    """Runs one segment to its stop. `run` is what outlives a segment: the wire, START, counters."""

    def __init__(self, run, told, strategy, methods):
        self.run, self.wire, self.strategy = run, run.wire, strategy
        start = run.start
        self.params, self.tag_bytes = start['params'], start['limits']['tag_bytes']
        self.frame = run.frame
        self.frame.reset()
        self.signal = []
        self.world = World(start, self.frame, told, self.signal)
        self.account = Account(told['capital'])
        self.hooks = [getattr(strategy, name) if name in methods else None for name in w.HOOKS]
        self.ctx = Context(self, self.world, self.account, generator(f'{start["seed"]}/{told["name"]}/ctx'))
        self.agenda = []  # (ms, rank, order within the rank, what)
        self.promise = self.world.start_ms
        self.commands = []
        self.timers = {}
        self.timer_count = self.arrivals = 0
        self.position = 0  # rows of the frame that are done
        self.progressed = True
        self.ops = b''
        self.op_of_kind = self._op_table()
        for market in self.world.by_index.values():
            heapq.heappush(self.agenda, (market.end_ms, CLOSE, market._index, market))

    # The order of things.

    def play(self):
        """From on_start to on_stop."""
        self._call(w.ON_START, w.NO_MARKET)
        if not self._settle_commands():
            self._ask()
        while True:
            head = self.agenda[0] if self.agenda else None
            limit = self.promise if head is None else min(self.promise, head[0])
            if self._rows(limit):
                self._settle_commands()
            elif self.position == self.frame.n and self.frame.through < limit:
                self._read_bulk()
            elif head is not None and (head[0] < self.promise or (head[1] == TIMER and head[0] == self.promise)):
                heapq.heappop(self.agenda)
                if head[1] == STOP:
                    self.world.at(head[0])
                    self._call(w.ON_STOP, w.NO_MARKET)
                    self._finish()
                    return
                self._deliver(head)
                self._settle_commands()
            else:
                self._ask()

    def _rows(self, limit):
        """Runs the rows up to and including `limit` ms. True: a hook wants attention first."""
        frame = self.frame
        if self.position < frame.n:
            end = bisect_right(frame.ts, limit, self.position, frame.n)
            if end > self.position:
                self.world.enter_rows(self.position)
                self._loop(self.position, end)
                self.world.leave()
        if self.position == frame.n and not self.progressed and not self.commands:
            self._progress()
        return bool(self.signal)

    def _loop(self, first, end):
        """
        The hot loop: about 90 ns a row with an empty hook. The reused `change` takes each row's index and numbers
        straight from the columns; what else a hook wants, it reads from the frame by that index.
        """
        ctx, signal, frame = self.ctx, self.signal, self.frame
        change, trade, tick, quote = self.world.rows
        on_book, on_trade, on_price = self.hooks[w.ON_BOOK], self.hooks[w.ON_TRADE], self.hooks[w.ON_PRICE]
        on_quote = self.hooks[w.ON_QUOTE]
        ops = self.ops[first:end]
        skipped = ops.count(0)
        columns = frame.price[first:end], frame.size[first:end], ops, range(first, end)
        if 2 * skipped > end - first:
            columns = [compress(column, ops) for column in columns]
        for change._a, change._b, op, change._i in zip(*columns):
            if op == 1:
                result = on_book(ctx, change)
            elif op == 2:
                trade._i, trade._a, trade._b = change._i, change._a, change._b
                result = on_trade(ctx, trade)
            elif op == 3:
                tick._i, tick._a = change._i, change._a
                result = on_price(ctx, tick)
            elif op == 4:
                quote._i, quote._a, quote._b = change._i, change._a, change._b
                result = on_quote(ctx, quote)
            elif op:
                result = self._rare(change._i)
            else:
                continue
            if result is not None:
                self._returned(result)
            if signal:
                done = change._i + 1
                skipped = self.ops.count(0, first, done)
                break
        else:
            done = end
            change._i = end - 1
        self.position = done
        self.run.hooks_called += done - first - skipped

    def _rare(self, i):
        frame, world, kind = self.frame, self.world, self.frame.kinds[i]
        code, silent = kind & ~w.SILENT, kind & w.SILENT
        ts, index = int(frame.ts[i]), frame.market[i]
        hook = None if silent else self.hooks[HOOK_OF_KIND[code]]
        if hook is None:
            self.run.hooks_called -= 1
        if code in (w.KLINE, w.SERIES):
            what = world.feeds[index].take(ts, ts - frame.lag[i])
        else:
            what = market = world.by_index[index]
            if code == w.MARKET_OPEN:
                world.show(market)
            elif code == w.STRIKE:
                market.strike = frame.price[i]
            else:
                market.tick_size = frame.price[i]
                what = TickSizeChange()
                what.market, what.outcome = market, 'down' if frame.sides[i] & 2 else 'up'
                what.old_tick_size, what.new_tick_size = frame.size[i], frame.price[i]
                what.ts_ms, what.event_ts_ms = ts, ts - frame.lag[i]
        return hook(self.ctx, what) if hook else None

    def _deliver(self, head):
        """One timer, private event or market close."""
        ms, rank, _, what = head
        world = self.world
        if rank == TIMER:
            if self.timers.pop(what.id, None):
                world.at(ms)
                self._call(w.ON_TIMER, w.NO_MARKET, what)
        elif rank == CLOSE:
            world.at(ms)
            world.shut(what)
            self._call(w.ON_MARKET_CLOSE, what._index, what)
        else:
            world.at(ms)
            index = what[13]
            hook, told = self.account.apply(what, world.by_index.get(index))
            self._call(hook, index, told)

    def _call(self, code, index, *told):
        hook = self.hooks[code]
        if hook is None:
            return
        self.world.enter(code, index)
        self.run.hooks_called += 1
        result = hook(self.ctx, *told)
        if result is not None:
            self._returned(result)
        self.world.leave()

    def _returned(self, result):
        """A hook's result is of no use, but a coroutine would be a hook that never ran."""
        if hasattr(result, '__await__') or isinstance(result, (GeneratorType, AsyncGeneratorType)):
            if isinstance(result, CoroutineType):
                result.close()
            raise StrategyError('a hook must be a plain function: this one is async or a generator, so nothing ran')

    # Talking to the worker.

    def _settle_commands(self):
        """Sends what the hook asked for and waits for the answer. False when there was nothing."""
        self.signal.clear()
        if self.world.offence:
            raise self.world.offence
        if not self.commands:
            return False
        commands, self.commands = self.commands, []
        now, limit = self.world.now_ms(), self.run.start['limits']['frame_bytes'] - w.commands_head.size
        while commands:
            size = count = 0
            while count < len(commands) and size + len(commands[count]) <= limit:
                size += len(commands[count])
                count += 1
            self.wire.send(w.COMMANDS, w.commands_head.pack(now, count) + b''.join(commands[:count]))
            del commands[:count]
            self._take_answer(self.run.commands_sent - len(commands))
        return True

    def _ask(self):
        if self.promise == float('inf'):
            raise RuntimeError('the worker promised that nothing comes, and sent no stop')
        self.wire.send(w.ASK, w.f64.pack(self.promise))
        self._take_answer(0)

    def _take_answer(self, number):
        promise, answered, events = self.wire.read_answer()
        if answered != number:
            raise RuntimeError(f'expected the answer to command {number}, got {answered}')
        self.promise = promise
        for event in events:
            self.arrivals += 1
            heapq.heappush(self.agenda, (event[0], RANK_OF_EVENT.get(event[14], PRIVATE), self.arrivals, event))

    def _read_bulk(self):
        # The frame in hand goes with the next read: keep what its successor does not repeat.
        self.world.finish_frame()
        kind, sequence, payload = self.wire.read_bulk()
        if kind == w.TICKS:
            self.frame.load(sequence, payload)
            self.world.new_frame()
            self.ops = self.frame.kinds.translate(self.op_of_kind)
            self.position, self.progressed = 0, False
        elif kind == w.RECORDS:
            told = w.parse(payload)
            self.world.feeds[told['feed']].coming.extend(told['rows'])
        else:
            raise RuntimeError(f'unexpected bulk frame {kind} within a segment')

    def _progress(self):
        self.progressed = True
        self.wire.send(w.PROGRESS, w.progress.pack(self.frame.sequence, 0, self.world.now_ms()))

    def _finish(self):
        if self.world.offence:
            raise self.world.offence
        self.signal.clear()
        self.commands.clear()
        self.world.new_frame()
        self.wire.send(w.SEGMENT_DONE, w.f64.pack(self.world.now_ms()))

    def _op_table(self):
        table = bytearray(256)
        for kind, op in COMMON.items():
            if self.hooks[HOOK_OF_KIND[kind]]:
                table[kind] = op
        for kind in RARE:
            table[kind] = table[kind | w.SILENT] = RARE_ROW
        return bytes(table)

    # What ctx does through the segment.

    def next_number(self):
        self.run.commands_sent += 1
        return self.run.commands_sent

    def command(self, packed):
        self.commands.append(packed)
        self.signal.append(True)

    def set_timer(self, delay, tag):
        self.timer_count += 1
        id = self.timer_count
        if delay < float('inf'):
            ms = self.world.now_ms() + max(1, int(delay // 1))
            timer = self.timers[id] = Timer(id, tag, ms)
            heapq.heappush(self.agenda, (ms, TIMER, id, timer))
            self.signal.append(True)
        return id

    def cancel_timer(self, id):
        return self.timers.pop(id, None) is not None

    def hold(self, kind, payload):
        self.wire.hold(kind, payload)

    def log(self, text):
        self.run.log(text, self.world.now_ms())
