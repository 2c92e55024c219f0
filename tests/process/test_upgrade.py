# SPDX-License-Identifier: MIT
"""USR2: the program that is installed now takes the sockets over, or the one that runs goes on.

Under constant load; not one request may fail. UPGRADES says how many follow one another.
"""

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import unittest

import suite
import tree
from evixd import (
    BACKEND, EVIXD, Daemon, TestCase, children, configuration, descriptors, host, wait_until,
)
from load import Load, write_files
from suite import TIME_SCALE
from wire import Connection, WireError, fetch, request

UPGRADES = int(os.environ.get("UPGRADES", "10"))
DOWNLOAD_MIB = int(os.environ.get("DOWNLOAD_MIB", "64"))
TAKEN = r"serving in the place of process (\d+)"
FAILED = "upgrade failed"
_PR_SET_CHILD_SUBREAPER = 36


class Process:
    """A process that became ours when its parent ended; used as a subprocess.Popen."""

    def __init__(self, pid, former):
        self.pid = pid
        self.stderr, self.stdout = former.stderr, former.stdout
        self.returncode = None

    def poll(self):
        if self.returncode is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:  # the former one's child still, and its to wait for
                if not os.path.exists("/proc/%d" % self.pid):
                    self.returncode = 0  # which nobody but it has seen
                return self.returncode
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


class Site(TestCase):
    @classmethod
    def setUpClass(cls):
        # So that the new one is ours to wait for when its parent, the former one, has ended.
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        super().setUpClass()

    @classmethod
    def serve(cls):
        write_files(cls.root)
        return cls.make()

    @classmethod
    def text(cls, workers=1, shutdown=60, **settings):
        settings.setdefault("hosts", [host(cls.root, {"path": "/"})])
        return configuration(
            workers=workers, backend=BACKEND, timeouts={"shutdown": shutdown}, **settings
        )

    @classmethod
    def make(cls, expect=(), listeners=1, **settings):
        return Daemon(config=cls.text(**settings), workers=None, expect=expect, listeners=listeners)

    def running(self, **options):
        daemon = self.make(**options).start()
        self.addCleanup(daemon.kill)
        return daemon

    def write(self, daemon, **settings):
        with open(daemon.config_path, "w", encoding="utf-8") as file:
            file.write(self.text(**settings))

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
        new = wait_until(lambda: len(children(daemon.process.pid)) == 2 and
                         children(daemon.process.pid), "the new program")
        daemon.process.send_signal(signal.SIGTERM)
        self.assertEqual(daemon.wait(), 0)
        for pid in new:
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            except (ProcessLookupError, ChildProcessError):
                pass


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
        size = 24 << 20
        with open(os.path.join(self.root, "large.bin"), "wb") as file:
            file.truncate(size)
        daemon = self.running()
        with Connection(daemon.address, receive_buffer=8192) as connection:
            connection.send(request("/large.bin"))
            connection.read_head()
            former = self.upgrade(daemon)
            self.assertEqual(fetch(daemon.address, "/empty.bin").body, b"")
            self.assertIsNone(former.poll())
            self.assertTrue(connection.take(size) == bytes(size))
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

    def test_former_one_can_be_stopped(self):
        """It has nothing left but its connections, and takes none of the new one's sockets along."""
        size = 24 << 20
        with open(os.path.join(self.root, "large.bin"), "wb") as file:
            file.truncate(size)
        daemon = self.running()
        with Connection(daemon.address, receive_buffer=8192) as connection:
            connection.send(request("/large.bin"))
            connection.read_head()
            former = self.upgrade(daemon)
            former.send_signal(signal.SIGHUP)
            daemon.log.wait("another process serves now")
            former.send_signal(signal.SIGINT)
            self.assertEqual(former.wait(60 * TIME_SCALE), 0)
        self.assertEqual(fetch(daemon.address, "/small.bin").status, 200)
        daemon.stop()

    def test_environment_of_somebody_else_is_ignored(self):
        daemon = Daemon(config=self.text(), workers=None, env={"EVIXD_UPGRADE": "0 1 1"})
        with daemon:
            self.assertEqual(fetch(daemon.address, "/small.bin").status, 200)
            with open("/proc/%d/environ" % children(daemon.process.pid)[0], "rb"):
                pass


if __name__ == "__main__":
    suite.main(limit=180)
