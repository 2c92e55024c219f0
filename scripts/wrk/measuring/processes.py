# SPDX-License-Identifier: MIT
"""A server under measurement: started on its core, its CPU time and memory read, stopped whole."""

import ctypes
import errno
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import time

PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 1, 22, 38
SERVER_CORE = 0
LOAD_CORE = (os.cpu_count() or 1) - 1
LIBC = ctypes.CDLL(None)


class Failed(Exception):
    """Something could not be measured; the text says why."""


def raise_descriptor_limit():
    """Ten thousand connections need as many descriptors, here and in what is started from here."""
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def free_port():
    """One that nobody gets who asks for any: those are handed out all the time, and this one is
    bound only later, by the server."""
    with open("/proc/sys/net/ipv4/ip_local_port_range") as file:
        end = int(file.read().split()[0])
    while True:
        port = random.randrange(min(10000, end - 1000), end)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass


class Filter(ctypes.Structure):
    """struct sock_filter."""
    _fields_ = [("code", ctypes.c_ushort), ("jt", ctypes.c_ubyte), ("jf", ctypes.c_ubyte),
                ("k", ctypes.c_uint32)]


class Program(ctypes.Structure):
    """struct sock_fprog."""
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.POINTER(Filter))]


def forbid_io_uring():
    """As a container's seccomp filter does: io_uring_setup(2), 425 on every machine, is EPERM."""
    filters = (Filter * 4)(
        Filter(0x20, 0, 0, 0),  # the system call's number
        Filter(0x15, 0, 1, 425),
        Filter(0x06, 0, 0, 0x00050000 | errno.EPERM),
        Filter(0x06, 0, 0, 0x7fff0000))
    LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if LIBC.prctl(PR_SET_SECCOMP, 2, ctypes.byref(Program(4, filters)), 0, 0) != 0:
        raise OSError("seccomp")


def preparation(core, cgroup=None, favoured=False, without_io_uring=False):
    """What a child does before exec: dies with its parent, stays on its core and in its cgroup, is
    preferred to all else that runs there, which only root can have."""
    def prepare():
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        os.sched_setaffinity(0, {core})
        if cgroup:
            with open(os.path.join(cgroup, "cgroup.procs"), "w") as file:
                file.write("0")
        if favoured:
            os.setpriority(os.PRIO_PROCESS, 0, -20)
        if without_io_uring:
            forbid_io_uring()
    return prepare


def tree(pid):
    """A process and all below it."""
    found = [pid]
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as file:
                for child in file.read().split():
                    found += tree(int(child))
    except OSError:
        pass
    return found


def cpu_clock(pid):
    """CPU time of all threads of a process, in seconds, by the kernel's own clock of it: exact,
    where /proc counts in ticks. The number is what clock_getcpuclockid(3) makes of a pid."""
    try:
        return time.clock_gettime(~pid << 3 | 2)
    except OSError:
        return 0.0


def answers(port):
    try:
        with socket.create_connection(("127.0.0.1", port), 5) as peer:
            peer.sendall(b"GET /1k.html HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            return bool(peer.recv(1))
    except OSError:
        return False


class Server:
    """`with Server(name, command, port, work)`: runs until the block ends."""

    def __init__(self, name, command, port, work, cgroup=None, favoured=False,
                 without_io_uring=False):
        self.name = name
        self.command = command
        self.port = port
        self.log = os.path.join(work, f"{name}.out")
        self.prepare = preparation(SERVER_CORE, cgroup, favoured, without_io_uring)
        self.started_ms = None
        self.process = None

    def __enter__(self):
        program = shutil.which(self.command[0])
        if program is None:
            raise Failed(f"{self.command[0]} is not installed")
        with open(self.log, "ab") as log:
            begin = time.monotonic()
            self.process = subprocess.Popen(
                [program] + self.command[1:], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                preexec_fn=self.prepare)
        try:
            self.wait_until_answered()
        except Failed:
            self.__exit__()
            raise
        self.started_ms = (time.monotonic() - begin) * 1e3
        return self

    def wait_until_answered(self):
        """Asks in a tight loop, so that the time it took is worth telling. An open port is not
        enough: it may be there before anybody is behind it."""
        deadline = time.monotonic() + 15
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                with open(self.log, errors="replace") as log:
                    said = log.read()[-400:].strip()
                raise Failed(f"ended with status {self.process.returncode}: {said}")
            if answers(self.port):
                return
            time.sleep(0.0002)
        raise Failed("does not answer")

    def pids(self):
        return tree(self.process.pid)

    def cpu_seconds(self):
        return sum(cpu_clock(pid) for pid in self.pids())

    def memory_bytes(self):
        """Proportional set size of all its processes: what they share is counted once."""
        total = 0
        for pid in self.pids():
            try:
                with open(f"/proc/{pid}/smaps_rollup") as file:
                    total += sum(int(line.split()[1]) for line in file if line[:4] == "Pss:")
            except OSError:
                pass
        return total * 1024

    def __exit__(self, *_error):
        pids = self.pids()
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            pass
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()
