# SPDX-License-Identifier: MIT
"""Sockets that a service manager opened before; see sd_listen_fds(3)."""

import ctypes
import os
import shutil
import signal
import socket
import sys
import tempfile
import unittest

import suite
import test_upgrade
import tree
from evixd import Daemon, children, configuration, host, run, wait_until
from load import Load, write_files
from wire import Connection, fetch, request

UNUSED = r"gave a socket for .* that no listener"


def opened(family=socket.AF_INET, address=("127.0.0.1", 0), kind=socket.SOCK_STREAM):
    """A socket as a manager has it: bound, and listening where it can."""
    result = socket.socket(family, kind)
    result.bind(address)
    if kind == socket.SOCK_STREAM:
        result.listen(64)
    return result


def address_of(given):
    return "%s:%d" % given.getsockname()[:2]


# Puts the descriptors in the first argument to 3, 4 and so on, and becomes the rest: the process
# that LISTEN_PID names has to be the daemon's.
BECOME = """
import fcntl, os, sys
high = [fcntl.fcntl(int(word), fcntl.F_DUPFD, 100) for word in sys.argv[1].split(",")]
for number, fd in enumerate(high, 3):
    os.dup2(fd, number)
    os.close(fd)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(high)), LISTEN_FDNAMES=sys.argv[2])
os.execv(sys.argv[3], sys.argv[3:])
"""


class Activated(Daemon):
    """Started with sockets, each with its name."""

    def __init__(self, given, **options):
        numbers = [each.fileno() for _name, each in given]
        super().__init__(pass_fds=numbers, **options)
        self.command = [
            sys.executable, "-c", BECOME, ",".join(map(str, numbers)),
            ":".join(name for name, _each in given), *self.command,
        ]


class Site(unittest.TestCase):
    def setUp(self):
        if "+libsystemd" not in run("--version").stdout:
            self.skipTest("libsystemd is not built in")
        self.root = tempfile.mkdtemp(prefix="evixd-root-")
        self.addCleanup(shutil.rmtree, self.root, True)
        tree.write(self.root, "index.html", b"index")
        write_files(self.root)

    def opened(self, *arguments, **options):
        result = opened(*arguments, **options)
        self.addCleanup(result.close)
        return result

    def daemon(self, given, listen, workers=2, **options):
        return Activated(
            given, workers=workers, listeners=len(listen),
            config=configuration(hosts=[host(self.root, {"path": "/"})], listen=listen), **options,
        )


