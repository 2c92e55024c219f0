# SPDX-License-Identifier: MIT
"""What happened when: the one process that changes things writes it down, the clients read it.

A line is written before a change begins, and another one when it is done. So a client that has seen
a change finds its beginning in the journal, and a change that is done before a request is sent must
be seen by that request. Times are of CLOCK_MONOTONIC, which all processes share, in nanoseconds.
"""

import json
import os
import time

KEEP_NS = 120 * 10**9


class State:
    """What a file is from `begin` on, at the latest from `done` on; then comes the next state."""

    def __init__(self, name, begin, source, version, size, is_cut=False):
        self.name = name
        self.begin = begin
        self.done = None
        self.source, self.version = source, version
        self.size = size  # None: it is not there
        self.is_cut = is_cut  # made by truncating the file in place

    @property
    def key(self):
        """The same for the same content."""
        return None if self.size is None else (self.source, self.version, self.size)

    def __repr__(self):
        what = "absent" if self.size is None else "%s version %d, %d bytes" % (
            self.source, self.version, self.size)
        return "<%s: %s, %s..%s>" % (self.name, what, seconds(self.begin), seconds(self.done))


def seconds(ns):
    return "-" if ns is None else "%.6f" % (ns / 1e9)


class Journal:
    """The writing side."""

    def __init__(self, path):
        self.fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self.next = 0

    def close(self):
        os.close(self.fd)

    def write(self, **record):
        record["t"] = time.monotonic_ns()
        os.write(self.fd, json.dumps(record).encode() + b"\n")

    def begin(self, **record):
        """Returns the change's number, for done()."""
        self.next += 1
        self.write(begin=self.next, **record)
        return self.next

    def done(self, number):
        self.write(done=number)


class History:
    """The reading side: states of files, and orders."""

    def __init__(self, path, fixed):
        self.fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self.rest = b""
        self.states = {}
        for name, size in fixed.items():
            state = State(name, 0, name, 0, size)
            state.done = 0
            self.states[name] = [state]
        self.open = {}  # by number: what is not done yet
        self.orders = []  # [begin, done, kind, ports]
        self.told = []  # (time, text, number, names), for transcripts

    def close(self):
        os.close(self.fd)

    def refresh(self):
        """Takes in what was written since."""
        while True:
            data = os.read(self.fd, 1 << 20)
            if not data:
                return
            lines = (self.rest + data).split(b"\n")
            self.rest = lines.pop()
            for line in lines:
                self._take(json.loads(line))

    def _take(self, record):
        at = record["t"]
        if "done" in record:
            for change in self.open.pop(record["done"], ()):
                if isinstance(change, State):
                    change.done = at
                else:
                    change[1] = at
            self.told.append((at, "%d is done" % record["done"], record["done"], None))
            return
        changes = self.open[record["begin"]] = []
        for name, source, version, size, is_cut in record.get("files", ()):
            state = State(name, at, source, version, size, is_cut)
            self.states.setdefault(name, []).append(state)
            changes.append(state)
            self._forget(name, at)
        if "order" in record:
            order = [at, None, record["order"], frozenset(record.get("ports", ()))]
            self.orders.append(order)
            changes.append(order)
        names = [file[0] for file in record.get("files", ())]
        text = "%d begins: %s %s" % (record["begin"], record.get("order", ""),
                                     record.get("files") or record.get("ports") or "")
        self.told.append((at, text, record["begin"], names + [record.get("order")]))
        if len(self.told) > 4000:
            del self.told[:2000]
        if len(self.orders) > 400:
            del self.orders[:200]

    def _forget(self, name, now):
        states = self.states[name]
        while len(states) > 2 and states[1].done is not None and states[1].done < now - KEEP_NS:
            del states[0]

    def possible(self, name, sent, received):
        """What a request for the file may have met."""
        states = self.states.get(name, ())
        first = 0
        for index, state in enumerate(states):
            if state.done is not None and state.done < sent:
                first = index
        return [state for state in states[first:] if state.begin <= received]

    def was_cut(self, name, sent, received):
        """The file was truncated in place after the request was sent, or just before."""
        return any(state.is_cut and state.begin <= received and
                   (state.done is None or state.done >= sent)
                   for state in self.states.get(name, ()))

    def was_ordered(self, kind, begin, end):
        """An order of this kind was under way at some time of the interval."""
        return any(order[2] == kind and order[0] <= end and (order[1] is None or order[1] >= begin)
                   for order in self.orders)

    def was_killed(self, port, opened, now):
        """The worker died that had the connection of this local port."""
        return any(order[2] == "KILL" and opened <= order[0] <= now and port in order[3]
                   for order in self.orders)

    def story(self, begin, end, names):
        """(time, text) of what happened in the interval to these files, and of the orders."""
        numbers, found = set(), []
        for at, text, number, concerned in self.told:
            if concerned is not None and (concerned[-1] or names.intersection(concerned)):
                numbers.add(number)
            if begin <= at <= end and number in numbers:
                found.append((at, text))
        return found
