"""The life of a box: START, segments, END."""

import builtins
import sys

from . import clock, source
from . import wire as w
from .beat import watch
from .errors import cut, describe
from .feeds import Feed
from .frame import Frame
from .seeds import seed_libraries
from .segment import CUT, Segment


class Run:
    """What outlives a segment."""

    def __init__(self, wire, work):
        self.wire = wire
        self.folder = work.rstrip('/') + '/strategy'
        self.frame = Frame()
        self.segment = None
        self.hooks_called = self.commands_sent = self.bytes_logged = 0

    def serve(self):
        """Everything between START and END; returns the exit code."""
        kind, payload = self.wire.read_control()
        if kind != w.START:
            raise RuntimeError(f'expected START, got control frame {kind}')
        self.start = w.parse(payload)
        self.frame.feeds = [Feed(told) for told in self.start['feeds']]
        source.write(self.start, self.folder)
        source.import_large(self.start['imports'])
        clock.install()
        clock.follow(self.now_ms)
        builtins.print = self._print_as(builtins.print)
        try:
            seed_libraries(f'{self.start["seed"]}/', sys.modules.get('numpy'))
            strategy, methods = source.load(self.start['entry'], self.folder)
            self.wire.send(w.READY, sum(1 << i for i, name in enumerate(w.HOOKS) if name in methods).to_bytes(4, 'little'))
            watch(self)
            while self._next_segment(strategy, methods):
                pass
        except (w.WorkerGone, SystemExit):
            raise
        except BaseException as error:
            self._failed(error)
            return 1
        self.wire.send(w.END, w.end.pack(self.hooks_called, self.commands_sent, self.bytes_logged))
        return 0

    def _next_segment(self, strategy, methods):
        """Plays the next segment; False when there is none."""
        while self.wire.wait():
            kind, _, payload = self.wire.read_bulk()
            if kind == w.SEGMENT:
                break
            # What else comes are rows after the last stop, sent ahead: nobody will run them.
        else:
            kind, _ = self.wire.read_control()
            if kind != w.FINISH:
                raise RuntimeError(f'expected FINISH, got control frame {kind}')
            return False
        told = w.parse(payload)
        seed_libraries(f'{self.start["seed"]}/{told["name"]}', sys.modules.get('numpy'))
        self.segment = Starting(told['start_ms'])
        self.segment = Segment(self, told, strategy(), methods)
        self.segment.play()
        return True

    def now_ms(self):
        return self.segment.world.now_ms() if self.segment else 0

    def where(self):
        """(now, hook, market, a mark that changes with every hook call) for the watchdog."""
        world = self.segment.world if self.segment else None
        if world is None:
            return 0, w.NO_HOOK, w.NO_MARKET, None
        hook, market = world.place()
        return world.now_ms(), hook, market, (id(world), world.serial, self.frame.sequence, world.cursor._i)

    # Logs.

    def log(self, text, now=None):
        """A LOG frame for each line."""
        limit = self.start['limits']['log_line_bytes']
        stamp = w.f64.pack(self.now_ms() if now is None else now)
        for line in text.split('\n'):
            data = cut(line, limit, CUT)
            self.bytes_logged += len(data)
            self.wire.hold(w.LOG, stamp + data)

    def _print_as(self, real):
        def print(*values, sep=' ', end='\n', file=None, flush=False):
            if file is None or file is sys.stdout:
                text = (' ' if sep is None else sep).join(map(str, values)) + ('\n' if end is None else end)
                self.log(text.removesuffix('\n'))
            else:
                real(*values, sep=sep, end=end, file=file, flush=flush)

        print.__doc__ = real.__doc__
        return print

    def _failed(self, error):
        now, hook, market = 0, w.NO_HOOK, w.NO_MARKET
        if self.segment:
            now = self.now_ms()
            hook, market = self.segment.world.place()
        text = describe(error, self.folder, self.start['limits']['error_bytes'])
        self.wire.send(w.FAILED, w.failed_head.pack(now, market, hook, 0, 0) + text)


class Starting:
    """Stands for a segment whose strategy is being constructed: only the clock is there."""

    def __init__(self, start_ms):
        self.start_ms = start_ms
        self.world = self

    serial = 0
    cursor = type('Cursor', (), {'_i': -1})

    def now_ms(self):
        return self.start_ms

    def place(self):
        return w.NO_HOOK, w.NO_MARKET
