# SPDX-License-Identifier: MIT
"""What a service manager is told, by a socket of the test's own; see sd_notify(3)."""

import ctypes
import os
import re
import shutil
import signal
import socket
import tempfile
import time
import unittest

import suite
import tree
from evixd import Daemon, children, configuration, host, parent, run, wait_until
from suite import TIME_SCALE
from wire import Connection, fetch, request

FIGURES = re.compile(
    r"(?P<state>\w+): (?P<workers>\d+) workers?, (?P<connections>\d+) connections?, "
    r"(?P<requests>\d+) requests? \((?P<rate>\d+)/s\)"
)
WATCHDOG_US = 10000000
HURRIED_US = 4000000
_PR_SET_CHILD_SUBREAPER = 36


class Manager:
    """Listens, as a service manager does."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="evixd-notify-")
        self.path = os.path.join(self.folder, "notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.socket.bind(self.path)
        self.messages = []  # (sender's process, variable, value)

    def close(self):
        self.socket.close()
        shutil.rmtree(self.folder)

    def receive(self, timeout):
        self.socket.settimeout(max(timeout, 0.001))
        data, ancillary, _flags, _address = self.socket.recvmsg(4096, 1024)
        pid = 0
        for _level, kind, value in ancillary:
            if kind == 2:  # SCM_CREDENTIALS: the kernel says who it was
                pid = int.from_bytes(value[:4], "little")
        for line in data.decode().splitlines():
            name, _, text = line.partition("=")
            self.messages.append((pid, name, text))

    def wait(self, name, pattern="", count=1, timeout=10):
        """The values of at least `count` messages that match."""
        deadline = time.monotonic() + timeout * TIME_SCALE
        while True:
            found = [t for _, n, t in self.messages if n == name and re.search(pattern, t)]
            if len(found) >= count:
                return found
            try:
                self.receive(deadline - time.monotonic())
            except socket.timeout:
                raise AssertionError(
                    "no %d messages %s=%s in %r" % (count, name, pattern, self.messages)
                ) from None

    def drain(self):
        """All that has been said so far."""
        try:
            while True:
                self.receive(0.001)
        except socket.timeout:
            return [name for _pid, name, _text in self.messages]


class Site(unittest.TestCase):
    def setUp(self):
        if "+libsystemd" not in run("--version").stdout:
            self.skipTest("libsystemd is not built in")
        self.root = tempfile.mkdtemp(prefix="evixd-root-")
        self.addCleanup(shutil.rmtree, self.root, True)
        tree.write(self.root, "index.html", b"index")
        self.manager = Manager()
        self.addCleanup(self.manager.close)

    def daemon(self, workers=2, watchdog_us=None, expect=(), **settings):
        env = {"NOTIFY_SOCKET": self.manager.path}
        if watchdog_us:
            env["WATCHDOG_USEC"] = str(watchdog_us)
        return Daemon(
            config=configuration(hosts=[host(self.root, {"path": "/"})], **settings),
            workers=workers, env=env, expect=expect,
        )


class State(Site):
    def test_ready_means_that_all_workers_listen(self):
        """Told only once: a unit that depends on this one may connect right away."""
        with self.daemon(workers=3) as daemon:
            self.manager.wait("READY", "^1$")
            self.assertEqual(len(children(daemon.process.pid)), 3)
            for _ in range(12):
                self.assertEqual(fetch(daemon.address, "/").body, b"index")
            self.assertEqual(self.manager.drain().count("READY"), 1)

    def test_not_ready_without_its_workers(self):
        """The cache's memory and all that cannot be had is found out before."""
        path = os.path.join(self.root, "folder", "access.log")
        daemon = self.daemon(access_log={"target": path})
        self.addCleanup(daemon.kill)
        with self.assertRaises(AssertionError):
            daemon.start()
        self.assertNotIn("READY", self.manager.drain())

    def test_figures_and_signs_of_life(self):
        with self.daemon(watchdog_us=WATCHDOG_US) as daemon:
            first = FIGURES.fullmatch(self.manager.wait("STATUS")[0])
            self.assertIsNotNone(first, self.manager.messages)
            self.assertEqual(first["state"], "Serving")
            self.assertEqual(first["workers"], "2")
            self.assertEqual(first["requests"], "0")
            client = Connection(daemon.address)
            self.addCleanup(client.close)
            for _ in range(7):
                client.send(request("/"))
                self.assertEqual(client.read_response().status, 200)
            self.manager.wait("STATUS", r"^Serving: 2 workers, 1 connection, 7 requests ")
            self.manager.wait("WATCHDOG", "^1$", count=2)

    def test_figures_follow_a_reload(self):
        """Who is left is told when it has changed, and requests at the next of the regular times, however
        shortly before it a reload was."""
        tree.write(self.root, "large.bin", bytes(24 << 20))
        with self.daemon() as daemon:
            self.manager.wait("READY")
            with Connection(daemon.address, timeout=60, receive_buffer=8192) as client:
                client.send(request("/large.bin"))
                client.read_head()  # so that a former worker has to stay
                daemon.send_signal(signal.SIGHUP)
                self.manager.wait("READY", count=2)
                self.manager.wait("STATUS", "^Serving: [34] workers")
                self.manager.messages.clear()
                self.assertEqual(len(client.take(24 << 20)), 24 << 20)
            self.manager.wait("STATUS", "^Serving: 2 workers, ", timeout=4)
            fetch(daemon.address, "/")
            self.manager.wait("STATUS", "^Serving: 2 workers, .* 2 requests", timeout=7)

    def test_failure_of_an_order_is_told(self):
        """Systemctl has long said that all is well; it is for the status to say that it is not."""
        with self.daemon(expect=["failed", "nonsense", "new program"]) as daemon:
            self.manager.wait("READY")
            good = tree.read(daemon.config_path)
            tree.replace(daemon.config_path, good + b"nonsense = 1;\n")
            for order, number in (("reload", signal.SIGHUP), ("upgrade", signal.SIGUSR2)):
                daemon.send_signal(number)
                self.manager.wait("STATUS", r"^Serving: 2 workers, .*/s\); the last %s failed$" % order, timeout=60)
            self.manager.messages.clear()
            tree.replace(daemon.config_path, good)
            daemon.send_signal(signal.SIGHUP)
            self.manager.wait("READY", timeout=60)
            self.manager.wait("STATUS", r"^Serving: .*/s\)$")

    def test_stopping(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number):
                daemon = self.daemon().start()
                self.addCleanup(daemon.kill)
                self.manager.wait("READY")
                daemon.stop(number)
                self.manager.wait("STOPPING", "^1$")
                self.manager.wait("STATUS", "^Stopping: ")
                self.manager.messages.clear()

    def test_only_the_main_process_speaks(self):
        with self.daemon() as daemon:
            self.manager.wait("READY")
            main = daemon.process.pid
        self.manager.drain()
        self.assertEqual({pid for pid, _name, _text in self.manager.messages}, {main})

    def test_no_signs_of_life_where_none_are_expected(self):
        with self.daemon():
            self.manager.wait("READY")
        self.assertNotIn("WATCHDOG", self.manager.drain())

    def test_without_a_manager(self):
        with Daemon(directory=self.root, env={"NOTIFY_SOCKET": ""}) as daemon:
            self.assertEqual(fetch(daemon.address, "/").body, b"index")

    def test_manager_that_has_gone(self):
        daemon = self.daemon()
        self.manager.socket.close()
        with daemon:
            self.assertEqual(fetch(daemon.address, "/").body, b"index")


