"""The two sockets to the worker, and the layout of what travels on them. The codes repeat contract/wire.ts."""

import json
import select
import socket
import struct
import threading

SEGMENT, RECORDS, TICKS = 1, 3, 4
START, ANSWER, FINISH = 1, 2, 3
READY, COMMANDS, ASK, PROGRESS, LOG, FORECAST, SEGMENT_DONE, FAILED, BEAT, END = range(16, 26)

NO_MARKET = 65535
NO_HOOK = 255

DEPTH, DEPTH_PART, DEPTH_SAME, TRADE, PRICES, TWAP30S, TWAP60S, QUOTE = 1, 2, 3, 4, 5, 6, 7, 8
TICK_SIZE, KLINE, SERIES, MARKET_OPEN, STRIKE = 9, 10, 11, 12, 13
SILENT = 32

HOOKS = (
    'on_start', 'on_market_open', 'on_strike', 'on_price', 'on_book', 'on_quote', 'on_trade', 'on_tick_size',
    'on_kline', 'on_series', 'on_timer', 'on_order', 'on_fill', 'on_market_close', 'on_settle', 'on_stop',
)
(ON_START, ON_MARKET_OPEN, ON_STRIKE, ON_PRICE, ON_BOOK, ON_QUOTE, ON_TRADE, ON_TICK_SIZE,
 ON_KLINE, ON_SERIES, ON_TIMER, ON_ORDER, ON_FILL, ON_MARKET_CLOSE, ON_SETTLE, ON_STOP) = range(16)

ORDER, CANCEL, CANCEL_ALL, MERGE, SPLIT = 1, 2, 3, 4, 5
POST_ONLY, REDUCE_ONLY, LIMIT, AMOUNT = 1, 2, 4, 8
OUTCOMES = {'up': 1, 'down': 2}
SIDES = {'buy': 1, 'sell': 2}
TIFS = {'gtc': 1, 'gtd': 2, 'ioc': 3, 'fak': 3, 'fok': 4}

ACCEPTED, REJECTED, CANCELLED, EXPIRED, CANCEL_REJECTED, FILL, CONVERTED, SETTLE, STOP = range(1, 10)
STATUSES = (None, 'accepted', 'rejected', 'cancelled', 'expired', 'cancel_rejected', 'filled', 'converted')
REASONS = (
    None, 'held', 'user', 'unknown_market', 'not_tradable', 'market_closed', 'market_not_open', 'no_data', 'bad_order',
    'bad_price', 'bad_size', 'below_minimum', 'off_tick', 'insufficient_cash', 'insufficient_shares',
    'post_only_crosses', 'reduce_only', 'self_trade', 'not_filled', 'too_many_orders', 'expired', 'delayed',
    'unknown_order', 'already_done',
)

_header = struct.Struct('<IBBHII')
_answer = struct.Struct('<dII')
_event = struct.Struct('<12dIHBBBBB5x')
command = struct.Struct('<IIBBBBBBHddd')
f64 = struct.Struct('<d')
commands_head = struct.Struct('<dI')
progress = struct.Struct('<IId')
forecast = struct.Struct('<ddHHI')
failed_head = struct.Struct('<dHBBI')
beat = struct.Struct('<dddHBBI')
end = struct.Struct('<ddd')

HELD_BYTES = 65536


class WorkerGone(Exception):
    """The other side hung up: nothing is left to do."""


class Wire:
    """Both sockets. Any thread may write; only the main thread reads."""

    def __init__(self, folder):
        self._control = self._connect(folder + '/control')
        self._bulk = self._connect(folder + '/bulk')
        # Reentrant: a finalizer that prints may run in the middle of a write.
        self._lock = threading.RLock()
        self._sequence = 0
        self._held = []
        self._held_bytes = 0
        self._head = bytearray(16)
        self._ticks = bytearray(0)

    @staticmethod
    def _connect(path):
        one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        one.connect(path)
        return one

    def send(self, kind, payload=b''):
        """Sends what was held back, then this frame."""
        with self._lock:
            held, self._held, self._held_bytes = self._held, [], 0
            held.append((kind, payload))
            self._write(held)

    def hold(self, kind, payload):
        """Keeps a frame that nobody waits for until the next `send`, so that it costs no call of its own."""
        with self._lock:
            self._held.append((kind, payload))
            self._held_bytes += len(payload) + 16
            if self._held_bytes > HELD_BYTES:
                held, self._held, self._held_bytes = self._held, [], 0
                self._write(held)

    def send_at_once(self, kind, payload):
        """Sends this frame alone; what is held back stays held."""
        with self._lock:
            self._write([(kind, payload)])

    def _write(self, frames):
        parts = []
        for kind, payload in frames:
            parts.append(_header.pack(len(payload), kind, 0, 0, self._sequence & 0xFFFFFFFF, 0))
            parts.append(payload)
            self._sequence += 1
        try:
            self._control.sendall(b''.join(parts))
        except OSError as error:
            raise WorkerGone from error

    def _fill(self, source, view):
        while len(view):
            try:
                got = source.recv_into(view, 0, socket.MSG_WAITALL)
            except OSError as error:
                raise WorkerGone from error
            if not got:
                raise WorkerGone
            view = view[got:]

    def _read(self, source):
        self._fill(source, memoryview(self._head))
        size, kind, _, _, sequence, _ = _header.unpack(self._head)
        if source is self._bulk and kind == TICKS:
            # One buffer for all tick frames: the rows of a frame are done before the next one is read.
            if len(self._ticks) < size:
                self._ticks = bytearray(size)
            payload = memoryview(self._ticks)[:size]
        else:
            payload = memoryview(bytearray(size))
        self._fill(source, payload)
        return kind, sequence, payload

    def read_bulk(self):
        """The next bulk frame as (type, sequence, payload). A tick payload holds until the next call."""
        return self._read(self._bulk)

    def read_control(self):
        """The next control frame as (type, payload)."""
        kind, _, payload = self._read(self._control)
        return kind, payload

    def read_answer(self):
        """Waits for an ANSWER: (promise, number, events); an event is the tuple of its fields in wire order."""
        kind, payload = self.read_control()
        if kind != ANSWER:
            raise RuntimeError(f'expected an answer, got control frame {kind}')
        promise, number, _ = _answer.unpack_from(payload)
        return promise, number, list(_event.iter_unpack(payload[_answer.size:]))

    def wait(self):
        """Blocks until a socket has data: True for bulk, False when only control has some."""
        poll = select.poll()
        poll.register(self._bulk, select.POLLIN)
        poll.register(self._control, select.POLLIN)
        ready = {fd: mask for fd, mask in poll.poll()}
        control = ready.get(self._control.fileno(), 0)
        # FINISH may come together with the end of bulk.
        if control & select.POLLIN:
            return False
        if ready.get(self._bulk.fileno(), 0) & select.POLLIN:
            return True
        raise WorkerGone


def parse(payload):
    return json.loads(bytes(payload))
