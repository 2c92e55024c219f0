# SPDX-License-Identifier: MIT
"""Signals: TERM and QUIT finish what is in flight, INT and a second one that comes later do not wait."""

import os
import signal
import time

import suite
import tree
from evixd import Daemon, TestCase, children, configuration, host, wait_until
from wire import Connection, WireError, fetch, request

SIZE = 24 << 20


class Site(TestCase):
    @classmethod
    def serve(cls):
        tree.write(cls.root, "small.bin", b"small")
        tree.write(cls.root, "large.bin", b"x" * SIZE)
        return cls.make()

    @classmethod
    def make(cls, shutdown=10, workers=1, **options):
        return Daemon(config=configuration(
            hosts=[host(cls.root, {"path": "/"}, {"path": "/echo", "handler": "echo"})],
            timeouts={"shutdown": shutdown, "keep_alive": 600, "send": 600},
            limits={"min_rate": 0},
        ), workers=workers, **options)

    def running(self, **options):
        daemon = self.make(**options).start()
        self.addCleanup(daemon.kill)
        return daemon

    def downloading(self, daemon):
        connection = Connection(daemon.address, receive_buffer=8192)
        self.addCleanup(connection.close)
        connection.send(request("/large.bin"))
        connection.read_head()
        return connection

    def wait_for_stopping(self, daemon):
        daemon.log.wait("stopping")


# As by a shell that starts `evixd &`.
IN_BACKGROUND = (signal.SIGINT, signal.SIGQUIT)


@suite.cases([
    ("TERM", signal.SIGTERM, ()), ("TERM, in background", signal.SIGTERM, IN_BACKGROUND),
    ("QUIT", signal.SIGQUIT, ()), ("QUIT, in background", signal.SIGQUIT, IN_BACKGROUND),
])
class Graceful(Site):
    def check(self, _label, number, ignored):
        """A download in flight is finished, whole; the exit status is 0."""
        daemon = self.running(ignored=ignored)
        connection = self.downloading(daemon)
        daemon.send_signal(number)
        self.wait_for_stopping(daemon)
        self.assertTrue(connection.take(SIZE) == b"x" * SIZE)
        connection.expect_end()
        daemon.stop()  # it is on its way already; checks status and log

    def test_an_order_that_comes_twice_is_one(self):
        """As from timeout(1), which signals a process and then its group. TERM and QUIT wait side by
        side until the process goes on, so that it sees both at one moment."""
        daemon = self.running(shutdown=600)
        connection = self.downloading(daemon)
        worker, = daemon.worker_pids
        for pid in (worker, daemon.process.pid):
            os.kill(pid, signal.SIGSTOP)
            os.kill(pid, signal.SIGTERM)
            os.kill(pid, signal.SIGQUIT)
        os.kill(daemon.process.pid, signal.SIGCONT)
        self.wait_for_stopping(daemon)
        os.kill(worker, signal.SIGCONT)
        self.assertTrue(connection.take(SIZE) == b"x" * SIZE)
        connection.expect_end()
        daemon.stop()

    def test_idle_connections_are_closed_at_once(self):
        daemon = self.running(shutdown=600)
        idle = Connection(daemon.address)
        idle.send(request("/small.bin"))
        idle.read_response()
        fresh = Connection(daemon.address)
        daemon.send_signal(signal.SIGTERM)
        self.assertEqual(idle.read_to_end(), b"")
        daemon.wait(60)
        idle.close()
        fresh.close()

    def test_a_request_that_is_under_way_is_answered(self):
        """Its head has begun to arrive: the client behaves, so it gets its answer, with close."""
        daemon = self.running()
        with Connection(daemon.address) as connection:
            connection.send(request("/echo", "POST", ["Content-Length: 10"], body=b"first"))
            connection.read_head("POST")
            self.assertEqual(connection.take(5), b"first")
            daemon.send_signal(signal.SIGTERM)
            self.wait_for_stopping(daemon)
            connection.send(b"after")
            self.assertEqual(connection.take(5), b"after")
            connection.expect_end()
        daemon.stop()

    def test_nobody_new_is_let_in(self):
        daemon = self.running()
        connection = self.downloading(daemon)
        daemon.send_signal(signal.SIGTERM)
        self.wait_for_stopping(daemon)

        def refused():
            try:
                with Connection(daemon.address, timeout=2) as late:
                    late.send(request("/small.bin"))
                    return not late.read_to_end()
            except (OSError, WireError):
                return True

        wait_until(refused, "new connections are refused", timeout=5)
        connection.take(SIZE)
        daemon.stop()

    def test_requests_in_the_queue_are_answered(self):
        """Whoever had connected and sent a request before TERM was there in time."""
        daemon = self.running()
        worker = daemon.worker_pids[0]
        os.kill(worker, signal.SIGSTOP)
        clients = [Connection(daemon.address) for _ in range(20)]
        for client in clients:
            client.send(request("/small.bin"))
        daemon.send_signal(signal.SIGTERM)
        os.kill(worker, signal.SIGCONT)
        for client in clients:
            self.assertEqual(client.read_response().body, b"small")
            client.close()
        daemon.stop()

    def test_the_deadline_holds(self):
        """Timeouts.shutdown: a client that takes nothing, for ever if it may, cannot hold us up."""
        daemon = self.running(shutdown=0.5)
        self.downloading(daemon)
        started = time.monotonic()
        daemon.send_signal(signal.SIGTERM)
        self.assertEqual(daemon.wait(60), 0)
        self.assertGreater(time.monotonic() - started, 0.3)


