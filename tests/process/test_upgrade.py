# SPDX-License-Identifier: MIT
"""USR2: the program that is installed now takes the sockets over, or the one that runs goes on.

Under constant load; not one request may fail. UPGRADES says how many follow one another.
"""

import contextlib
import ctypes
import errno
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
FORBID = os.path.abspath("tests/process/forbid_call")
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


def has_ended(pid):
    """Whoever reaps it: its parent may have, before it ended itself and left it to us."""
    return not os.path.exists("/proc/%d" % pid) or is_ours(pid)


def name_of(pid):
    """Of the program that a process executes."""
    with open("/proc/%d/comm" % pid, encoding="utf-8") as file:
        return file.read()


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


    def program(self):
        """A copy that the test may break."""
        path = os.path.join(self.folder(), "evixd")
        shutil.copy(EVIXD, path)
        daemon = self.make(expect=["the new program", FAILED, "cannot execute"])
        daemon.command[0] = path
        daemon.start()
        self.addCleanup(daemon.kill)
        return daemon, path

    def hold_program(self, path, command):
        """The next program stops by itself, then becomes `command`."""
        tree.replace(path, b"#!/bin/sh\nkill -STOP $$\nexec %s\n" % command.encode())
        os.chmod(path, 0o755)

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

    @unittest.skipUnless(os.path.exists(FORBID), "no program to forbid it with was built")
    def test_program_that_is_not_known(self):
        """Started by its bare name, where /proc is not mounted."""
        daemon = self.make(
            expect=["where the program is", FAILED],
            env={"PATH": os.path.dirname(EVIXD) + ":" + os.environ["PATH"]},
        )
        daemon.command[:1] = [
            FORBID, "readlink", str(errno.ENOENT), "/usr/bin/env", os.path.basename(EVIXD)
        ]
        daemon.start()
        self.addCleanup(daemon.kill)
        self.check(daemon, "upgrade failed: where the program is, is not known")
        self.assertNotIn("to take over", daemon.log.text())
        daemon.stop()

    def test_program_that_dies(self):
        daemon, path = self.program()
        tree.replace(path, b"#!/bin/sh\nkill -KILL $$\n")
        os.chmod(path, 0o755)
        self.check(daemon, r"was ended by signal 9")
        daemon.stop()

    def test_stop_in_the_middle(self):
        """The new one ends, too, however far it has come, and the port is free."""
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number):
                daemon, path = self.program()
                self.hold_program(path, "sleep 60")
                daemon.send_signal(signal.SIGUSR2)
                new = self.stopped_program(daemon)
                os.kill(new, signal.SIGCONT)  # signals that it would end by are blocked, and wait
                wait_until(lambda: "sleep" in name_of(new), "it hangs")
                daemon.process.send_signal(number)
                self.assertEqual(daemon.process.wait(60 * TIME_SCALE), 0)
                wait_until(lambda: has_ended(new), "it has ended")
                self.assertRaises(ConnectionRefusedError, Connection, daemon.address)
                daemon.close()

    def test_nobody_is_left_to_see_it_fail(self):
        """Then it is not waited for."""
        daemon, path = self.program()
        self.hold_program(path, "sleep 60")
        daemon.send_signal(signal.SIGUSR2)
        new = self.stopped_program(daemon)
        os.kill(parent(new), signal.SIGKILL)
        daemon.log.wait(FAILED, timeout=60)
        wait_until(lambda: has_ended(new), "it has ended")
        tree.replace(path, tree.read(EVIXD))
        os.chmod(path, 0o755)
        self.assertEqual(self.upgrade(daemon).wait(60 * TIME_SCALE), 0)
        daemon.stop()

    def test_former_one_dies_while_the_new_one_starts(self):
        """It serves all the same, and who connects meanwhile waits for it."""
        daemon, path = self.program()
        daemon.expect.append("the master is gone")
        self.hold_program(path, '%s "$@"' % EVIXD)
        daemon.send_signal(signal.SIGUSR2)
        new, between = self.stopped_program(daemon), children(daemon.process.pid)
        daemon.process.send_signal(signal.SIGKILL)
        daemon.process.wait(60 * TIME_SCALE)
        for pid in between:  # the workers and what attends the new one, which follow
            wait_until(lambda: has_ended(pid), "%d ends" % pid)
        with Connection(daemon.address, timeout=60) as connection:
            connection.send(request("/small.bin"))
            os.kill(new, signal.SIGCONT)
            self.assertEqual(connection.read_response().status, 200)
        daemon.process = Process(new, daemon.process)
        daemon.stop()

