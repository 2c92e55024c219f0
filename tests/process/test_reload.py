# SPDX-License-Identifier: MIT
"""HUP: the next configuration is checked whole, takes over without a gap, or changes nothing.

Each scenario runs under constant load; not one request may fail. RELOADS says how many reloads
follow one another (the long edition is `make check-process-long`).
"""

import os
import re
import signal
import socket
import threading
import time
import unittest

import suite
import tree
from evixd import children, cpu_seconds, descriptors, host, memory_bytes, wait_until
from load import FILES, Load, write_files
from rewritten import RewrittenCase
from wire import Connection, WireError, fetch, request

RELOADS = int(os.environ.get("RELOADS", "50"))
IN_FORCE = r"the new configuration is in force"
FAILED = r"reload failed"


class Site(RewrittenCase):
    def reload(self, daemon, pattern=IN_FORCE):
        """Sends HUP, and waits for the line that says how it went."""
        before = sum(1 for line in list(daemon.log.lines) if re.search(pattern, line))
        daemon.send_signal(signal.SIGHUP)
        daemon.log.wait(pattern, before + 1, timeout=60)

    def wait_for_workers(self, daemon, count):
        """The former ones are gone, too."""
        return wait_until(
            lambda: len(children(daemon.process.pid)) == count and children(daemon.process.pid),
            "%d workers" % count, timeout=60,
        )


class UnderLoad(Site):
    def test_many_in_a_row(self):
        with self.make(workers=2) as daemon, Load(daemon.address) as load:
            for number in range(RELOADS):
                self.reload(daemon)
                if number % 10 == 9:
                    load.goes_on(1)
            load.goes_on()
            load.end()
            self.wait_for_workers(daemon, 2)

    def test_worker_count_up_and_down(self):
        with self.make(workers=1) as daemon, Load(daemon.address) as load:
            for count in (4, 2, 3, 1):
                self.write(daemon, workers=count)
                self.reload(daemon, "in force, with %d worker" % count)
                load.goes_on()
            load.end()
            self.wait_for_workers(daemon, 1)

    def test_listener_comes_and_goes(self):
        """Its clients are served up to the moment from which on they are refused."""
        path = os.path.join(self.folder(), "s")
        first, second = {"address": "127.0.0.1:0"}, {"address": "127.0.0.2:0"}
        with self.make(workers=2, listen=[first]) as daemon, Load(daemon.address) as load:
            self.write(daemon, workers=2, listen=[first, second, {"address": "unix:" + path}])
            self.reload(daemon)
            daemon.log.wait("listening on ", 3)
            match, = daemon.log.wait(r"listening on http://127\.0\.0\.2:(\d+)/")
            address = ("127.0.0.2", int(match[1]))
            with Load(address, kept=2, fresh=0) as kept, Load(path, kept=2, fresh=0) as by_path:
                load.goes_on()
                self.write(daemon, workers=2, listen=[first])
                # Whoever has connected is served: new connections are tried until one is refused.
                served = []
                trying = threading.Thread(target=self.connect_until_refused, args=(address, served))
                trying.start()
                wait_until(lambda: served, "the first of them is served")
                self.reload(daemon)
                trying.join(60)
                self.assertFalse(trying.is_alive())
                self.assertEqual(set(served), {b"ok"})
                for other in (kept, by_path):
                    other.is_over.set()
                    # Their last connection was closed by the daemon: no other can be made.
                    wait_until(lambda: not any(c.is_alive() for c in other.clients), "they end")
                    for failure in other.failures:
                        self.assertRegex(failure, "ConnectionRefusedError|FileNotFoundError|timed out")
                        other.clients[0].failures, other.clients[1].failures = [], []
            load.goes_on()
            self.assertFalse(os.path.exists(path))
            self.assertRaises(ConnectionRefusedError, Connection, address)

    @staticmethod
    def connect_until_refused(address, served):
        while True:
            try:
                connection = Connection(address, timeout=30)
            except ConnectionRefusedError:
                return
            with connection:
                connection.send(request("/small.bin", fields=["Connection: close"]))
                try:
                    served.append(b"ok" if connection.read_response().status == 200 else b"wrong")
                except (OSError, WireError) as error:
                    served.append(repr(error))