class AtOnce(Site):
    def test_int(self):
        for ignored in ((), IN_BACKGROUND):
            with self.subTest(ignored=ignored):
                daemon = self.running(shutdown=600, ignored=ignored)
                self.downloading(daemon)
                daemon.stop(signal.SIGINT, timeout=60)

    def test_second_term(self):
        daemon = self.running(shutdown=600)
        self.downloading(daemon)
        daemon.send_signal(signal.SIGTERM)
        self.wait_for_stopping(daemon)

        def insist():
            """One within a second of the first is the same order, which came twice."""
            daemon.send_signal(signal.SIGTERM)
            return daemon.process.poll() is not None

        wait_until(insist, "its end", timeout=60)
        daemon.stop(timeout=60)

    def test_workers_are_gone_too(self):
        daemon = self.running(workers=3)
        workers = daemon.worker_pids
        self.assertEqual(len(workers), 3)
        daemon.stop()
        for pid in workers:
            self.assertFalse(os.path.exists("/proc/%d" % pid), pid)

    def test_port_is_free_again(self):
        daemon = self.running()
        host_name, port = daemon.address
        daemon.stop()
        again = Daemon(directory=self.root, arguments=["-l", "%s:%d" % (host_name, port)])
        with again:
            self.assertEqual(fetch(again.address, "/small.bin").body, b"small")

    def test_storm(self):
        """However many signals come, none does harm."""
        daemon = self.running(workers=2)
        for _ in range(200):
            daemon.send_signal(signal.SIGUSR1)
            daemon.send_signal(signal.SIGCHLD)
        self.assertEqual(fetch(daemon.address, "/small.bin").body, b"small")
        daemon.stop()

    def test_stopping_during_the_start(self):
        for _ in range(10):
            daemon = self.running(workers=2)
            daemon.stop()


class MasterDies(Site):
    def test_workers_follow(self):
        """No orphan goes on serving from a port that nobody governs."""
        daemon = self.running(workers=2)
        workers = daemon.worker_pids
        idle = Connection(daemon.address)
        self.addCleanup(idle.close)
        daemon.process.kill()
        daemon.process.wait()
        for pid in workers:
            wait_until(lambda: is_gone(pid), "worker %d goes" % pid, timeout=5)

    def test_a_download_is_finished_first(self):
        daemon = self.running()
        pid, = daemon.worker_pids
        connection = self.downloading(daemon)
        daemon.process.kill()
        daemon.process.wait()
        self.assertTrue(connection.take(SIZE) == b"x" * SIZE)
        wait_until(lambda: is_gone(pid), "the worker goes", timeout=5)


def is_gone(pid):
    """Ended, or a zombie that only its new parent can reap."""
    try:
        with open("/proc/%d/stat" % pid, encoding="latin-1") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


class PidFile(Site):
    def test_is_written_and_removed(self):
        path = os.path.join(self.folder(), "pid")
        with Daemon(config=configuration(
            pid_file=path, hosts=[host(self.root, {"path": "/"})]
        )) as daemon:
            with open(path, encoding="ascii") as file:
                self.assertEqual(file.read(), "%d\n" % daemon.process.pid)
        self.assertFalse(os.path.exists(path))

    def test_missing_folder(self):
        daemon = Daemon(config=configuration(
            pid_file="/nonexistent/pid", hosts=[host(self.root, {"path": "/"})]
        ))
        with self.assertRaises(AssertionError):
            daemon.start()
        self.assertEqual(daemon.process.returncode, 1)
        self.assertRegex(daemon.log.text(), r"evixd\.conf:\d+: pid_file: the folder of \"/nonexistent/pid\"")


class Environment(Site):
    def test_ignored_sigpipe_and_blocked_signals(self):
        """Whatever mask it inherits, TERM stops it."""
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGCHLD])
        try:
            daemon = self.running()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM, signal.SIGCHLD])
        self.assertEqual(fetch(daemon.address, "/small.bin").body, b"small")
        daemon.stop()

    def test_children_is_what_we_think(self):
        daemon = self.running(workers=2)
        self.assertEqual(sorted(children(daemon.process.pid)), sorted(daemon.worker_pids))
        daemon.stop()


if __name__ == "__main__":
    suite.main(limit=90)
