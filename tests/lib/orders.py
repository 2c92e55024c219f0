# SPDX-License-Identifier: MIT
"""One daemon that is given orders, with all processes that come of it; what they are is looked up in
/proc, and nothing is believed that the daemon says of itself, but for its pid file.

The process that imports this adopts and reaps whatever its daemons leave behind.
"""

import contextlib
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import tree
from evixd import ALERT, BACKEND, COMPLAINT, EVIXD, configuration, host
from load import write_files
from wire import Connection, WireError, fetch, request

_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_SCM_CREDENTIALS = 2
_PF_EXITING = 4
LARGE = 24 << 20
HEEDED = (signal.SIGTERM, signal.SIGQUIT, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1,
          signal.SIGUSR2, signal.SIGCHLD)

_statuses = {}  # of those that were reaped, by process


def adopt_orphans():
    _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def reap():
    """Every child of ours that has ended."""
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            _statuses[pid] = os.waitstatus_to_exitcode(status)


def children(pid):
    """Of all its threads."""
    found = []
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for task in os.listdir("/proc/%d/task" % pid):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                with open("/proc/%d/task/%s/children" % (pid, task), encoding="ascii") as file:
                    found += [int(word) for word in file.read().split()]
    return found


def descendants():
    """Of this process, those that have not ended."""
    reap()
    found, left = set(), [os.getpid()]
    while left:
        for pid in children(left.pop()):
            if pid not in found:
                found.add(pid)
                left.append(pid)
    left = {pid for pid in found if not is_zombie(pid)}
    reap()  # those that have ended meanwhile
    return left


def is_zombie(pid):
    try:
        with open("/proc/%d/stat" % pid, encoding="latin-1") as file:
            return file.read().rpartition(")")[2].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


