# SPDX-License-Identifier: MIT
"""Changes files and gives orders to the daemon, and writes down what it does before and after."""

import contextlib
import os
import random
import re
import signal
import time

from evixd import children, wait_until
from fuzzing.site import CUT, LIVE, SHELF

LISTENING = "0A"  # in /proc/net/tcp


def seconds_between(drawn, mean):
    return drawn.uniform(0.5, 1.5) * mean


class Files:
    """Replaces, removes, renames and truncates files."""

    def __init__(self, site, pool, journal, seed):
        self.site, self.pool, self.journal = site, pool, journal
        self.random = random.Random("files/%s" % seed)
        self.now = {}  # name: (source, version, size) of what is there
        self.versions = {}
        self.count = 0

    def path(self, name):
        return os.path.join(self.site.root, name)

    def begin(self):
        """Each file is there once before the clients come."""
        for name in [*LIVE, *CUT, *SHELF]:
            self.replace(name)

    def change(self):
        """One change, drawn."""
        self.count += 1
        name = self.random.choice([*LIVE, *CUT, *SHELF])
        way = self.random.random()
        if name not in self.now:
            self.replace(name)
        elif name in CUT and way < 0.5:
            self.truncate(name)
        elif way < 0.75:
            self.replace(name)
        elif way < 0.9 or name not in LIVE:
            self.remove(name)
        else:
            self.rename(name, self.random.choice([other for other in LIVE if other != name]))

    def largest(self, name):
        return {**LIVE, **CUT, **SHELF}[name]

    def replace(self, name):
        version = self.versions[name] = self.versions.get(name, 0) + 1
        size = self.random.randrange(self.largest(name) // 2, self.largest(name)) + 1
        spare = os.path.join(self.site.spare, "new")
        with open(spare, "wb") as file:
            file.write(self.pool.content(name, version, size))
        change = self.journal.begin(files=[(name, name, version, size, False)])
        os.rename(spare, self.path(name))
        self.journal.done(change)
        self.now[name] = (name, version, size)

    def remove(self, name):
        change = self.journal.begin(files=[(name, name, 0, None, False)])
        os.unlink(self.path(name))
        self.journal.done(change)
        del self.now[name]

    def rename(self, name, other):
        """What was at `other` is replaced, and nothing is at `name`."""
        state = self.now.pop(name)
        change = self.journal.begin(files=[(name, name, 0, None, False), (other, *state, False)])
        os.rename(self.path(name), self.path(other))
        self.journal.done(change)
        self.now[other] = state

    def truncate(self, name):
        source, version, size = self.now[name]
        size = self.random.randrange(size + 1)
        change = self.journal.begin(files=[(name, source, version, size, True)])
        os.truncate(self.path(name), size)
        self.journal.done(change)
        self.now[name] = (source, version, size)


def client_ports(pid):
    """The clients' ports of the TCP connections that a process has accepted; it must not run."""
    inodes = set()
    for name in os.listdir("/proc/%d/fd" % pid):
        try:
            match = re.match(r"socket:\[(\d+)\]", os.readlink("/proc/%d/fd/%s" % (pid, name)))
        except FileNotFoundError:
            continue
        if match:
            inodes.add(match[1])
    ports = []
    with open("/proc/net/tcp", encoding="ascii") as file:
        for line in list(file)[1:]:
            words = line.split()
            if words[9] in inodes and words[3] != LISTENING:
                ports.append(int(words[2].rpartition(":")[2], 16))
    return ports


def state_of(pid):
    """Of a process: T is stopped, Z has ended, X is not there any more."""
    try:
        with open("/proc/%d/stat" % pid, encoding="latin-1") as file:
            return file.read().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "X"


class Orders:
    """HUP, USR1 and the death of workers."""

    def __init__(self, daemon, site, backend, journal, ledger, seed):
        self.daemon, self.site, self.backend = daemon, site, backend
        self.journal, self.ledger = journal, ledger
        self.random = random.Random("orders/%s" % seed)
        self.number = self.in_force = 0  # of the configuration
        self.workers = 2
        self.counts = {"HUP": 0, "USR1": 0, "KILL": 0}
        self.reload = None  # the change that is under way

    def begin(self):
        """The first configuration is in force."""
        self.journal.done(self.journal.begin(files=[("configuration", "configuration", 0, 0, False)]))

    def forces(self):
        return sum("is in force" in line for line in self.daemon.log.lines)

    def hang_up(self):
        """Puts the same or another configuration in force; settle() sees when it is."""
        if self.reload is not None:
            return
        if self.random.random() < 0.7:
            self.number += 1
            self.workers = self.random.choice((1, 2, 2, 3))
            text = self.site.configuration(self.backend, self.number, self.workers)
            with open(self.daemon.config_path + ".new", "w", encoding="utf-8") as file:
                file.write(text)
            os.rename(self.daemon.config_path + ".new", self.daemon.config_path)
        self.counts["HUP"] += 1
        self.reload = self.journal.begin(
            order="HUP", files=[("configuration", "configuration", self.number, 0, False)])
        self.daemon.send_signal(signal.SIGHUP)

    def settle(self):
        """Notices that a reload is done."""
        if self.reload is not None and self.forces() >= self.counts["HUP"]:
            self.journal.done(self.reload)
            self.reload = None

    def finish(self):
        wait_until(lambda: self.settle() or self.reload is None, "the reload ends", 30)

    def rotate(self):
        self.ledger.rotate()
        self.counts["USR1"] += 1
        change = self.journal.begin(order="USR1")
        self.daemon.send_signal(signal.SIGUSR1)
        wait_until(lambda: os.path.exists(self.site.access_log), "a new access log", 30)
        self.journal.done(change)
        self.ledger.follow()

    def kill(self):
        """Kills a worker. It is stopped first: it accepts none between the look and its death."""
        pids = children(self.daemon.process.pid)
        if self.reload is not None or not pids:
            return
        pid = self.random.choice(sorted(pids))
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
        wait_until(lambda: state_of(pid) in "TZX", "the worker stands")
        if state_of(pid) != "T":
            return  # of a former configuration, it has just ended by itself
        self.ledger.kill(time.monotonic_ns())
        change = self.journal.begin(order="KILL", ports=client_ports(pid))
        self.counts["KILL"] += 1
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: pid not in children(self.daemon.process.pid), "the master notices")
        self.journal.done(change)
