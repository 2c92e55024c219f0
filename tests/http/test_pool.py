# SPDX-License-Identifier: MIT
"""What waits in threads waits for its own kind alone: while a file system does not answer to listings,
to reads or to closes, with more of them under way than there are threads for, everything else is
answered. Nothing is measured in time: the answers arrive while the gate is shut."""

import os
import unittest

import gated_fs
import suite
import tree
from evixd import BACKEND, Daemon, TestCase, configuration, host, run, unless_poor
from suite import TIME_SCALE
from test_auth import BCRYPT, basic
from wire import Connection, request

MANY = 8  # more than the threads of any class
LARGE = 300000
STALLED = {"stall%d.bin" % i: bytes([i]) * LARGE for i in range(MANY)}
HAS_CRYPT = "+libcrypt" in run("--version").stdout


@unless_poor("nothing but openat2(2) tells a name in memory from one on the disk, so looks may wait")
class Stalls(TestCase):
    IO_URING = True

    @classmethod
    def serve(cls):
        gated_fs.require()
        users = tree.write(cls.root, "users", ("alice:" + BCRYPT + "\n").encode())
        tree.write(cls.root, "www/vault/secret", b"secret")
        tree.write(cls.root, "www/local/one", b"")
        mounts = {}
        for name in ("stalled", "slow"):
            path = os.path.join(cls.root, "www", name)
            os.makedirs(path)
            files = dict(STALLED) if name == "stalled" else {"%d.bin" % i: bytes([i]) * LARGE for i in range(99)}
            mounts[name] = gated_fs.GatedFs(path, files)
            cls.addClassCleanup(mounts[name].close)
        cls.stalled = mounts["stalled"]
        cls.cold_number = 0
        locations = [{"path": "/", "listing": True}]
        if HAS_CRYPT:
            locations.append({"path": "/vault/", "auth": {"realm": "vault", "users": users}})
        return Daemon(config=configuration(hosts=[host(cls.root + "/www", *locations)],
                                           files={"cache": "off"}), io_uring=cls.IO_URING)

    def ask(self, target, *fields):
        with Connection(self.address, 30) as connection:
            connection.send(request(target, fields=fields))
            return connection.read_response()

    def check_passwords(self):
        if not HAS_CRYPT:
            return
        self.assertEqual(self.ask("/vault/secret", basic("alice", "guess %d" % self.cold_number)).status, 401)
        response = self.ask("/vault/secret", basic("alice", "secret"))
        self.assertEqual((response.status, response.body), (200, b"secret"))

    def check_listing(self):
        response = self.ask("/local/", "Accept: application/json")
        self.assertEqual(response.status, 200)
        self.assertIn(b'"one"', response.body)

    def check_cold_content(self):
        """Of another file system, which answers: no name and no byte of it was asked for before."""
        for _ in range(3):
            number = type(self).cold_number
            type(self).cold_number += 1
            response = self.ask("/slow/%d.bin" % number)
            self.assertEqual(response.status, 200)
            self.assertTrue(response.body == bytes([number]) * LARGE)

    def stall(self, operation, targets, checks):
        """The targets are asked for with `operation` held up; meanwhile the checks pass."""
        connections = []
        self.stalled.gated = frozenset([operation])
        self.stalled.gate.clear()
        try:
            for target in targets:
                connections.append(Connection(self.address, 30))
                self.addCleanup(connections[-1].close)
                connections[-1].send(request(target))
            waiting = self.stalled.wait_for(2, 10 * TIME_SCALE)
            self.assertEqual(set(waiting), {gated_fs.NAMES[operation]})
            for check in checks:
                check()
        finally:
            self.stalled.let_through(10 * TIME_SCALE)
        for connection in connections:
            self.assertEqual(connection.read_response().status, 200)

    def test_listings(self):
        self.stall(gated_fs.READDIR, ["/stalled/"] * MANY,
                   (self.check_passwords, self.check_cold_content))

    def test_cold_content(self):
        self.stall(gated_fs.READ, ["/stalled/" + name for name in STALLED],
                   (self.check_passwords, self.check_listing))

    def test_closing(self):
        """Nothing is cached, so each answer has its file closed."""
        self.stall(gated_fs.FLUSH, ["/stalled/" + name for name in STALLED],
                   (self.check_passwords, self.check_listing, self.check_cold_content))


@unless_poor("there are but threads in any case")
class StallsInThreads(Stalls):
    """Where io_uring is forbidden, threads wait for the disk."""

    IO_URING = False

    @classmethod
    def setUpClass(cls):
        if BACKEND == "io_uring":
            raise unittest.SkipTest("this backend is io_uring")
        super().setUpClass()


if __name__ == "__main__":
    suite.main(limit=90)