class Found(Site):
    """Which socket is which listener's."""

    def test_by_address(self):
        given = self.opened()
        with self.daemon([("any", given)], [{"address": address_of(given)}]) as daemon:
            self.assertEqual(daemon.address, given.getsockname())
            for _ in range(8):
                self.assertEqual(fetch(given.getsockname(), "/").body, b"index")

    def test_by_name(self):
        """Whatever address the configuration has."""
        given = self.opened()
        listen = [{"address": "127.0.0.1:0", "name": "web"}]
        with self.daemon([("web", given)], listen) as daemon:
            self.assertEqual(daemon.address, given.getsockname())
            self.assertEqual(fetch(daemon.address, "/").body, b"index")

    def test_several_of_one_name(self):
        """In the order of both: a socket unit gives all of its sockets the same name."""
        first, second = self.opened(), self.opened()
        listen = [{"address": "127.0.0.1:0", "name": "web"}] * 2
        listen = [dict(each, address="127.0.0.1:%d" % n) for n, each in enumerate(listen, 1)]
        with self.daemon([("web", first), ("web", second)], listen) as daemon:
            self.assertEqual(daemon.addresses, [first.getsockname(), second.getsockname()])

    def test_several_names_in_another_order(self):
        web, echo, plain = self.opened(), self.opened(), self.opened()
        listen = [
            {"address": address_of(plain)},
            {"address": "127.0.0.1:1", "name": "echo", "protocol": "echo"},
            {"address": "127.0.0.1:2", "name": "web"},
        ]
        given = [("web", web), ("plain", plain), ("echo", echo)]
        with self.daemon(given, listen):
            self.assertEqual(fetch(web.getsockname(), "/").body, b"index")
            self.assertEqual(fetch(plain.getsockname(), "/").body, b"index")
            with Connection(echo.getsockname()) as client:
                client.send(b"hello")
                self.assertEqual(client.take(5), b"hello")

    def test_one_given_and_one_opened(self):
        given = self.opened()
        listen = [{"address": address_of(given)}, {"address": "127.0.0.1:0"}]
        with self.daemon([("web", given)], listen) as daemon:
            for address in daemon.addresses:
                self.assertEqual(fetch(address, "/").body, b"index")

    def test_every_address(self):
        """:PORT means [::] and, where the manager has only that, 0.0.0.0."""
        given = self.opened(address=("0.0.0.0", 0))
        port = given.getsockname()[1]
        with self.daemon([("web", given)], [{"address": ":%d" % port}]) as daemon:
            self.assertEqual(daemon.address, ("0.0.0.0", port))
            self.assertEqual(fetch(("127.0.0.1", port), "/").body, b"index")

    def test_every_address_of_both_families(self):
        try:
            given = self.opened(socket.AF_INET6, ("::", 0))
        except OSError as error:
            self.skipTest("no IPv6 here: %s" % error)
        port = given.getsockname()[1]
        with self.daemon([("web", given)], [{"address": ":%d" % port}]):
            self.assertEqual(fetch(("127.0.0.1", port), "/").body, b"index")
            self.assertEqual(fetch(("::1", port), "/").body, b"index")

    def test_unix_socket(self):
        """Its file is the manager's, and stays."""
        path = os.path.join(self.root, "http.sock")
        given = self.opened(socket.AF_UNIX, path)
        with self.daemon([("web", given)], [{"address": "unix:" + path}]):
            self.assertEqual(fetch(path, "/").body, b"index")
        self.assertTrue(os.path.exists(path))

    def test_without_a_configuration_file(self):
        given = self.opened()
        daemon = Activated(
            [("web", given)], directory=self.root, arguments=["-l", address_of(given)]
        )
        with daemon:
            self.assertEqual(fetch(given.getsockname(), "/").body, b"index")

    def test_what_nobody_listens_to_is_said(self):
        given = self.opened()
        listen = [{"address": "127.0.0.1:0"}]
        with self.daemon([("stray", given)], listen, expect=[UNUSED]) as daemon:
            line, = daemon.log.wait(UNUSED)
            self.assertIn(address_of(given), line.string)
            self.assertIn('"stray"', line.string)

    def test_what_cannot_be_served_is_said(self):
        """A datagram socket, and a connection as from Accept=yes."""
        datagrams = self.opened(kind=socket.SOCK_DGRAM)
        with socket.create_connection(self.opened().getsockname()) as connection:
            given = [("datagrams", datagrams), ("connection", connection)]
            said = "no listening stream socket"
            with self.daemon(given, [{"address": "127.0.0.1:0"}], expect=[said]) as daemon:
                daemon.log.wait(said, count=2)
                self.assertEqual(fetch(daemon.address, "/").body, b"index")

    def test_what_was_meant_for_another_process_is_left_alone(self):
        env = {"LISTEN_PID": "1", "LISTEN_FDS": "1"}
        with Daemon(directory=self.root, env=env) as daemon:
            self.assertEqual(fetch(daemon.address, "/").body, b"index")
            daemon.log.wait("LISTEN_FDS=1 was meant for process 1, this is %d" % daemon.process.pid)


def open_files(pid):
    """What a process has open; what it closes meanwhile is left out."""
    names = []
    for fd in os.listdir("/proc/%d/fd" % pid):
        try:
            names.append(os.readlink("/proc/%d/fd/%s" % (pid, fd)))
        except FileNotFoundError:
            pass
    return names


