# SPDX-License-Identifier: MIT
"""Where one can be reached: IPv4, IPv6, unix sockets, several at once, several workers."""

import grp
import os
import pwd
import socket
import stat
import unittest

import suite
import tree
from evixd import Daemon, TestCase, configuration, host, wait_until
from wire import Connection, fetch, request


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as probe:
            probe.bind(("::1", 0))
        return True
    except OSError:
        return False


class Several(TestCase):
    @classmethod
    def serve(cls):
        if not has_ipv6():
            raise unittest.SkipTest("no IPv6 on this host's loopback")
        tree.write(cls.root, "site/small.bin", b"small")
        cls.unix = os.path.join(cls.root, "http.sock")
        cls.log = os.path.join(cls.root, "access.log")
        old = os.umask(0o077)
        try:
            return Daemon(config=configuration(
                listen=[
                    {"address": "127.0.0.1:0"}, {"address": "[::1]:0"},
                    {"address": "unix:" + cls.unix, "mode": "0666"}, {"address": "[::]:0"},
                ],
                hosts=[host(cls.root + "/site", {"path": "/"}, access_log={"target": cls.log})],
            ), listeners=4, workers=2)
        finally:
            os.umask(old)

    def client_of(self, mark):
        def find():
            if os.path.exists(self.log):
                with open(self.log, encoding="ascii") as file:
                    return [line.split()[0] for line in file if mark in line]
            return []

        return wait_until(find, "a line with " + mark, timeout=5)

    def test_ipv4(self):
        self.assertEqual(fetch(self.daemon.addresses[0], "/small.bin?v4").body, b"small")
        self.assertEqual(self.client_of("?v4"), ["127.0.0.1"])

    def test_ipv6(self):
        self.assertEqual(self.daemon.addresses[1][0], "::1")
        self.assertEqual(fetch(self.daemon.addresses[1], "/small.bin?v6").body, b"small")
        self.assertEqual(self.client_of("?v6"), ["::1"])

    def test_unix(self):
        """A peer without a name has none in the log either."""
        self.assertEqual(fetch(self.unix, "/small.bin?unix").body, b"small")
        client, = self.client_of("?unix")
        self.assertIn(client, ("unix:", "-"))

    def test_mode_of_the_unix_socket(self):
        """As configured, whatever the umask."""
        self.assertEqual(stat.S_IMODE(os.stat(self.unix).st_mode), 0o666)

    @unittest.skipUnless(os.getuid() == 0, "only root may give a file away")
    def test_owner_and_group_of_the_unix_socket(self):
        """A proxy that runs as somebody else gets in."""
        path = os.path.join(self.folder(), "s")
        with Daemon(config=configuration(
            listen=[{"address": "unix:" + path, "mode": "0660", "owner": "daemon", "group": "mail"}],
            hosts=[host(self.root + "/site", {"path": "/"})],
        )) as daemon:
            status = os.stat(path)
            self.assertEqual(pwd.getpwuid(status.st_uid).pw_name, "daemon")
            self.assertEqual(grp.getgrgid(status.st_gid).gr_name, "mail")
            self.assertEqual(stat.S_IMODE(status.st_mode), 0o660)
            self.assertEqual(fetch(daemon.address, "/small.bin").body, b"small")

    def test_ipv4_client_of_a_dual_stack_listener(self):
        """Told by its IPv4 address."""
        port = self.daemon.addresses[3][1]
        self.assertEqual(fetch(("127.0.0.1", port), "/small.bin?mapped").body, b"small")
        self.assertEqual(self.client_of("?mapped"), ["127.0.0.1"])
        self.assertEqual(fetch(("::1", port), "/small.bin?dual").body, b"small")

    def test_large_over_unix(self):
        data = tree.content(3000001)
        tree.write(self.root, "site/large.bin", data)
        self.assertTrue(fetch(self.unix, "/large.bin").body == data)

    def test_many_connections_over_all_workers(self):
        clients = [Connection(self.daemon.addresses[n % 2]) for n in range(200)]
        for client in clients:
            client.send(request("/small.bin"))
        for client in clients:
            self.assertEqual(client.read_response().body, b"small")
            client.close()


class UnixFile(TestCase):
    @classmethod
    def serve(cls):
        tree.write(cls.root, "site/small.bin", b"small")
        return Daemon(directory=os.path.join(cls.root, "site"))

    def make(self, path, **options):
        return Daemon(config=configuration(
            listen=[{"address": "unix:" + path}], hosts=[host(self.root + "/site", {"path": "/"})],
        ), **options)

    def test_removed_at_the_end(self):
        path = os.path.join(self.folder(), "s")
        with self.make(path) as daemon:
            self.assertEqual(fetch(daemon.address, "/small.bin").body, b"small")
        self.assertFalse(os.path.exists(path))

    def test_stale_one_is_replaced(self):
        """Nobody answers there, so a crash is no obstacle to the next start."""
        path = os.path.join(self.folder(), "s")
        dead = socket.socket(socket.AF_UNIX)
        dead.bind(path)
        dead.close()
        with self.make(path) as daemon:
            self.assertEqual(fetch(daemon.address, "/small.bin").body, b"small")

    def test_live_one_is_left_alone(self):
        path = os.path.join(self.folder(), "s")
        with socket.socket(socket.AF_UNIX) as alive:
            alive.bind(path)
            alive.listen(8)
            second = self.make(path)
            with self.assertRaises(AssertionError):
                second.start()
            self.assertEqual(second.process.returncode, 2)
            self.assertIn(path, second.log.text())
            self.assertTrue(os.path.exists(path))

    def test_another_kind_of_file_is_left_alone(self):
        path = tree.write(self.folder(), "precious", b"data")
        second = self.make(path)
        with self.assertRaises(AssertionError):
            second.start()
        self.assertEqual(second.process.returncode, 2)
        with open(path, "rb") as file:
            self.assertEqual(file.read(), b"data")


if __name__ == "__main__":
    suite.main()
