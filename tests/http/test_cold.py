# SPDX-License-Identifier: MIT
"""Never stalled: while others wait for a disk that does not answer at all, a file that needs no disk
is served. What waits is a file system of the test's; nothing here is measured in time, but ordered:
so many hot answers arrive while every cold one is held up."""

import os
import unittest

import gated_fs
import suite
from evixd import BACKEND, Daemon, TestCase, configuration, host, unless_poor
from suite import TIME_SCALE
from wire import Connection, request

HOT = 50  # answers that have to arrive meanwhile
COLD = 16
LARGE = 300000
FILES = {"%02d.bin" % i: bytes([i]) * LARGE for i in range(COLD)}
FILES.update({"%02d.txt" % i: b"small %d" % i for i in range(COLD)})
FILES["index.html"] = b"the index"


@unless_poor("nothing but openat2(2) tells a name in memory from one on the disk, so looks may wait")
class Site(TestCase):
    """/slow/ lies beneath a root that is local; the host "slow" has a root that is slow itself."""

    FILES_SETTINGS = {}
    IO_URING = True
    VALID = 0

    @classmethod
    def serve(cls):
        gated_fs.require()
        for name in ("top/slow", "all"):
            os.makedirs(os.path.join(cls.root, name))
        with open(os.path.join(cls.root, "top/hot.txt"), "wb") as file:
            file.write(b"hot")
        cls.slow = gated_fs.GatedFs(os.path.join(cls.root, "top/slow"), FILES, cls.VALID)
        cls.addClassCleanup(cls.slow.close)
        cls.all = gated_fs.GatedFs(os.path.join(cls.root, "all"), FILES, cls.VALID)
        cls.addClassCleanup(cls.all.close)
        hosts = [host(os.path.join(cls.root, "top")),
                 host(os.path.join(cls.root, "all"), names=["slow"], default=False)]
        return Daemon(config=configuration(hosts=hosts, files=cls.FILES_SETTINGS),
                      io_uring=cls.IO_URING)

    def setUp(self):
        self.hot = Connection(self.address)
        self.addCleanup(self.hot.close)
        self.ask_hot(2)

    def ask_hot(self, count):
        for _ in range(count):
            self.hot.send(request("/hot.txt"))
            response = self.hot.read_response()
            self.assertEqual((response.status, response.body), (200, b"hot"))

    def hold_up(self, disk, prefix, names):
        """Asks for the targets with the gate closed; hot answers arrive; then all the others do."""
        connections = []
        for _ in names:
            connections.append(Connection(self.address, 30))
            self.addCleanup(connections[-1].close)
        disk.gate.clear()
        try:
            name_of_host = "slow" if disk is self.all else "test"
            for connection, name in zip(connections, names):
                connection.send(request(prefix + name, host=name_of_host))
            disk.wait_for(1, 10 * TIME_SCALE)
            self.ask_hot(HOT)
            for connection in connections:
                connection.socket.setblocking(False)
                self.assertRaises(BlockingIOError, connection.socket.recv, 1)
                connection.socket.settimeout(connection.timeout)
        finally:
            disk.gate.set()
        for connection, name in zip(connections, names):
            response = connection.read_response()
            self.assertEqual(response.status, 200)
            self.assertTrue(response.body == FILES[name or "index.html"])


class Cold:
    """For each kind of what can be cold, never asked for before and asked for again."""

    def check_files(self, disk, prefix, kind):
        names = sorted(name for name in FILES if name.endswith(kind))
        for _ in range(3):
            self.hold_up(disk, prefix, names)

    def test_small_files_beneath_a_local_root(self):
        self.check_files(self.slow, "/slow/", ".txt")

    def test_large_files_beneath_a_local_root(self):
        self.check_files(self.slow, "/slow/", ".bin")

    def test_small_files_of_a_slow_root(self):
        self.check_files(self.all, "/", ".txt")

    def test_large_files_of_a_slow_root(self):
        self.check_files(self.all, "/", ".bin")

    def test_index_files(self):
        for disk, prefix in ((self.slow, "/slow/"), (self.all, "/")):
            for _ in range(3):
                self.hold_up(disk, prefix, [""])

    def test_many_for_the_same(self):
        self.hold_up(self.slow, "/slow/", ["00.txt"] * COLD)

    def test_clients_that_leave(self):
        """What they waited for is given up, and the disk's answer harms nobody."""
        self.slow.gate.clear()
        try:
            for i in range(COLD):
                with Connection(self.address) as connection:
                    connection.send(request("/slow/%02d.txt" % i))
            self.ask_hot(HOT)
        finally:
            self.slow.gate.set()
        self.hold_up(self.slow, "/slow/", ["00.txt"])


class Watching(Cold, Site):
    pass


class Looking(Cold, Site):
    FILES_SETTINGS = {"cache": "stat"}


class Uncached(Cold, Site):
    FILES_SETTINGS = {"cache": "off"}


class Remembered(Cold, Site):
    """Names are known; what waits is opening, reading and closing."""

    FILES_SETTINGS = {"cache": "off"}
    VALID = 3600


class InThreads(Cold, Site):
    """Where io_uring is forbidden, threads wait for the disk."""

    IO_URING = False

    @classmethod
    def setUpClass(cls):
        if BACKEND == "io_uring":
            raise unittest.SkipTest("this backend is io_uring")
        super().setUpClass()


if __name__ == "__main__":
    suite.main(limit=90)