class Kept(Site):
    """The manager's sockets outlive each evixd."""

    def test_workers_share_it(self):
        given = self.opened()
        with self.daemon([("web", given)], [{"address": address_of(given)}], workers=3) as daemon:
            clients = [Connection(given.getsockname()) for _ in range(30)]
            for client in clients:
                client.send(request("/"))
            for client in clients:
                self.assertEqual(client.read_response().body, b"index")
                client.close()
            inode = os.readlink("/proc/self/fd/%d" % given.fileno())
            for pid in daemon.worker_pids:
                self.assertIn(inode, open_files(pid))

    def test_clients_wait_from_one_to_the_next(self):
        """Connected while nobody serves; no one is refused, no one is reset."""
        given = self.opened()
        listen = [{"address": address_of(given)}]
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number):
                first = self.daemon([("web", given)], listen).start()
                self.addCleanup(first.kill)
                self.assertEqual(fetch(given.getsockname(), "/").body, b"index")
                first.stop(number)
                clients = [Connection(given.getsockname()) for _ in range(10)]
                for client in clients:
                    client.send(request("/"))
                with self.daemon([("web", given)], listen):
                    for client in clients:
                        self.assertEqual(client.read_response().body, b"index")
                        client.close()

    def test_no_one_is_turned_away_by_a_stop_under_load(self):
        """Clients that connect while one stops and the next starts are served by either."""
        given = self.opened()
        listen = [{"address": address_of(given)}]
        daemon = self.daemon([("web", given)], listen).start()
        with Load(given.getsockname(), kept=0, fresh=4) as load:
            for _ in range(3):
                load.goes_on()
                daemon.stop()
                daemon = self.daemon([("web", given)], listen).start()
                self.addCleanup(daemon.kill)
            load.goes_on()
        self.assertEqual(load.failures, [])
        daemon.stop()

    def test_a_worker_that_dies_leaves_it_to_its_successor(self):
        given = self.opened()
        died = [r"worker 0 .*signal 9", "successor"]
        listen = [{"address": address_of(given)}]
        with self.daemon([("web", given)], listen, workers=1, expect=died) as daemon:
            pid, = daemon.worker_pids
            os.kill(pid, signal.SIGKILL)
            wait_until(lambda: pid not in children(daemon.process.pid), "it is reaped")
            self.assertEqual(fetch(given.getsockname(), "/").body, b"index")


class Reload(Site):
    def write(self, daemon, listen):
        with open(daemon.config_path, "w", encoding="utf-8") as file:
            file.write(configuration(hosts=[host(self.root, {"path": "/"})], listen=listen))
        done = len([line for line in daemon.log.lines if "configuration is in force" in line])
        daemon.send_signal(signal.SIGHUP)
        daemon.log.wait("configuration is in force", done + 1)

    def test_a_socket_stays_is_left_and_is_found_again(self):
        given = self.opened()
        ours = [{"address": address_of(given)}]
        other = [{"address": "127.0.0.1:0"}]
        with self.daemon([("web", given)], ours) as daemon:
            self.write(daemon, ours + other)
            self.assertEqual(fetch(given.getsockname(), "/").body, b"index")
            self.write(daemon, other)
            self.write(daemon, ours)
            for _ in range(8):
                self.assertEqual(fetch(given.getsockname(), "/").body, b"index")


    def test_another_program_finds_them_too(self):
        """Those that are listened on, and those that only a later configuration asks for."""
        ctypes.CDLL(None).prctl(test_upgrade._PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        first, second = self.opened(), self.opened()
        listen = [{"address": address_of(first)}, {"address": address_of(second)}]
        given = [("web", first), ("other", second)]
        daemon = self.daemon(given, listen[:1], workers=1, expect=[UNUSED]).start()
        self.addCleanup(daemon.kill)
        former = daemon.process
        daemon.send_signal(signal.SIGUSR2)
        line, = daemon.log.wait(r"process (\d+) serves; this one finishes", timeout=60)
        self.assertEqual(former.wait(60), 0)
        daemon.process = test_upgrade.Process(int(line[1]), former)
        self.assertEqual(fetch(first.getsockname(), "/").body, b"index")
        self.write(daemon, listen)
        self.assertEqual(fetch(second.getsockname(), "/").body, b"index")
        daemon.stop()
        with Connection(first.getsockname()) as waiting:
            waiting.send(request("/"))
            with self.daemon(given, listen, workers=1):
                self.assertEqual(waiting.read_response().body, b"index")


if __name__ == "__main__":
    suite.main()