def is_ending(pid):
    """Whether it can obey no order any more: it has called exit(2), or it is gone."""
    try:
        with open("/proc/%d/stat" % pid, encoding="latin-1") as file:
            fields = file.read().rpartition(")")[2].split()
            return bool(int(fields[6]) & _PF_EXITING) or fields[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


def open_files(pid):
    """The names, as they are now, of what a process has open."""
    names = []
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for fd in os.listdir("/proc/%d/fd" % pid):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                names.append(os.readlink("/proc/%d/fd/%s" % (pid, fd)))
    return names


class Manager:
    """Listens as a service manager does, and knows whom it has to listen to."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.socket.bind(path)
        self.said = []  # (process, name, value)

    def close(self):
        self.socket.close()

    def listen(self):
        with contextlib.suppress(BlockingIOError):
            while True:
                data, ancillary, _flags, _address = self.socket.recvmsg(4096, 1024)
                pid, = [int.from_bytes(value[:4], "little") for _level, kind, value in ancillary
                        if kind == _SCM_CREDENTIALS]
                for line in data.decode().splitlines():
                    self.said.append((pid, *line.split("=", 1)))

    def main_process(self, first, is_succession_told):
        """Who is in charge at the end; raises if somebody else spoke."""
        main = first
        for pid, name, value in self.said:
            if pid != main:
                if is_succession_told:
                    raise AssertionError("%d spoke, not %d: %r" % (pid, main, self.said))
                main = pid
            if name == "MAINPID":
                main = int(value)
        return main


class World:
    """A daemon in a folder of its own, that is started as `parent` says."""

    def __init__(self, parent, workers, shutdown):
        self.parent, self.workers, self.shutdown = parent, workers, shutdown
        self.folder = tempfile.mkdtemp(prefix="evixd-orders-")
        self.number = 0  # of the newest configuration
        self.program_number = 0
        self.rotations = 0
        self.manager = None
        self.process = None
        self.master = 0
        _statuses.clear()

    def path(self, name):
        return os.path.join(self.folder, name)

    # What an order is to find.

    def write_configuration(self):
        root = self.path("root-%d" % self.number)
        write_files(root)
        tree.write(root, "number", b"%d" % self.number)
        with open(os.path.join(root, "large.bin"), "wb") as file:
            file.truncate(LARGE)
        text = configuration(
            workers=self.workers, backend=BACKEND, pid_file=self.path("pid"),
            error_log={"target": self.path("error.log"), "level": "info"},
            timeouts={"shutdown": self.shutdown, "keep_alive": 600, "send": 600},
            limits={"min_rate": 0},
            listen=[{"address": "127.0.0.1:0"}, {"address": "unix:" + self.path("socket")}],
            hosts=[host(root, access_log={"target": self.path("access.log")})],
        )
        tree.replace(self.path("evixd.conf"), text.encode())

    def write_next_configuration(self):
        self.number += 1
        self.write_configuration()

    def rotate(self):
        self.rotations += 1
        for name in ("access.log", "error.log"):
            with contextlib.suppress(FileNotFoundError):  # one that was ordered before may yet be made
                os.rename(self.path(name), self.path("%s.%d" % (name, self.rotations)))

    def install(self):
        """The next program: the same one by another name, which the kernel tells."""
        self.program_number += 1
        name = self.path("evixd-%d" % self.program_number)
        try:
            os.link(EVIXD, name)
        except OSError:
            shutil.copy(EVIXD, name)
        os.symlink(name, self.path("next"))
        os.rename(self.path("next"), self.path("evixd"))

    # Life.

    def start(self):
        self.install()
        self.write_configuration()
        command = [self.path("evixd"), "-c", self.path("evixd.conf")]
        env = dict(os.environ)
        env.pop("NOTIFY_SOCKET", None)
        if self.parent == "manager":
            self.manager = Manager(self.path("notify"))
            env["NOTIFY_SOCKET"] = self.path("notify")
        if self.parent == "shell":
            command = ["sh", "-c", '"$@" & wait $!', "sh", *command]
        with open(self.path("stderr"), "wb") as stderr:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=stderr, stderr=stderr, env=env,
                preexec_fn=self.before_exec, cwd=self.folder,
            )

    def before_exec(self):
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        for number in HEEDED:
            signal.signal(number, signal.SIG_IGN if self.parent == "ignoring" else signal.SIG_DFL)
        signal.pthread_sigmask(
            signal.SIG_SETMASK, HEEDED if self.parent == "ignoring" else ())

    def note_start(self):
        """Whether it serves: then its address and process are known."""
        for line in self.log().splitlines():
            if "listening on http://" in line:
                host_name, _, port = line.rpartition("http://")[2].rstrip("/").rpartition(":")
                self.address = (host_name, int(port))
                self.master = self.read_pid()
                self.first_workers = children(self.master)
                return True
        return False

    def read_pid(self):
        try:
            return int(tree.read(self.path("pid")))
        except (OSError, ValueError):
            return 0

    def log(self):
        text = ""
        names = [n for n in os.listdir(self.folder) if n.startswith("error.log")] + ["stderr"]
        for name in sorted(names, key=lambda name: (name == "error.log", name == "stderr", name)):
            with contextlib.suppress(FileNotFoundError):
                text += tree.read(self.path(name)).decode("utf-8", "backslashreplace")
        return text

    def complaints(self, allowed):
        """Of the log, what is neither silent nor allowed."""
        return [
            line for line in self.log().splitlines()
            if COMPLAINT.search(line)
            or (ALERT.search(line) and not any(p in line for p in allowed))
        ]

    def status(self, pid):
        """The exit status of a process that was left to us; None: it is not known."""
        return _statuses.get(pid)

    def statuses(self):
        return dict(_statuses)

    def end(self):
        """Whatever is left, and whatever that leaves."""
        while True:
            left = descendants()
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            if not left:
                break
            time.sleep(0.001)
        if self.process is not None:
            self.process.returncode = _statuses.get(self.process.pid, 0)
        if self.manager is not None:
            self.manager.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    # Facts.

    def is_port_free(self):
        try:
            Connection(self.address, timeout=5).close()
            return False
        except ConnectionRefusedError:
            return True

    def numbers_served(self, times):
        """Of the configurations that answer at both addresses; None is an answer that failed."""
        found = set()
        for address in [self.address] * times + [self.path("socket")]:
            try:
                found.add(int(fetch(address, "/number").body))
            except (OSError, WireError, ValueError):
                found.add(None)
        return found

    @contextlib.contextmanager
    def holding(self):
        """A client in the middle of a download, which takes nothing."""
        with Connection(self.address, timeout=60, receive_buffer=8192) as connection:
            connection.send(request("/large.bin"))
            connection.read_head()
            yield