class Connections(Site):
    def test_request_after_the_reload_is_answered_with_close(self):
        """A kept connection is still there for the request that crosses the reload."""
        daemon = self.running()
        with Connection(daemon.address) as kept:
            kept.send(request("/small.bin"))
            self.assertTrue(kept.read_response().keeps_alive)
            self.reload(daemon)
            kept.send(request("/middle.bin"))
            answer = kept.read_response()
            self.assertEqual((answer.status, len(answer.body)), (200, 70000))
            self.assertFalse(answer.keeps_alive)
            kept.expect_end()
        daemon.stop()

    def test_connection_without_a_request_is_served(self):
        """By whomever it may be, the kernel or a worker of either configuration holds it."""
        daemon = self.running(workers=4)
        fresh = [Connection(daemon.address) for _ in range(20)]
        self.write(daemon, workers=1)
        self.reload(daemon)
        for connection in fresh:
            connection.send(request("/middle.bin"))
            self.assertEqual(connection.read_response().body, FILES["middle.bin"])
            connection.close()
        daemon.stop()

    def test_pipelined_requests_are_all_answered(self):
        """The last response that the client may get says so; what follows it is not reset."""
        daemon = self.running()
        with Connection(daemon.address) as connection:
            connection.send(request("/small.bin"))
            connection.read_response()
            self.reload(daemon)
            connection.send(request("/middle.bin") * 3)
            self.assertFalse(connection.read_response().keeps_alive)
            connection.expect_end()
        daemon.stop()

    def test_idle_ones_do_not_hold_the_former_workers(self):
        daemon = self.running()
        with Connection(daemon.address) as idle:
            idle.send(request("/small.bin"))
            idle.read_response()
            before = self.wait_for_workers(daemon, 1)
            self.reload(daemon)
            idle.expect_end()
        after = self.wait_for_workers(daemon, 1)
        self.assertNotEqual(before, after)
        daemon.stop()

    def test_waiting_ones_cost_the_former_workers_nothing(self):
        """However many are in the middle of a request: nobody asks again and again whether one is done."""
        daemon = self.running()
        former, = self.wait_for_workers(daemon, 1)
        head = request("/small.bin")
        clients = [Connection(daemon.address) for _ in range(150)]
        for client in clients:
            self.addCleanup(client.close)
            client.send(head[:-2])
        # Served after them, in one queue: when this one is answered, all have begun.
        self.assertEqual(fetch(daemon.address, "/empty.bin").status, 200)
        self.reload(daemon)
        wait_until(lambda: len(children(daemon.process.pid)) == 2, "the former one stays")
        before = cpu_seconds(former)
        for _ in range(100):
            self.assertEqual(fetch(daemon.address, "/middle.bin").status, 200)
        self.assertLess(cpu_seconds(former) - before, 0.1 * suite.TIME_SCALE)
        for client in clients:
            client.send(head[-2:])
            answer = client.read_response()
            self.assertEqual(answer.status, 200)
            self.assertFalse(answer.keeps_alive)
        self.wait_for_workers(daemon, 1)
        daemon.stop()

    def test_download_in_flight_is_finished(self):
        size = 24 << 20
        with open(os.path.join(self.root, "large.bin"), "wb") as file:
            file.truncate(size)
        daemon = self.running()
        with Connection(daemon.address, receive_buffer=8192) as connection:
            connection.send(request("/large.bin"))
            connection.read_head()
            self.reload(daemon)
            self.assertEqual(fetch(daemon.address, "/empty.bin").body, b"")
            self.assertTrue(connection.take(size) == bytes(size))
        daemon.stop()

    def test_deadline_cuts_former_ones_off(self):
        size = 24 << 20
        with open(os.path.join(self.root, "large.bin"), "wb") as file:
            file.truncate(size)
        daemon = self.running(timeouts={"shutdown": 0.2})
        with Connection(daemon.address, receive_buffer=8192) as connection:
            connection.send(request("/large.bin"))
            connection.read_head()
            self.reload(daemon)
            self.wait_for_workers(daemon, 1)
            with self.assertRaises(WireError):
                connection.take(size)
        daemon.stop()

    def test_echo_session_goes_on(self):
        listen = [{"address": "127.0.0.1:0", "protocol": "echo"}]
        daemon = self.running(listen=listen, hosts=[])
        with Connection(daemon.address) as session:
            session.send(b"before")
            self.assertEqual(session.take(6), b"before")
            daemon.send_signal(signal.SIGHUP)
            daemon.log.wait(IN_FORCE)
            session.send(b"after")
            self.assertEqual(session.take(5), b"after")
        daemon.stop()


