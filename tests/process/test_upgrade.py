# SPDX-License-Identifier: MIT
"""USR2: the program that is installed now takes the sockets over, or the one that runs goes on.

Under constant load; not one request may fail. UPGRADES says how many follow one another.
"""

import contextlib
import ctypes
import os
import re
import shutil
import signal
import socket
import subprocess
import unittest

import suite
import tree
from evixd import EVIXD, children, descriptors, parent, wait_until
from load import Load
from rewritten import RewrittenCase
from suite import TIME_SCALE
from wire import Connection, WireError, fetch, request

UPGRADES = int(os.environ.get("UPGRADES", "10"))
DOWNLOAD_MIB = int(os.environ.get("DOWNLOAD_MIB", "64"))
TAKEN = r"serving in the place of process (\d+)"
FAILED = "upgrade failed"
_PR_SET_CHILD_SUBREAPER = 36


class Process:
    """A process that the former one has let go, which makes it ours; used as a subprocess.Popen."""

    def __init__(self, pid, former):
        self.pid = pid
        self.stderr, self.stdout = former.stderr, former.stdout
        self.returncode = None

    def poll(self):
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout=None):
        try:
            wait_until(lambda: self.poll() is not None, "its end", timeout or 10)
        except AssertionError:
            raise subprocess.TimeoutExpired("evixd", timeout) from None
        return self.returncode

    def send_signal(self, number):
        os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)


