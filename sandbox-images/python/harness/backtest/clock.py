"""Makes the replay's clock the process's clock. `time.sleep` and other C extensions than pandas keep the real one."""

import datetime
import os
import sys
import time

real_monotonic = time.monotonic
real_sleep = time.sleep
cpu_seconds = time.process_time

_now = lambda: 0  # noqa: E731


def follow(now):
    """From here on the time is what `now()` says, integer ms."""
    global _now
    _now = now


def seconds():
    return _now() / 1000


def nanoseconds():
    return int(_now()) * 1_000_000


def _default_to_now(real):
    def wrapped(moment=None):
        return real(seconds() if moment is None else moment)

    wrapped.__name__, wrapped.__doc__ = real.__name__, real.__doc__
    return wrapped


def _replay_types():
    real, real_date = datetime.datetime, datetime.date

    # Values that C code makes are of the real types; they must pass for the replaced ones.
    class DatetimeType(type):
        def __instancecheck__(cls, value):
            return isinstance(value, real) if cls is replay else type.__instancecheck__(cls, value)

        def __subclasscheck__(cls, other):
            return issubclass(other, real) if cls is replay else type.__subclasscheck__(cls, other)

    class DateType(type):
        def __instancecheck__(cls, value):
            return isinstance(value, real_date) if cls is replay_date else type.__instancecheck__(cls, value)

        def __subclasscheck__(cls, other):
            return issubclass(other, real_date) if cls is replay_date else type.__subclasscheck__(cls, other)

    class replay(real, metaclass=DatetimeType):
        @classmethod
        def now(cls, tz=None):
            return cls.fromtimestamp(seconds(), tz)

        @classmethod
        def utcnow(cls):
            return cls.fromtimestamp(seconds(), datetime.timezone.utc).replace(tzinfo=None)

        @classmethod
        def today(cls):
            return cls.fromtimestamp(seconds())

    class replay_date(real_date, metaclass=DateType):
        @classmethod
        def today(cls):
            return cls.fromtimestamp(seconds())

    for made, name in ((replay, 'datetime'), (replay_date, 'date')):
        made.__name__ = made.__qualname__ = name
        made.__module__ = 'datetime'
    return replay, replay_date


def _follow_pandas(stamp):
    # It asks the clock in C, so that replacing datetime does not reach it.
    def now(cls, tz=None):
        return cls(_now() * 1000, unit='us', tz=tz)

    stamp.now = stamp.today = classmethod(now)
    stamp.utcnow = classmethod(lambda cls: now(cls, 'UTC'))


def install():
    """Replaces the clocks. Runs once, after the modules that must keep the real ones were imported."""
    os.environ['TZ'] = 'UTC'
    time.tzset()
    time.time = time.monotonic = time.perf_counter = seconds
    time.time_ns = time.monotonic_ns = time.perf_counter_ns = nanoseconds
    for name in ('gmtime', 'localtime', 'ctime'):
        setattr(time, name, _default_to_now(getattr(time, name)))
    datetime.datetime, datetime.date = _replay_types()
    if 'pandas' in sys.modules:
        _follow_pandas(sys.modules['pandas'].Timestamp)