class NewSettings(Site):
    def test_are_in_force(self):
        daemon = self.running()
        root = self.folder()
        tree.write(root, "small.bin", b"new")
        self.write(daemon, hosts=[host(root, {"path": "/"})])
        self.reload(daemon)
        self.assertEqual(fetch(daemon.address, "/small.bin").body, b"new")
        daemon.stop()

    def test_pid_file_moves(self):
        folder = self.folder()
        first, second = os.path.join(folder, "a"), os.path.join(folder, "b")
        daemon = self.running(pid_file=first)
        self.write(daemon, pid_file=second)
        self.reload(daemon)
        self.assertFalse(os.path.exists(first))
        with open(second, encoding="ascii") as file:
            self.assertEqual(int(file.read()), daemon.process.pid)
        daemon.stop()
        self.assertFalse(os.path.exists(second))

    def test_error_log_moves(self):
        path = os.path.join(self.folder(), "error.log")
        daemon = self.running()
        self.write(daemon, error_log={"target": path, "level": "info"})
        daemon.send_signal(signal.SIGHUP)
        wait_until(lambda: os.path.exists(path) and IN_FORCE.encode() in tree.read(path), "it moves")
        fetch(daemon.address, "/none")
        self.assertIn(b"/none", tree.read(path))
        self.assertNotIn("/none", daemon.log.text())
        daemon.stop()

    def test_address_that_overlaps_ours(self):
        """127.0.0.1 becomes every address, on the same port: we are not in the way of ourselves.

        Somebody else may be, with that port on an address of its own; but not each time.
        """
        for _ in range(5):
            daemon = self.running(expect=[FAILED, "cannot listen on"])
            port = daemon.address[1]
            self.write(daemon, listen=[{"address": "0.0.0.0:%d" % port}])
            self.reload(daemon, IN_FORCE + "|" + FAILED)
            if FAILED not in daemon.log.text():
                break
            daemon.stop()
        self.assertNotIn(FAILED, daemon.log.text())
        self.assertEqual(fetch(("127.0.0.2", port), "/empty.bin").status, 200)
        daemon.stop()


BROKEN = [
    ("syntax", {}, "workers = ;", r"evixd\.conf:\d+: "),
    ("unknown name", {}, "worker = 2;", r"evixd\.conf:\d+: .*workers"),
    ("missing root", {"hosts": [{"names": ["x"], "root": "/nonexistent/root"}]}, "", r"evixd\.conf:\d+: .*/nonexistent/root"),
    ("log in a missing folder", {"error_log": {"target": "/nonexistent/log", "level": "info"}}, "", r"evixd\.conf:\d+: .*/nonexistent/log"),
    ("address of another host", {"listen": [{"address": "192.0.2.1:0"}]}, "", r"evixd\.conf:\d+: .*192\.0\.2\.1"),
    ("no such user", {"user": "nobody-by-that-name"}, "", "nobody-by-that-name"),
]


@suite.cases(BROKEN)
class Broken(Site):
    """Everything stays as it was, and one clear line says why; then a good one works."""

    @classmethod
    def make(cls, **settings):
        return super().make(expect=[r"evixd\.conf:", FAILED, "there is no user"], **settings)

    def check(self, _label, settings, extra, pattern):
        daemon = self.daemon
        workers = self.wait_for_workers(daemon, 1)
        held = descriptors(daemon.process.pid)
        with open(daemon.config_path, "w", encoding="utf-8") as file:
            file.write(self.text(**settings) + extra + "\n")
        mark = len(daemon.log.lines)
        self.reload(daemon, FAILED)
        said = [line for line in daemon.log.lines[mark:] if " error " in line]
        self.assertRegex("\n".join(said), pattern)
        self.assertEqual(len(said), 2, said)
        self.assertEqual(self.wait_for_workers(daemon, 1), workers)
        self.assertEqual(fetch(daemon.address, "/small.bin").status, 200)
        self.assertEqual(descriptors(daemon.process.pid), held)

    def test_busy_port(self):
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            address = "127.0.0.1:%d" % other.getsockname()[1]
            self.check("", {"workers": 3, "listen": [{"address": "127.0.0.1:0"}, {"address": address}]},
                       "", r"evixd\.conf:\d+: .*%s.*in use" % address)

    @unittest.skipUnless(os.geteuid() == 0, "what only workers cannot do takes root to set up")
    def test_worker_that_cannot_start(self):
        """It is the worker that opens its host's log, as another user: nothing has changed by then."""
        os.chmod(self.root, 0o755)
        daemon = self.make(workers=2, user="nobody").start()
        self.addCleanup(daemon.kill)
        daemon.expect.append("could not start|cannot open access log")
        log = tree.write(self.folder(), "access.log")
        os.chmod(os.path.dirname(log), 0o755)
        os.chmod(log, 0o600)
        workers = self.wait_for_workers(daemon, 2)
        with Load(daemon.address) as load:
            hosts = [host(self.root, access_log={"target": log})]
            self.write(daemon, workers=4, hosts=hosts, user="nobody")
            self.reload(daemon, FAILED)
            load.goes_on()
            self.assertEqual(self.wait_for_workers(daemon, 2), workers)
            self.write(daemon, workers=3, user="nobody")
            self.reload(daemon)
            load.goes_on()
            load.end()
            self.wait_for_workers(daemon, 3)
        daemon.stop()

    def test_log_that_is_none(self):
        hosts = [host(self.root, access_log={"target": self.root})]
        self.check("", {"workers": 4, "hosts": hosts}, "", r"evixd\.conf:\d+: .*[Ii]s a directory")


