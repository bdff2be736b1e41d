"""The harness of a Python strategy: python3 -s -P main.py WIRE_DIR WORK_DIR. It holds no engine: frames in, hooks, frames out."""

import os
import sys


def main(wire_folder, work_folder):
    if sys.flags.hash_randomization or not sys.flags.safe_path:
        # The order of a set of strings must not change from run to run, and that is decided before the first line runs.
        os.environ['PYTHONHASHSEED'] = '0'
        os.execv(sys.executable, [sys.executable, '-s', '-P', '-B', '-u', os.path.abspath(__file__), wire_folder, work_folder])
    sys.dont_write_bytecode = True
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    from backtest.run import Run
    from backtest.wire import Wire, WorkerGone

    sys.path.pop(0)
    try:
        code = Run(Wire(wire_folder), work_folder).serve()
    except WorkerGone:
        code = 3
    sys.stdout.flush()
    sys.stderr.flush()
    # Not sys.exit: a thread the strategy left behind must not keep the box alive.
    os._exit(code)


main(*sys.argv[1:3])
