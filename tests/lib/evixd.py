# SPDX-License-Identifier: MIT
"""Starts the real daemon for a test, waits until it serves, and looks at what it left behind.

EVIXD names the program, BACKEND the event loop's backend (epoll where it says nothing; `poor` is
epoll with as little else as evixd can do with, see deprived.py). Stopping
checks the exit status, that no sanitizer complained, and that the error log holds no warning that
the test did not announce.
"""

import contextlib
import ctypes
import fcntl
import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest

import deprived
from suite import TIME_SCALE

EVIXD = os.path.abspath(os.environ.get("EVIXD", "./evixd"))
BACKEND = os.environ.get("BACKEND", "epoll")
IS_POOR = BACKEND == "poor"
POVERTY = None
if IS_POOR:
    BACKEND = "epoll"
    POVERTY = deprived.Poverty()
    for absent in deprived.missing():
        print("# the world is less poor than it should be, for want of " + absent)
# In every test: a worker may get no CPU for a second where others have all of it.
BUSY_COMPLAINTS = ("has not responded for a second",)
# What the daemon may complain of in the poorest world, in every test.
POOR_COMPLAINTS = [
    r"no filter of system calls: the kernel has none",
    r"limits\.connections = \d+ needs \d+ descriptors, but the hard limit is 256 ",
]

# The kernel kills the daemon with the test; what a test that was itself killed leaves is nothing.
_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1
_F_SETPIPE_SZ, _LOG_PIPE_BYTES = 1031, 1 << 20

LISTENING = re.compile(r"(?:listening|echo) on (?P<url>\S+)")
SERVING = re.compile(r"^Serving .* on (?P<url>http://\S+?)/?$")
COMPLAINT = re.compile(
    r"ERROR: \w+Sanitizer|WARNING: \w+Sanitizer|runtime error:|SUMMARY: \w+Sanitizer|Assertion .* failed"
)
ALERT = re.compile(r"(?:^|\s)\[?(?:<[0-4]>)?(emerg|alert|crit|error|warning)\]?[:\s]")


def reset_inherited():
    """For a child, before it becomes the daemon: every signal has its default disposition, whatever
    started the tests. (A shell starts `scripts/test &` with INT and QUIT ignored, nohup(1) with HUP.)"""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)


