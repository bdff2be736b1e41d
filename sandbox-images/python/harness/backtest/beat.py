"""The watchdog: tells the worker each second where the strategy is, also while a hook does not return."""

import threading

from . import clock
from . import wire as w

LOOK_S = 0.25
LOOKS_PER_BEAT = 4


def watch(run):
    """Starts the watchdog's thread."""
    threading.Thread(target=_watch, args=(run,), daemon=True, name='watchdog').start()


def _watch(run):
    seen, since, looks = None, 0.0, 0
    while True:
        clock.real_sleep(LOOK_S)
        looks += 1
        try:
            now, hook, market, mark = run.where()
        except Exception:  # caught between two frames: look again
            continue
        moment = clock.real_monotonic()
        if mark != seen:
            seen, since = mark, moment
        if looks % LOOKS_PER_BEAT == 0:
            # Nobody times a hook, as that would cost more than most hooks: a look is what counts.
            wall = (moment - since) * 1000 if hook != w.NO_HOOK else 0.0
            try:
                run.wire.send_at_once(w.BEAT, w.beat.pack(now, clock.cpu_seconds() * 1000, wall, market, hook, 0, 0))
            except w.WorkerGone:
                return