def is_ours(pid):
    """Whether it has ended, and was left to us; it is reaped then."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return False


def end(pid):
    """Whatever became of it."""
    try:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    except (ProcessLookupError, ChildProcessError):
        pass


class Site(RewrittenCase):
    @classmethod
    def setUpClass(cls):
        # So that the new one is ours, as it would be process 1's or a service manager's else.
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        super().setUpClass()

    def upgrade(self, daemon):
        """Waits until the new one serves; returns the former one, which still may have to finish."""
        former = daemon.process
        count = len([line for line in list(daemon.log.lines) if "serving in the place" in line])
        daemon.send_signal(signal.SIGUSR2)
        daemon.log.wait(TAKEN, count + 1, timeout=60)
        line, = daemon.log.wait(r"process (\d+) serves; this one finishes", count + 1, timeout=60)[-1:]
        daemon.process = Process(int(line[1]), former)
        return former


class UnderLoad(Site):
    def test_many_in_a_row(self):
        daemon = self.running(workers=2)
        first = daemon.process.pid
        with Load(daemon.address) as load:
            for _ in range(UPGRADES):
                former = self.upgrade(daemon)
                load.goes_on()
                self.assertEqual(former.wait(60 * TIME_SCALE), 0)
        self.assertNotEqual(daemon.process.pid, first)
        self.assertFalse(os.path.exists("/proc/%d" % first))
        held = descriptors(daemon.process.pid)
        self.assertLess(held, 24)
        daemon.stop()

    def test_with_other_listeners_and_workers(self):
        """What the new configuration has not is served to the end, then closed."""
        path = os.path.join(self.folder(), "s")
        daemon = self.running(
            workers=3, listeners=3,
            listen=[{"address": "127.0.0.1:0"}, {"address": "127.0.0.2:0"}, {"address": "unix:" + path}],
        )
        stays, goes, _ = daemon.addresses
        with Load(stays) as load, Load(path, kept=1, fresh=1) as by_path:
            self.write(daemon, workers=1, listen=[{"address": "127.0.0.1:0"}, {"address": "unix:" + path}])
            former = self.upgrade(daemon)
            load.goes_on()
            by_path.goes_on()
            self.assertEqual(former.wait(60 * TIME_SCALE), 0)
            self.assertRaises(ConnectionRefusedError, Connection, goes)
            load.goes_on()
            by_path.goes_on()
            self.write(daemon, workers=4, listen=[{"address": "127.0.0.1:0"}, {"address": "unix:" + path}])
            former = self.upgrade(daemon)
            load.goes_on()
            self.assertEqual(former.wait(60 * TIME_SCALE), 0)
            by_path.goes_on()
        daemon.stop()
        self.assertFalse(os.path.exists(path))

    def test_reload_of_the_new_one(self):
        daemon = self.running(workers=2)
        with Load(daemon.address) as load:
            former = self.upgrade(daemon)
            self.write(daemon, workers=1)
            daemon.send_signal(signal.SIGHUP)
            daemon.log.wait("in force, with 1 worker", timeout=60)
            load.goes_on()
        self.assertEqual(former.wait(60 * TIME_SCALE), 0)
        daemon.stop()


class Failures(Site):
    """Each leaves the one that runs as it was, and says so."""

    def check(self, daemon, pattern):
        workers = set(children(daemon.process.pid))
        with Load(daemon.address) as load:
            daemon.send_signal(signal.SIGUSR2)
            daemon.log.wait(FAILED, timeout=60)
            load.goes_on()
        self.assertRegex(daemon.log.text(), pattern)
        self.assertEqual(set(children(daemon.process.pid)), workers)

    def failing(self, **settings):
        return self.running(expect=["the new program", FAILED, "cannot execute"], **settings)

    def test_broken_configuration(self):
        daemon = self.failing()
        with open(daemon.config_path, "a", encoding="utf-8") as file:
            file.write("workerss = 2;\n")
        self.check(daemon, r"evixd\.conf:\d+: .*workerss")
        self.write(daemon)
        self.assertEqual(self.upgrade(daemon).wait(60 * TIME_SCALE), 0)
        daemon.stop()

    def test_broken_configuration_is_told_in_the_log(self):
        """Where that is a file: what the new program says until it takes the sockets."""
        path = tree.write(self.folder(), "error.log")
        daemon = self.failing()
        former = daemon.process
        self.write(daemon, error_log={"target": path})
        daemon.send_signal(signal.SIGHUP)
        wait_until(lambda: "in force" in tree.read(path).decode(), "the reload", timeout=60)
        with open(daemon.config_path, "a", encoding="utf-8") as file:
            file.write("workerss = 2;\nmime_typess = 3;\n")
        daemon.send_signal(signal.SIGUSR2)
        wait_until(lambda: FAILED in tree.read(path).decode(), "the failure", timeout=60)
        lines = [line for line in tree.read(path).decode().splitlines() if " error " in line]
        for line, pattern in zip(lines, (
            r"the new program says: evixd: .*evixd\.conf:\d+: .*workerss",
            r"the new program says: evixd: .*evixd\.conf:\d+: .*mime_typess",
            r"the new program \(\d+\) exited with code 1 ",
            FAILED,
        ), strict=True):
            self.assertRegex(line, pattern)
        self.assertNotIn("workerss", daemon.log.text())
        self.write(daemon)
        daemon.send_signal(signal.SIGUSR2)
        daemon.log.wait(TAKEN, timeout=60)  # its standard error is what it was
        wait_until(lambda: "serves; this one" in tree.read(path).decode(), "its end", timeout=60)
        new = re.search(r"process (\d+) serves; this one", tree.read(path).decode())[1]
        daemon.process = Process(int(new), former)
        self.assertEqual(former.wait(60 * TIME_SCALE), 0)
        daemon.stop()

    def test_busy_port(self):
        daemon = self.failing(workers=2)
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            address = "127.0.0.1:%d" % other.getsockname()[1]
            self.write(daemon, workers=3, listen=[{"address": "127.0.0.1:0"}, {"address": address}])
            self.check(daemon, r"cannot listen on .*in use")
        daemon.stop()

    def program(self):
        """A copy that the test may break."""
        path = os.path.join(self.folder(), "evixd")
        shutil.copy(EVIXD, path)
        daemon = self.make(expect=["the new program", FAILED, "cannot execute"])
        daemon.command[0] = path
        daemon.start()
        self.addCleanup(daemon.kill)
        return daemon, path

    def test_program_that_is_gone(self):
        daemon, path = self.program()
        os.unlink(path)
        self.check(daemon, "cannot execute %s" % path)
        shutil.copy(EVIXD, path)
        self.assertEqual(self.upgrade(daemon).wait(60 * TIME_SCALE), 0)
        daemon.stop()

    def test_program_that_is_another(self):
        daemon, path = self.program()
        os.unlink(path)
        os.symlink("/bin/false", path)
        self.check(daemon, r"the new program \(\d+\) exited with code 1")
        daemon.stop()

    def test_program_that_dies(self):
        daemon, path = self.program()
        tree.replace(path, b"#!/bin/sh\nkill -KILL $$\n")
        os.chmod(path, 0o755)
        self.check(daemon, r"was ended by signal 9")
        daemon.stop()

    def test_stop_in_the_middle(self):
        """The new one stops, too, however far it has come."""
        daemon, path = self.program()
        tree.replace(path, b"#!/bin/sh\nkill -STOP $$\nexec sleep 60\n")
        os.chmod(path, 0o755)
        daemon.send_signal(signal.SIGUSR2)
        daemon.log.wait("to take over")
        new = self.stopped_program(daemon)
        daemon.process.send_signal(signal.SIGTERM)
        self.assertEqual(daemon.process.wait(60 * TIME_SCALE), 0)
        self.assert_told_to_stop(new)
        daemon.close()

    def test_nobody_is_left_to_see_it_fail(self):
        """Then it is not waited for."""
        daemon, path = self.program()
        tree.replace(path, b"#!/bin/sh\nkill -STOP $$\nexec sleep 60\n")
        os.chmod(path, 0o755)
        daemon.send_signal(signal.SIGUSR2)
        new = self.stopped_program(daemon)
        os.kill(parent(new), signal.SIGKILL)
        daemon.log.wait(FAILED, timeout=60)
        self.assert_told_to_stop(new)
        tree.replace(path, tree.read(EVIXD))
        os.chmod(path, 0o755)
        self.assertEqual(self.upgrade(daemon).wait(60 * TIME_SCALE), 0)
        daemon.stop()

    def test_former_one_dies_while_the_new_one_starts(self):
        """It serves all the same, and who connects meanwhile waits for it."""
        daemon, path = self.program()
        daemon.expect.append("the master is gone")
        tree.replace(path, b"#!/bin/sh\nkill -STOP $$\nexec %s \"$@\"\n" % EVIXD.encode())
        os.chmod(path, 0o755)
        daemon.send_signal(signal.SIGUSR2)
        new, between = self.stopped_program(daemon), children(daemon.process.pid)
        daemon.process.send_signal(signal.SIGKILL)
        daemon.process.wait(60 * TIME_SCALE)
        for pid in between:  # the workers and what attends the new one, which follow
            wait_until(lambda: not os.path.exists("/proc/%d" % pid) or is_ours(pid), "%d ends" % pid)
        with Connection(daemon.address, timeout=60) as connection:
            connection.send(request("/small.bin"))
            os.kill(new, signal.SIGCONT)
            self.assertEqual(connection.read_response().status, 200)
        daemon.process = Process(new, daemon.process)
        daemon.stop()

    def stopped_program(self, daemon):
        def find():
            for between in children(daemon.process.pid):
                for pid in children(between):
                    with open("/proc/%d/stat" % pid, "rb") as file:
                        if file.read().rpartition(b")")[2].split()[0] == b"T":
                            return pid
            return None

        found = wait_until(find, "the new program")
        self.addCleanup(end, found)
        return found

    def assert_told_to_stop(self, pid):
        """The signal waits for it, as all do until a program is ready for them."""
        def is_told():
            with open("/proc/%d/status" % pid, encoding="ascii") as file:
                waiting, = re.findall(r"ShdPnd:\t(\w+)", file.read())
            return int(waiting, 16) & 1 << signal.SIGTERM - 1

        wait_until(is_told, "it is told")
        wait_until(lambda: parent(pid) == os.getpid(), "it is ours")
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


class Alone(Site):
    def test_pid_file_passes_on(self):
        path = os.path.join(self.folder(), "pid")
        daemon = self.running(pid_file=path)
        former = self.upgrade(daemon)
        self.assertEqual(int(tree.read(path)), daemon.process.pid)
        self.assertEqual(former.wait(60 * TIME_SCALE), 0)
        self.assertEqual(int(tree.read(path)), daemon.process.pid)
        daemon.stop()
        self.assertFalse(os.path.exists(path))

    def test_download_in_flight_is_finished(self):
        daemon = self.running()
        with self.downloading(daemon) as connection:
            former = self.upgrade(daemon)
            self.assertEqual(fetch(daemon.address, "/empty.bin").body, b"")
            self.assertIsNone(former.poll())
            self.read_zeros(connection, self.LARGE)
        self.assertEqual(former.wait(60 * TIME_SCALE), 0)
        daemon.stop()

    def test_download_outlives_all_orders_but_one(self):
        """Its worker is retired, its program replaced, the server stopped: not a byte is missing."""
        size = DOWNLOAD_MIB << 20
        with open(os.path.join(self.root, "huge.bin"), "wb") as file:
            file.truncate(size)
        for number in (signal.SIGTERM, signal.SIGQUIT, signal.SIGINT):
            daemon = self.running(shutdown=600)
            with Connection(daemon.address, timeout=60, receive_buffer=8192) as connection:
                connection.send(request("/huge.bin"))
                connection.read_head()
                daemon.send_signal(signal.SIGHUP)
                daemon.log.wait("the new configuration is in force")
                former = self.upgrade(daemon)
                former.send_signal(number)
                if number == signal.SIGINT:
                    self.assertRaises(WireError, self.read_zeros, connection, size)
                else:
                    daemon.log.wait("stopping: ")
                    self.read_zeros(connection, size)
                    connection.expect_end()
            self.assertEqual(former.wait(60 * TIME_SCALE), 0)
            daemon.stop()

    def read_zeros(self, connection, size):
        size -= len(connection.buffer)
        self.assertEqual(connection.buffer.count(0), len(connection.buffer))
        connection.buffer.clear()
        zeros = bytes(1 << 20)
        while size > 0:
            data = connection.receive(min(size, len(zeros)))
            if not data:
                raise WireError("%d bytes are missing" % size)
            self.assertTrue(data == zeros[:len(data)])
            size -= len(data)

    def test_nobody_s_child(self):
        """Whoever looks after the former one looks after the new one, while both are there."""
        daemon = self.running()
        with self.downloading(daemon) as connection:
            former = self.upgrade(daemon)
            self.assertEqual(parent(daemon.process.pid), os.getpid())
            self.assertIsNone(former.poll())
            self.read_zeros(connection, self.LARGE)
        self.assertEqual(former.wait(60 * TIME_SCALE), 0)
        daemon.stop()

    def test_stop_waits_for_the_former_ones(self):
        """Who waits for the end of the server waits for that of all its downloads."""
        daemon = self.running()
        with self.downloading(daemon) as first:
            formers = [self.upgrade(daemon)]
            with self.downloading(daemon) as second:
                formers.append(self.upgrade(daemon))
                daemon.process.send_signal(signal.SIGTERM)
                daemon.log.wait("stopping: ")
                self.read_zeros(second, self.LARGE)
            wait_until(lambda: not children(formers[1].pid), "the second has nothing left")
            self.assertEqual([one.poll() for one in (*formers, daemon.process)], [None] * 3)
            self.read_zeros(first, self.LARGE)
        self.assertEqual([one.wait(60 * TIME_SCALE) for one in formers], [0, 0])
        daemon.stop()

    def test_stop_at_once_waits_for_nobody(self):
        daemon = self.running()
        with self.downloading(daemon):
            former = self.upgrade(daemon)
            daemon.process.send_signal(signal.SIGTERM)
            daemon.log.wait("stopping: ")
            daemon.process.send_signal(signal.SIGINT)
            self.assertEqual(daemon.process.wait(60 * TIME_SCALE), 0)
            self.assertIsNone(former.poll())
        self.assertEqual(former.wait(60 * TIME_SCALE), 0)
        daemon.stop()

    LARGE = 24 << 20

    @contextlib.contextmanager
    def downloading(self, daemon):
        """A client in the middle of an answer."""
        with open(os.path.join(self.root, "large.bin"), "wb") as file:
            file.truncate(self.LARGE)
        with Connection(daemon.address, timeout=60, receive_buffer=8192) as connection:
            connection.send(request("/large.bin"))
            connection.read_head()
            yield connection

    def test_former_one_can_be_stopped(self):
        """It has nothing left but its connections, and takes none of the new one's sockets along."""
        daemon = self.running()
        with self.downloading(daemon):
            former = self.upgrade(daemon)
            former.send_signal(signal.SIGHUP)
            daemon.log.wait("another process serves now")
            former.send_signal(signal.SIGINT)
            self.assertEqual(former.wait(60 * TIME_SCALE), 0)
        self.assertEqual(fetch(daemon.address, "/small.bin").status, 200)
        daemon.stop()

    def test_environment_of_somebody_else_is_ignored(self):
        with self.make(env={"EVIXD_UPGRADE": "1 0 1 1"}) as daemon:
            self.assertEqual(fetch(daemon.address, "/small.bin").status, 200)


if __name__ == "__main__":
    suite.main(limit=120 + 6 * UPGRADES + DOWNLOAD_MIB)