def run(*arguments, timeout=10, env=None, cwd=None):
    """The program, run to its end: subprocess.CompletedProcess with text in stdout and stderr."""
    return subprocess.run(
        [EVIXD, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
        errors="surrogateescape", timeout=timeout * TIME_SCALE, env=env, cwd=cwd, check=False,
        preexec_fn=reset_inherited,
    )


def features():
    """The words that `evixd --version` says, in lower case."""
    return set(re.findall(r"[a-z_0-9]+", run("--version").stdout.lower()))


def unless_poor(reason):
    """Decorates what cannot hold in the poorest world, and says why."""
    return unittest.skipIf(IS_POOR, "in the poorest world " + reason)


def require_backend():
    """Skips, with the reason, where the backend that was asked for is not built in."""
    if BACKEND not in features():
        raise unittest.SkipTest("evixd --version names no networking backend " + BACKEND)


def children(pid):
    """The ids of a process's children."""
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except FileNotFoundError:
        return []


def parent(pid):
    with open("/proc/%d/stat" % pid, encoding="latin-1") as file:
        return int(file.read().rpartition(")")[2].split()[1])


def cpu_seconds(pid):
    """User and system time that a process has used."""
    with open("/proc/%d/stat" % pid, encoding="latin-1") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_bytes(pid, kind="VmRSS"):
    with open("/proc/%d/status" % pid, encoding="latin-1") as file:
        for line in file:
            if line.startswith(kind + ":"):
                return int(line.split()[1]) * 1024
    raise AssertionError("no %s for %d" % (kind, pid))


def watched_inodes(pid):
    """The inodes that a process has inotify watches on."""
    inodes = set()
    for name in os.listdir("/proc/%d/fdinfo" % pid):
        try:
            with open("/proc/%d/fdinfo/%s" % (pid, name), encoding="ascii") as file:
                inodes |= {int(found, 16) for found in re.findall(r"inotify wd:\w+ ino:(\w+)", file.read())}
        except FileNotFoundError:
            pass
    return inodes


def descriptors(pid):
    return len(os.listdir("/proc/%d/fd" % pid))


def wait_until(condition, what, timeout=10):
    """For states that send no event (of /proc, of the kernel); returns the true value."""
    deadline = time.monotonic() + timeout * TIME_SCALE
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError("not within %g s: %s" % (timeout * TIME_SCALE, what))
        time.sleep(0.005)


class _Reader(threading.Thread):
    """Collects the lines of one of the daemon's streams, and wakes who waits for them."""

    def __init__(self, stream):
        super().__init__(daemon=True)
        self.stream = stream
        self.lines = []
        self.ended = False
        self.changed = threading.Condition()
        self.start()

    def run(self):
        for raw in self.stream:
            with self.changed:
                self.lines.append(raw.decode("utf-8", "backslashreplace").rstrip("\n"))
                self.changed.notify_all()
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def wait(self, pattern, count=1, timeout=10):
        """The match objects of at least `count` lines that match."""
        pattern = re.compile(pattern)

        def matches():
            return [m for m in map(pattern.search, self.lines) if m]

        with self.changed:
            self.changed.wait_for(
                lambda: len(matches()) >= count or self.ended, timeout * TIME_SCALE
            )
            found = matches()
            if len(found) < count:
                raise AssertionError(
                    "no %d lines match %r (stream ended: %s):\n%s"
                    % (count, pattern.pattern, self.ended, "\n".join(self.lines[-40:]))
                )
            return found

    def text(self):
        with self.changed:
            return "\n".join(self.lines)


class Daemon:
    """A running daemon: `Daemon(directory=DIR)` or `Daemon(config=TEXT)`.

    expect: patterns of warnings and errors that may stand in the error log.
    pass_fds: descriptors that it inherits, by the same numbers.
    io_uring: False forbids it, so that files go through threads.
    forbidden: {name of a system call: errno} that fail, as deprived.forbid() has it.
    ignored: signals that its parent has ignored, as a shell has INT and QUIT for `evixd &`.
    """

    def __init__(self, directory=None, config=None, arguments=(), expect=(), workers=1,
                 descriptor_limit=None, listeners=1, env=None, stdout=subprocess.PIPE,
                 pass_fds=(), io_uring=True, ignored=(), forbidden=None):
        self.folder = tempfile.mkdtemp(prefix="evixd-test-")
        self.expect = list(expect)
        self.listeners = listeners
        self.descriptor_limit = descriptor_limit
        self.env = dict(os.environ, **(env or {}))
        self.stdout = stdout
        self.pass_fds = pass_fds
        self.forbidden = dict(forbidden or ({} if io_uring else deprived.IO_URING))
        self.ignored = ignored
        self.command = [EVIXD]
        if workers is not None:  # else the configuration says it, and the backend
            self.command += ["-b", BACKEND, "-w", str(workers)]
        if config is not None:
            self.config_path = os.path.join(self.folder, "evixd.conf")
            with open(self.config_path, "w", encoding="utf-8") as file:
                file.write(config)
            self.command += ["-c", self.config_path]
        self.command += arguments
        if directory is not None:
            if not any(a in ("-l", "--listen") for a in arguments):
                self.command += ["-l", "127.0.0.1:0"]
            self.command.append(directory)
        self.directory = directory
        self.workers = workers
        self.process = None
        self.urls = []

    # Life.

    def start(self):
        def before_exec():
            _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            reset_inherited()
            if self.descriptor_limit:
                resource.setrlimit(resource.RLIMIT_NOFILE, (self.descriptor_limit,) * 2)
            for number in self.ignored:
                signal.signal(number, signal.SIG_IGN)
            if self.forbidden:  # first: in the poorest world no filter can be set any more
                deprived.forbid(self.forbidden)
            if IS_POOR:
                POVERTY.enter()

        self.process = subprocess.Popen(
            self.command, stdin=subprocess.DEVNULL, stdout=self.stdout, stderr=subprocess.PIPE,
            env=self.env, preexec_fn=before_exec, cwd=self.folder, pass_fds=self.pass_fds,
        )
        # What is said at once for thousands of requests finds room, however late we come to read.
        with contextlib.suppress(OSError):
            fcntl.fcntl(self.process.stderr, _F_SETPIPE_SZ, _LOG_PIPE_BYTES)
        self.log = _Reader(self.process.stderr)
        self.output = _Reader(self.process.stdout) if self.process.stdout else None
        try:
            if self.directory is not None:
                found = self.output.wait(SERVING)
            else:
                found = self.log.wait(LISTENING, self.listeners)
        except AssertionError:
            self.kill()
            raise
        self.urls = [match["url"] for match in found]
        return self

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, *_error):
        if kind is None:
            self.stop()
        else:
            self.kill()

    def send_signal(self, number):
        self.process.send_signal(number)

    def wait(self, timeout=10):
        """Waits for the end of the master; its exit status."""
        try:
            return self.process.wait(timeout * TIME_SCALE)
        except subprocess.TimeoutExpired:
            log = self.log.text()
            self.kill()
            raise AssertionError("still running after %g s\n%s" % (timeout, log)) from None

    def stop(self, number=signal.SIGTERM, status=0, timeout=15):
        """Stops it and checks all that it left."""
        if self.process.poll() is None:
            self.send_signal(number)
        code = self.wait(timeout)
        self.close()
        self.check_log()
        if code != status:
            raise AssertionError("exit status %s, not %s:\n%s" % (code, status, self.log.text()))

    def kill(self):
        if self.process and self.process.poll() is None:
            workers = children(self.process.pid)
            self.process.kill()
            self.process.wait()
            for pid in workers:  # PDEATHSIG is not theirs
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        self.close()

    def close(self):
        readers = [(self.log, self.process.stderr)] if self.process else []
        if self.process and self.output:
            readers.append((self.output, self.process.stdout))
        for reader, stream in readers:
            reader.join(5)
            if not reader.is_alive():  # else somebody has it still, and to close it would wait for that
                stream.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def check_log(self):
        expected = [*self.expect, *BUSY_COMPLAINTS, *(POOR_COMPLAINTS if IS_POOR else ())]
        for line in self.log.lines:
            if COMPLAINT.search(line):
                raise AssertionError("a sanitizer or an assertion spoke:\n" + self.log.text())
            if ALERT.search(line) and not any(re.search(p, line) for p in expected):
                raise AssertionError("unexpected in the error log: %s\n\n%s" % (line, self.log.text()))

    # Facts.

    @property
    def address(self):
        return self.addresses[0]

    @property
    def addresses(self):
        """Of all listeners, in the configuration's order: (host, port), or a unix socket's path."""
        return [parse_address(url) for url in self.urls]

    @property
    def worker_pids(self):
        return wait_until(
            lambda: len(children(self.process.pid)) >= self.workers
            and children(self.process.pid),
            "%d workers" % self.workers,
        )


