"""Writes the strategy's files and imports its class."""

import importlib.util
import os
import sys

from .errors import StrategyError
from .wire import HOOKS

#: Imported before the clock is replaced: they were built against the real one.
LARGE = ('numpy', 'pandas', 'scipy', 'pyarrow')


def write(start, folder):
    """Writes the files of START into `folder`."""
    for one in start['files']:
        path = os.path.join(folder, one['name'])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8', newline='') as file:
            file.write(one['content'])


def import_large(imports):
    """Imports those large libraries that the strategy names; its own import tells of one that is missing."""
    wanted = {name.split('.')[0] for name in imports}
    for name in LARGE:
        if name in wanted:
            try:
                importlib.import_module(name)
            except ImportError:
                pass


def load(entry, folder):
    """The strategy's class, and the set of its hooks' names."""
    path = os.path.join(folder, entry)
    home = os.path.dirname(path)
    sys.path[:0] = [home] if home == folder else [home, folder]
    name = os.path.splitext(os.path.basename(entry))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    found = getattr(module, 'Strategy', None)
    if not isinstance(found, type):
        raise StrategyError(f'{entry} defines no class Strategy')
    methods = {name for name in HOOKS if callable(getattr(found, name, None))}
    if not methods:
        raise StrategyError('class Strategy implements no hook')
    return found, methods
