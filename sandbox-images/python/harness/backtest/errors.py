"""What the author of a strategy reads when it fails."""

import traceback


class StrategyError(Exception):
    """The strategy broke a rule of the harness; the message says which."""

    __module__ = 'builtins'  # shown by its bare name


OUTSIDE = (
    'ctx was used outside of a running hook. Use it only inside the hook that received it: '
    'not from another thread, a callback, or after the hook returned.'
)

KEPT = 'a row was kept after its hook had returned, and is over by now: keep row.copy() instead.'


def cut(text, limit, note):
    """The text as UTF-8 of at most `limit` bytes, cut between characters, with the note where something is missing."""
    data = text.encode('utf-8', 'replace')
    if len(data) <= limit:
        return data
    kept = data[:max(0, limit - len(note))].decode('utf-8', 'ignore')
    return kept.encode() + note


def describe(error, folder, limit):
    """A traceback with the strategy's own frames only, its files named as the author named them."""
    prefix = folder.rstrip('/') + '/'
    seen = set()

    def own(report):
        if report is None or id(report) in seen:
            return
        seen.add(id(report))
        report.stack = traceback.StackSummary.from_list(
            [_renamed(frame, prefix) for frame in report.stack if frame.filename.startswith(prefix)]
        )
        filename = getattr(report, 'filename', None)
        if isinstance(filename, str):
            report.filename = filename.removeprefix(prefix)
        own(report.__cause__)
        own(report.__context__)
        for nested in getattr(report, 'exceptions', None) or ():
            own(nested)

    try:
        report = traceback.TracebackException.from_exception(error, limit=-200)
        own(report)
        text = ''.join(report.format()).rstrip('\n').replace(prefix, '')
    except Exception:  # an exception class can be hostile to being shown
        text = type(error).__name__
    # The last line says what happened, the first ones where: keep both ends.
    data = text.encode('utf-8', 'replace')
    if len(data) <= limit:
        return data
    note = b'\n ... [cut] ...\n'
    half = (limit - len(note)) // 2
    head = data[:half].decode('utf-8', 'ignore').encode()
    tail = data[-half:].decode('utf-8', 'ignore').encode()
    return head + note + tail


def _renamed(frame, prefix):
    # Reading `line` here fills it in, while the real file name is still known.
    return traceback.FrameSummary(frame.filename.removeprefix(prefix), frame.lineno, frame.name, line=frame.line)
