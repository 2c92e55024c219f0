# SPDX-License-Identifier: MIT
"""The price of requests and connections in system calls, counted in the real daemon.

What liburing does is not seen: on io_uring nothing of this may be called for a request at all.
"""

import mmap
import os
import struct
import sys
import tempfile
import unittest

import suite
import tree
from evixd import BACKEND, Daemon, TestCase, configuration, host, unless_poor
from suite import TIME_SCALE
from wire import Connection, fetch, request

LIBRARY = os.path.abspath("tests/http/.libs/count_calls.so")
NAMES = (
    "recv", "send", "sendmsg", "epoll_ctl", "epoll_wait", "accept4", "close", "read", "setsockopt",
    "shutdown", "pread", "sendfile",
)
ROUNDS = 200
# Turns of the loop that have another reason: a timer, an event of inotify. One a request is more.
STRAY = ROUNDS // 4
SIZE = 4 << 20


@unittest.skipIf(BACKEND == "poll", "it is there to be portable, not to be cheap")
@unless_poor("a request looks at its file, which is not watched, by more calls")
@unittest.skipIf(TIME_SCALE != 1, "sanitizers want to be loaded first")
@unittest.skipUnless(os.path.exists(LIBRARY), "no shared library was built to count with")
class Counted(TestCase):
    folder = None

    @classmethod
    def serve(cls):
        file = tempfile.NamedTemporaryFile()
        cls.addClassCleanup(file.close)
        file.truncate(mmap.PAGESIZE)
        cls.counts = mmap.mmap(file.fileno(), mmap.PAGESIZE)
        cls.addClassCleanup(cls.counts.close)
        folder = tempfile.TemporaryDirectory(dir=cls.folder)
        cls.addClassCleanup(folder.cleanup)
        tree.write(folder.name, "small.bin", b"s" * 1024)
        cls.large = tree.write(folder.name, "large.bin", tree.content(SIZE))
        return Daemon(
            config=configuration(
                hosts=[host(folder.name, {"path": "/"})],
                error_log={"target": "stderr", "level": "notice"},
            ),
            env={"LD_PRELOAD": LIBRARY, "EVIXD_CALLS": file.name},
        )

    def read_counts(self):
        return struct.unpack_from("%dL" % len(NAMES), self.counts)

    def setUp(self):
        self.assertEqual(len(fetch(self.address, "/small.bin").body), 1024)
        self.before = self.read_counts()

    def made(self):
        """Calls since the test began."""
        return dict(zip(NAMES, map(lambda a, b: a - b, self.read_counts(), self.before)))

    def assert_calls(self, **most):
        """At most so many of each call, and none of what is not named."""
        made = self.made()
        for name in NAMES:
            self.assertLessEqual(made[name], most.get(name, 0) + STRAY, "%s of %s" % (name, made))
        return made


class Requests(Counted):
    # Folders above the root are watched too, and in /tmp other tests are busy.
    folder = "/dev/shm" if os.path.isdir("/dev/shm") else None

    def test_requests_on_one_connection(self):
        with Connection(self.address) as client:
            for _ in range(ROUNDS):
                client.send(request("/small.bin"))
                client.read_response()
        if BACKEND == "io_uring":
            self.assert_calls(read=ROUNDS)
            return
        made = self.assert_calls(recv=ROUNDS, send=ROUNDS, epoll_wait=2 * ROUNDS, read=ROUNDS)
        self.assertGreaterEqual(made["recv"], ROUNDS, "it counts")

    def test_pipelined_requests(self):
        """One receive and one send for all that came together."""
        with Connection(self.address) as client:
            for _ in range(ROUNDS):
                client.send(request("/small.bin") * 16)
                for _ in range(16):
                    client.read_response()
        if BACKEND == "io_uring":
            self.assert_calls(read=ROUNDS)
            return
        made = self.assert_calls(recv=ROUNDS, send=ROUNDS, epoll_wait=2 * ROUNDS, read=ROUNDS)
        self.assertGreaterEqual(made["send"], ROUNDS, "it counts")

    def test_a_connection_for_each_request(self):
        """Accepted, received, sent, ended, looked at for what is unread, closed; never registered."""
        for _ in range(ROUNDS):
            with Connection(self.address) as client:
                client.send(request("/small.bin", fields=["Connection: close"]))
                client.read_response()
                client.expect_end()
        if BACKEND == "io_uring":
            self.assert_calls(
                accept4=ROUNDS, recv=ROUNDS, shutdown=ROUNDS, close=ROUNDS, read=ROUNDS
            )
            return
        made = self.assert_calls(
            accept4=ROUNDS, recv=2 * ROUNDS, send=ROUNDS, shutdown=ROUNDS, close=ROUNDS,
            read=ROUNDS, epoll_wait=2 * ROUNDS,
        )
        self.assertGreaterEqual(made["accept4"], ROUNDS, "it counts")


@unittest.skipIf(sys.maxsize < 1 << 32, "calls with offsets have other names")
class Files(Counted):
    """What is in the page cache and not in ours: of a file system that can tell."""

    def setUp(self):
        super().setUp()
        with open(self.large, "rb") as file:
            try:
                os.preadv(file.fileno(), [bytearray(1)], 0, os.RWF_NOWAIT)
            except OSError as error:
                self.skipTest("no reading from memory alone here: %s" % error)

    def ask(self, ranges):
        with Connection(self.address) as client:
            for _ in range(ROUNDS):
                client.send(request("/large.bin", fields=["Range: bytes=" + ranges]))
                self.assertEqual(client.read_response().status, 206)

    def assert_file_calls(self, **most):
        """Of what reads and sends alone: in this folder others are busy, and events wake the loop."""
        made = self.made()
        for name in ("pread", "send", "sendmsg", "sendfile"):
            self.assertLessEqual(made[name], most.get(name, 0) + STRAY, "%s of %s" % (name, made))
        self.assertGreaterEqual(made["pread"], most["pread"] - STRAY, "it counts")

    def test_a_small_range(self):
        """Read from the page cache, and sent behind its head: two calls on epoll, one on io_uring."""
        self.ask("4096-8191")
        self.assert_file_calls(pread=ROUNDS, sendmsg=ROUNDS if BACKEND == "epoll" else 0)

    def test_the_largest_of_small_ranges(self):
        self.ask("100000-165535")
        self.assert_file_calls(pread=ROUNDS, sendmsg=ROUNDS if BACKEND == "epoll" else 0)

    def test_small_parts(self):
        """A read each, and one send for all."""
        self.ask("0-99,100000-104095,4000000-4000999,2000000-2009999")
        self.assert_file_calls(pread=4 * ROUNDS, sendmsg=ROUNDS if BACKEND == "epoll" else 0)


if __name__ == "__main__":
    suite.main()
