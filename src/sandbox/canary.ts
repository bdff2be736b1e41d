// Python programs for a box that is put to the test. They use nothing but the standard library.

/** In the folder of the sockets, to see that engine and worker mean the same one. */
export const MARK = 'canary';

/** Takes as much memory as it is told. */
export const EATER = `
import sys
held = b'x' * int(sys.argv[1])
`;

/**
 * Tries what no strategy may be able to. Prints a line for everything that worked, then "done". Most calls would be
 * refused to any user without rights; that it has none is looked at too, in case one of them is refused by chance.
 */
export const ATTACKS = String.raw`
import ctypes, errno, json, os, resource, signal, socket, stat, sys, time

limits = json.loads(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)

def fails(attempt):
    try:
        attempt()
    except OSError:
        return True
    return False

def check(problem, holds):
    if not holds:
        print('a box ' + problem, flush=True)

# Not merely that it failed: arguments that make no sense must not even be looked at.
def refused(call):
    try:
        ctypes.set_errno(0)
        return call() == -1 and ctypes.get_errno() in (errno.EPERM, errno.EACCES, errno.ENOSYS)
    except PermissionError:
        return True

# Who it is.
status = dict(line.split(':', 1) for line in open('/proc/self/status'))
check('runs as root', os.getuid() != 0 and fails(lambda: os.setuid(0)) and fails(lambda: os.setgroups([0])))
check('has capabilities', all(int(status[name], 16) == 0 for name in ('CapEff', 'CapPrm', 'CapBnd', 'CapAmb')))
check('may gain rights by a program of root', status['NoNewPrivs'].strip() == '1')
check('has no system call filter', status['Seccomp'].strip() == '2')
check('sees processes that are not its own', len([name for name in os.listdir('/proc') if name.isdigit()]) <= 3)

# Where it can go.
def unreachable(address):
    with socket.socket() as one:
        one.settimeout(0.3)
        return one.connect_ex(address) in (errno.ENETUNREACH, errno.EHOSTUNREACH)
check('has a network', [name for _, name in socket.if_nameindex()] == ['lo'])
check('reaches other machines', unreachable(('192.0.2.1', 80)) and unreachable(('172.17.0.1', 80)))

# What it can read and write.
check('does not see the folder of its sockets: the engine must see the worker\'s TMPDIR under the same path',
      os.path.exists('/wire/canary'))
for path in ('/canary', '/etc/canary', '/opt/harness/canary', '/dev/canary', '/dev/shm/canary', '/wire/canary2', '/tmp/canary'):
    check('writes to ' + path, fails(lambda: open(path, 'x')))
def hidden(path):
    try:
        return os.listdir(path) == [] if os.path.isdir(path) else open(path, 'rb').read(1) == b''
    except OSError:
        return True
for path in limits['masked']:
    check('reads ' + path, hidden(path))
check('changes settings of the kernel', fails(lambda: open('/proc/sys/kernel/core_pattern', 'w')))
check('has a disk', not any(stat.S_ISBLK(os.lstat('/dev/' + name).st_mode) for name in os.listdir('/dev')))
check('makes a device', fails(lambda: os.mknod('/work/disk', stat.S_IFBLK | 0o600, os.makedev(8, 0))))
with open('/work/program', 'w') as file:
    file.write('#!/bin/sh\n')
os.chmod('/work/program', 0o755)
check('runs programs that it wrote', fails(lambda: os.waitpid(os.posix_spawn('/work/program', ['program'], {}), 0)))
def fill():
    for number in range(4):
        with open('/work/%d' % number, 'wb') as file:
            file.write(bytes(limits['work_bytes'] // 2))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
check('writes more than it may', fails(fill))

# What it can ask of the kernel.
number = {'x86_64': {'bpf': 321, 'perf_event_open': 298, 'keyctl': 250},
          'aarch64': {'bpf': 280, 'perf_event_open': 241, 'keyctl': 219}}.get(os.uname().machine, {})
calls = {
    'mount': lambda: libc.mount(b'tmpfs', b'/work', b'tmpfs', 0, 0),
    'umount': lambda: libc.umount2(b'/proc', 2),
    'pivot_root': lambda: libc.pivot_root(b'/work', b'/work'),
    'chroot': lambda: libc.chroot(b'/work'),
    'unshare': lambda: libc.unshare(0x10000000),
    'setns': lambda: libc.setns(os.open('/proc/1/ns/mnt', os.O_RDONLY), 0),
    'sethostname': lambda: libc.sethostname(b'x', 1),
    'settimeofday': lambda: libc.settimeofday((ctypes.c_long * 2)(0, 0), None),
    'init_module': lambda: libc.init_module(None, 0, b''),
    **{name: lambda nr=nr: libc.syscall(nr, 0, 0, 0, 0, 0) for name, nr in number.items()},
}
for name, call in calls.items():
    check('may call ' + name, refused(call))

# How much it can take.
check('opens more files than it may', resource.getrlimit(resource.RLIMIT_NOFILE) == (limits['open_files'],) * 2)
check('writes core files', resource.getrlimit(resource.RLIMIT_CORE) == (0, 0))
children = []
def fork():
    while len(children) <= limits['pids']:
        child = os.fork()
        if child == 0:
            signal.pause()
            os._exit(0)
        children.append(child)
check('starts more processes than it may', fails(fork))
for child in children:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)

# Twice as many processes as it has processors for; where the machine is busy, this shows nothing.
def burn(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
before, began = os.times(), time.monotonic()
burners = []
for _ in range(2 * max(1, int(limits['cpus']))):
    child = os.fork()
    if child == 0:
        burn(0.5)
        os._exit(0)
    burners.append(child)
for child in burners:
    os.waitpid(child, 0)
after = os.times()
used = after.children_user + after.children_system - before.children_user - before.children_system
check('uses more processors than it may', used < 1.6 * limits['cpus'] * (time.monotonic() - began))
print('done')
`;