class Upgrade(Site):
    def test_one_speaks_at_a_time(self):
        """The new one once the former one has named it, and by then it is no child of that one."""
        # Whoever is nobody's child here becomes ours, as it would become the manager's.
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        tree.write(self.root, "large.bin", bytes(24 << 20))
        daemon = self.daemon(watchdog_us=WATCHDOG_US).start()
        self.addCleanup(daemon.kill)
        with Connection(daemon.address, timeout=60, receive_buffer=8192) as client:
            client.send(request("/large.bin"))
            client.read_head()  # so that the former one has to stay
            daemon.send_signal(signal.SIGUSR2)
            new = int(self.manager.wait("MAINPID", timeout=60)[0])
            self.assertEqual(parent(new), os.getpid())
            self.assertIsNone(daemon.process.poll())
            self.manager.wait("READY", count=2)
            self.manager.wait("STATUS", "^Serving: 2 workers")
            self.manager.wait("WATCHDOG", count=2)
            self.assertEqual(len(client.take(24 << 20)), 24 << 20)
        self.assertEqual(daemon.wait(60), 0)
        os.kill(new, signal.SIGTERM)
        self.manager.wait("STOPPING", timeout=60)
        os.waitpid(new, 0)
        self.manager.drain()
        daemon.close()
        daemon.check_log()
        names = [name for _pid, name, _text in self.manager.messages]
        named = names.index("MAINPID")
        speakers = [pid for pid, _name, _text in self.manager.messages]
        self.assertEqual(set(speakers[:named + 1]), {daemon.process.pid})
        self.assertEqual(set(speakers[named + 1:]), {new})
        self.assertNotIn("STOPPING", names[:named])


class Watchdog(Site):
    def test_hung_worker_is_replaced(self):
        """It is killed, its successor serves, and the signs of life go on."""
        died = [r"worker 0 .* gives no sign of life", r"worker 0 .*signal 9", "successor"]
        with self.daemon(workers=1, watchdog_us=HURRIED_US, expect=died) as daemon:
            self.manager.wait("WATCHDOG")
            worker, = daemon.worker_pids
            os.kill(worker, signal.SIGSTOP)
            daemon.log.wait(r"worker 0 \(%d\) gives no sign of life: killed" % worker)
            wait_until(lambda: worker not in children(daemon.process.pid), "it is gone")
            self.assertEqual(fetch(daemon.address, "/").body, b"index")
            seen = self.manager.drain().count("WATCHDOG")
            self.manager.wait("WATCHDOG", count=seen + 2)

    def test_hung_master_gives_no_sign(self):
        with self.daemon(watchdog_us=HURRIED_US) as daemon:
            self.manager.wait("WATCHDOG")
            daemon.send_signal(signal.SIGSTOP)
            try:
                self.manager.drain()
                self.manager.messages.clear()
                with self.assertRaises(socket.timeout):
                    self.manager.receive(HURRIED_US / 2e6)
            finally:
                daemon.send_signal(signal.SIGCONT)

    def test_workers_may_be_held_where_nobody_watches(self):
        """By a debugger, for example: without a watchdog nobody is asked, so nobody is killed."""
        with self.daemon(workers=1) as daemon:
            self.manager.wait("READY")
            worker, = daemon.worker_pids
            os.kill(worker, signal.SIGSTOP)
            client = Connection(daemon.address)
            self.addCleanup(client.close)
            client.send(request("/"))
            os.kill(worker, signal.SIGCONT)
            self.assertEqual(client.read_response().body, b"index")
            self.assertEqual(daemon.worker_pids, [worker])


if __name__ == "__main__":
    suite.main()