def parse_address(url):
    text = url.split("://", 1)[-1].rstrip("/")
    if "unix:" in text:
        return text.split("unix:", 1)[1]
    host, _, port = text.rpartition(":")
    return (host.strip("[]"), int(port))


def quote(value):
    """A libconfig value for a Python one."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, dict):
        return "{ %s }" % " ".join("%s = %s;" % (k, quote(v)) for k, v in value.items())
    if isinstance(value, (list, tuple)):
        return "( %s )" % ", ".join(map(quote, value))
    return '"%s"' % str(value).replace("\\", "\\\\").replace('"', '\\"')


def configuration(**settings):
    """The text of a configuration file: one listener on a free port and a log that says why,
    where `settings` does not say otherwise."""
    settings.setdefault("error_log", {"target": "stderr", "level": "info"})
    settings.setdefault("listen", [{"address": "127.0.0.1:0"}])
    return "".join("%s = %s;\n" % (name, quote(value)) for name, value in settings.items())


def host(root, *locations, **settings):
    """One host of a configuration."""
    settings = {"names": ["test"], "default": True, "root": root, **settings}
    if locations:
        settings["locations"] = list(locations)
    return settings


class TestCase(unittest.TestCase):
    """A test with a daemon that its class shares: say in `serve` what it is to serve."""

    maxDiff = 2000

    @classmethod
    def setUpClass(cls):
        require_backend()
        cls.root = tempfile.mkdtemp(prefix="evixd-root-")
        cls.addClassCleanup(shutil.rmtree, cls.root, True)
        cls.daemon = cls.serve().start()

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()

    @classmethod
    def serve(cls):
        raise NotImplementedError

    @property
    def address(self):
        return self.daemon.address

    def folder(self):
        """A folder of the test's own."""
        path = tempfile.mkdtemp(prefix="evixd-root-")
        self.addCleanup(shutil.rmtree, path, True)
        return path
