# SPDX-License-Identifier: MIT
"""Holds the access log against what the clients have seen: a line for each answer, one, and true."""

import collections
import os
import re
import time

LINE = re.compile(
    rb'(\S+) - (?:-|alice) \[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\] '
    rb'"((?:[^"\\]|\\.)*)" (\d{3}) (\d+|-) "(?:[^"\\]|\\.)*" "(?:[^"\\]|\\.)*"\Z')
IDENT = re.compile(rb"[?&]id=(\d+-\d+-\d+)")

# Lines are written a second late at most; what is missing after this is lost.
LATE_NS = 20 * 10**9
# As many files are looked at: more seconds than that.
KEPT_LOGS = 20
# What a worker had not yet written when it was killed is lost with it.
BUFFERED_NS = int(2.5 * 10**9)


Line = collections.namedtuple("Line", "client status size at")


class Tail:
    """New whole lines of a file that grows."""

    def __init__(self, path):
        self.file = open(path, "rb")
        self.rest = b""

    def lines(self):
        data = self.rest + self.file.read()
        lines = data.split(b"\n")
        self.rest = lines.pop()
        return lines

    def close(self):
        self.file.close()


class Ledger:
    """add_client() and rotate() say where to look; look() looks, finish() asks for the rest."""

    def __init__(self, log, scale=1):
        self.log = log
        self.logs = [Tail(log)]
        self.clients = []
        self.scale = scale
        self.answers = {}  # ident: (status, bytes, time), no line yet
        self.lines = {}  # ident: Line, no answer yet
        self.unanswered = {}  # ident: time; it may have a line, if the daemon has seen it
        self.settled = {}  # ident: time; a second line would be one too many
        self.kills = []
        self.number = 0
        self.counts = {"lines": 0, "matched": 0, "unanswered": 0, "lost with a worker": 0}
        self.faults = []

    def fault(self, text, *arguments):
        self.faults.append(text % arguments)

    def add_client(self, path):
        with open(path, "ab"):
            pass
        self.clients.append(Tail(path))

    def rotate(self):
        """The log gets another name; the caller tells the daemon, and calls follow()."""
        self.number += 1
        os.rename(self.log, "%s.%d" % (self.log, self.number))

    def follow(self):
        """The new file is there. Workers without CPU still write to former ones for a while."""
        self.logs.append(Tail(self.log))
        if len(self.logs) > KEPT_LOGS:
            self.leave(self.logs.pop(0))
            os.unlink("%s.%d" % (self.log, self.number - KEPT_LOGS + 1))

    def leave(self, tail):
        self.read(tail)
        if tail.rest:
            self.fault("a torn line at the end of a log: %r", tail.rest)
        tail.close()

    def kill(self, at):
        """A worker is about to be killed."""
        self.kills.append(at)

    # What came.

    def read(self, tail):
        now = time.monotonic_ns()
        for line in tail.lines():
            self.counts["lines"] += 1
            match = LINE.match(line)
            if match is None:
                self.fault("a malformed line: %r", line)
                continue
            ident = IDENT.search(match[2])
            if ident is not None:
                line = Line(match[1].decode(), int(match[3]), match[4].decode(), now)
                self.take_line(ident[1].decode(), line)

    def take_line(self, ident, line):
        if ident in self.lines or ident in self.settled:
            self.fault("a second line for %s", ident)
        elif ident in self.unanswered:
            del self.unanswered[ident]
            self.settled[ident] = line.at
        elif ident in self.answers:
            self.compare(ident, self.answers.pop(ident), line)
        else:
            self.lines[ident] = line

    def take_record(self, record, now):
        words = record.decode().split()
        ident = words[1]
        if words[0] == "U":
            self.counts["unanswered"] += 1
            known = self.settled if self.lines.pop(ident, None) else self.unanswered
            known[ident] = now
            return
        answer = (int(words[2]), words[3], int(words[4]))
        if ident in self.lines:
            self.compare(ident, answer, self.lines.pop(ident))
        else:
            self.answers[ident] = answer

    def compare(self, ident, answer, line):
        self.counts["matched"] += 1
        self.settled[ident] = line.at
        size = "0" if line.size == "-" else line.size
        if answer[0] != line.status or answer[1] not in ("?", size) or line.client != "127.0.0.1":
            self.fault("%s was answered with status %d and %s bytes; its line: %s",
                       ident, answer[0], answer[1], line)

    def was_lost_with_worker(self, at):
        return any(kill - BUFFERED_NS * self.scale <= at <= kill + BUFFERED_NS for kill in self.kills)

    def look(self):
        """Takes in what is new, and says what is overdue."""
        now = time.monotonic_ns()
        for tail in self.logs:
            self.read(tail)
        for tail in self.clients:
            for record in tail.lines():
                self.take_record(record, now)
        self.forget(now, now - LATE_NS * self.scale)

    def forget(self, now, before):
        for ident, (status, _size, at) in list(self.answers.items()):
            if at < before:
                del self.answers[ident]
                if self.was_lost_with_worker(at):
                    self.counts["lost with a worker"] += 1
                else:
                    self.fault("no line for %s, answered with %d %.1f s ago", ident, status, (now - at) / 1e9)
        for known in (self.settled, self.unanswered):
            for ident, at in list(known.items()):
                if at >= before:
                    break  # the rest is younger
                del known[ident]

    def finish(self):
        """The daemon and the clients have ended: all lines are there."""
        self.look()
        now = time.monotonic_ns()
        for ident in sorted(self.lines):
            self.fault("a line for %s, of which no client has said anything", ident)
        self.forget(now, now + 1)
        for tail in self.logs:
            self.leave(tail)
        self.logs = []

    def close(self):
        for tail in [*self.logs, *self.clients]:
            tail.close()
