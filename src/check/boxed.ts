/** Modules a box has, by their first name. */

/** The standard library of Python 3.14, without modules whose name starts with `_`: any of those may be imported. */
export const pythonLibrary: ReadonlySet<string> = new Set(
  `abc annotationlib antigravity argparse array ast asyncio atexit base64 bdb binascii bisect builtins bz2 cProfile
  calendar cmath cmd code codecs codeop collections colorsys compileall compression concurrent configparser contextlib
  contextvars copy copyreg csv ctypes curses dataclasses datetime dbm decimal difflib dis doctest email encodings
  ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch fractions ftplib functools gc genericpath getopt
  getpass gettext glob graphlib grp gzip hashlib heapq hmac html http idlelib imaplib importlib inspect io ipaddress
  itertools json keyword linecache locale logging lzma mailbox marshal math mimetypes mmap modulefinder msvcrt
  multiprocessing netrc nt ntpath nturl2path numbers opcode operator optparse os pathlib pdb pickle pickletools pkgutil
  platform plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat
  queue quopri random re readline reprlib resource rlcompleter runpy sched secrets select selectors shelve shlex shutil
  signal site smtplib socket socketserver sqlite3 sre_compile sre_constants sre_parse ssl stat statistics string
  stringprep struct subprocess symtable sys sysconfig syslog tabnanny tarfile tempfile termios textwrap this threading
  time timeit tkinter token tokenize tomllib trace traceback tracemalloc tty turtle turtledemo types typing unicodedata
  unittest urllib uuid venv warnings wave weakref webbrowser winreg winsound wsgiref xml xmlrpc zipapp zipfile
  zipimport zlib zoneinfo`.split(/\s+/),
);

/** What the Python box has beside it: four packages and what they bring along. */
export const pythonPackages: ReadonlySet<string> = new Set([
  'numpy',
  'pandas',
  'scipy',
  'pyarrow',
  'dateutil',
  'pytz',
]);

/** The standard library of Node 24. */
export const nodeLibrary: ReadonlySet<string> = new Set(
  `assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain events fs
  http http2 https inspector module net os path perf_hooks process punycode querystring readline repl stream
  string_decoder sys timers tls trace_events tty url util v8 vm wasi worker_threads zlib`.split(/\s+/),
);

/** Those of it that need the prefix `node:`. */
export const nodePrefixed: ReadonlySet<string> = new Set(['sea', 'sqlite', 'test']);

/** Submodules, as `fs/promises`. */
export const nodeSubmodules: ReadonlySet<string> = new Set(
  `assert/strict dns/promises fs/promises inspector/promises path/posix path/win32 readline/promises stream/consumers
  stream/promises stream/web test/reporters timers/promises util/types`.split(/\s+/),
);