class Reached(Site):
    def test_unix_socket_whose_file_was_removed(self):
        """It is made anew; who has connected to the former one is served."""
        path = os.path.join(self.folder(), "s")
        daemon = self.running(listen=[{"address": "unix:" + path}])
        with Connection(path) as before:
            os.unlink(path)
            self.reload(daemon)
            self.assertEqual(fetch(path, "/small.bin").status, 200)
            before.send(request("/small.bin"))
            self.assertEqual(before.read_response().status, 200)
        self.reload(daemon)
        self.assertEqual(fetch(path, "/small.bin").status, 200)
        daemon.stop()
        self.assertFalse(os.path.exists(path))


class Storms(Site):
    def test_more_signals_than_reloads(self):
        """What comes while one is under way is one more, in the end."""
        with self.make(workers=2) as daemon, Load(daemon.address) as load:
            for _ in range(200):
                daemon.send_signal(signal.SIGHUP)
                daemon.send_signal(signal.SIGUSR1)
            root = self.folder()
            write_files(root)
            tree.write(root, "last", b"in force")
            self.write(daemon, workers=1, hosts=[host(root)])
            daemon.send_signal(signal.SIGHUP)
            wait_until(lambda: fetch(daemon.address, "/last").body == b"in force", "the last one",
                       timeout=60)
            load.goes_on()
            load.end()
            self.wait_for_workers(daemon, 1)

    def test_stop_in_the_middle(self):
        """Also while the next workers are forked, and where the parent ignores what they are told."""
        for ignored in ((), (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGCHLD)):
            for number in (signal.SIGTERM, signal.SIGQUIT, signal.SIGINT):
                for distance in range(5):
                    with self.subTest(ignored=ignored, number=number, distance=distance):
                        daemon = self.running(workers=8, ignored=ignored)
                        daemon.send_signal(signal.SIGHUP)
                        time.sleep(distance / 2000)
                        daemon.stop(number)

    def test_worker_killed_in_the_middle(self):
        daemon = self.running(workers=2, expect=["ended by signal", FAILED, "could not start"])
        for _ in range(5):
            daemon.send_signal(signal.SIGHUP)
            for pid in children(daemon.process.pid):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        for _ in range(2):  # the first one's successor may have been among the dead
            self.reload(daemon, IN_FORCE + "|" + FAILED)
        self.wait_for_workers(daemon, 2)
        self.assertEqual(fetch(daemon.address, "/small.bin").status, 200)
        daemon.stop()


class Leaks(Site):
    def test_descriptors_and_memory_are_flat(self):
        with self.make(workers=2) as daemon:
            pid = daemon.process.pid
            for number in range(RELOADS):
                self.reload(daemon)
                if number == 4:
                    self.wait_for_workers(daemon, 2)
                    held, memory = descriptors(pid), memory_bytes(pid, "RssAnon")
            self.wait_for_workers(daemon, 2)
            self.assertEqual(descriptors(pid), held)
            if suite.TIME_SCALE == 1:  # sanitizers keep what was freed; they look for leaks themselves
                self.assertLess(memory_bytes(pid, "RssAnon"), memory + (1 << 20))


if __name__ == "__main__":
    suite.main(limit=120 + 2 * RELOADS)