# label, the order, and what the new program says when it has it
ORDERS = (
    ("HUP", signal.SIGHUP, r" %d: the new configuration is in force"),
    ("USR1", signal.SIGUSR1, r"(?: %d|^evixd): opening the logs anew"),
    ("USR2", signal.SIGUSR2, r"serving in the place of process %d$"),
)


@suite.cases(ORDERS)
class OrdersWhileItStarts(Site):
    """Whoever sends them cannot know how far an upgrade has come: the new program obeys them."""

    def check(self, _label, number, pattern):
        daemon, path = self.program()
        self.hold_program(path, '%s "$@"' % EVIXD)
        daemon.send_signal(signal.SIGUSR2)
        new = self.stopped_program(daemon)
        tree.replace(path, tree.read(EVIXD))
        os.chmod(path, 0o755)
        daemon.send_signal(number)
        os.kill(new, signal.SIGCONT)
        daemon.log.wait(pattern % new, timeout=60)
        self.finish(daemon, new)

    def finish(self, daemon, new):
        former = daemon.process
        last = [line[1] for line in daemon.log.wait(r" (\d+): serving in the place")][-1]
        daemon.process = Process(int(last), former)
        self.assertEqual(former.wait(60 * TIME_SCALE), 0)
        if int(last) != new:
            self.assertEqual(Process(new, former).wait(60 * TIME_SCALE), 0)
        self.assertEqual(fetch(daemon.address, "/small.bin").status, 200)
        daemon.stop()


@suite.cases(ORDERS)
class OrdersToTheFormerOne(OrdersWhileItStarts):
    """Until all know its number, the new program's orders come to the former one."""

    def check(self, _label, number, pattern):
        daemon = self.running()
        with self.downloading(daemon):
            former = self.upgrade(daemon)
            former.send_signal(number)
            daemon.log.wait(pattern % daemon.process.pid, timeout=60)
            new, daemon.process = daemon.process.pid, former
        self.finish(daemon, new)


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

    def test_worker_that_is_stuck_holds_up_nobody(self):
        """The new one's worker answers what waits, and has its share, though the former one had none."""
        daemon = self.running(workers=2, expect=["has not responded for a second"])
        pid = children(daemon.process.pid)[-1]
        os.kill(pid, signal.SIGSTOP)
        waiting = [Connection(daemon.address, timeout=60) for _ in range(40)]
        for client in waiting:
            self.addCleanup(client.close)
            client.send(request("/small.bin"))
        daemon.log.wait(r"worker \d+ \(%d\) is away" % pid)
        former = self.upgrade(daemon)
        for client in waiting:
            self.assertEqual(client.read_response().status, 200)
            client.close()
        for _ in range(40):
            self.assertEqual(fetch(daemon.address, "/small.bin").status, 200)
        self.assertIsNone(former.poll())
        os.kill(pid, signal.SIGCONT)
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

    def test_former_one_can_be_stopped(self):
        """It has nothing left but its connections, and takes none of the new one's sockets along."""
        daemon = self.running()
        with self.downloading(daemon):
            former = self.upgrade(daemon)
            former.send_signal(signal.SIGINT)
            self.assertEqual(former.wait(60 * TIME_SCALE), 0)
        self.assertEqual(fetch(daemon.address, "/small.bin").status, 200)
        daemon.stop()

    def test_environment_of_somebody_else_is_ignored(self):
        with self.make(env={"EVIXD_UPGRADE": "1 0 1 1"}) as daemon:
            self.assertEqual(fetch(daemon.address, "/small.bin").status, 200)


if __name__ == "__main__":
    suite.main(limit=120 + 6 * UPGRADES + DOWNLOAD_MIB)
