# SPDX-License-Identifier: MIT
"""Processes that die, under load: a worker costs what it had in hand, a master takes its workers."""

import os
import re
import shutil
import signal
import subprocess
import unittest

import suite
import tree
from evixd import (
    BACKEND, Daemon, TestCase, children, configuration, host, wait_until,
)
from load import Load, write_files
from wire import Connection, fetch, request

DIED = [r"worker \d+ .*ended by signal", "successor starts"]
# Sanitizers would take the signals that the tests send for faults of the daemon.
LEFT_ALONE = os.environ.get("ASAN_OPTIONS", "") + ":handle_segv=0:handle_abort=0"
# What a client sees whose connection was in the hands of a process that was killed.
CUT = re.compile("connection reset|connection ended|ConnectionReset|BrokenPipe")


class Site(TestCase):
    @classmethod
    def serve(cls):
        write_files(cls.root)
        return cls.make()

    @classmethod
    def make(cls, workers=1, expect=DIED, **settings):
        settings.setdefault("hosts", [host(cls.root, {"path": "/"})])
        text = configuration(workers=workers, backend=BACKEND, **settings)
        return Daemon(config=text, workers=None, expect=expect, env={"ASAN_OPTIONS": LEFT_ALONE})

    def running(self, **options):
        daemon = self.make(**options).start()
        self.addCleanup(daemon.kill)
        return daemon


class Workers(Site):
    def test_each_is_killed_in_turn(self):
        """Nobody is refused; whoever is cut was served by the one that died, and there are few."""
        daemon = self.running(workers=3)
        with Load(daemon.address) as load:
            for number in (signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT):
                pid = children(daemon.process.pid)[0]
                os.kill(pid, number)
                wait_until(lambda: pid not in children(daemon.process.pid) and
                           len(children(daemon.process.pid)) == 3, "its successor", timeout=60)
                load.goes_on()
            load.end()
            failures = load.failures
            for client in load.clients:
                client.failures = []
        for failure in failures:
            self.assertRegex(failure, CUT)
        # One connection a client, at most, is in the hands of the one that dies.
        self.assertLessEqual(len(failures), 3 * len(load.clients), failures)
        daemon.stop()

    def test_successor_serves_what_can_be_served(self):
        """What is there for one place keeps none of the others from being served."""
        lost = self.folder()
        log = os.path.join(self.folder(), "logs", "access.log")
        types = tree.write(self.folder(), "types", b"text/x-of-file bin\n")
        for name in ("root/x", "root/404"):
            tree.write(lost, name, b"there")
        os.mkdir(os.path.dirname(log))
        daemon = self.running(mime_types=types, hosts=[
            host(self.root, {"path": "/"}),
            host(lost + "/root", names=["lost"], default=False, access_log={"target": log},
                 error_pages=[{"status": 404, "file": "/404"}])],
            expect=DIED + ["access log .*No such file", "built-in media types",
                           "error_pages: .*the built-in page is sent"])

        def get(target, name):
            return fetch(daemon.address, target, host=name)

        self.assertEqual(get("/x", "lost").body, b"there")
        os.rename(lost + "/root", lost + "/away")
        os.rename(os.path.dirname(log), os.path.dirname(log) + ".away")
        os.unlink(types)
        former, = children(daemon.process.pid)
        os.kill(former, signal.SIGKILL)
        wait_until(lambda: children(daemon.process.pid) not in ([], [former]), "its successor")
        self.assertEqual(get("/small.bin", "test").status, 200)
        self.assertEqual(get("/x", "lost").status, 404)
        os.rename(lost + "/away", lost + "/root")
        os.rename(os.path.dirname(log) + ".away", os.path.dirname(log))
        self.assertEqual(get("/x", "lost").body, b"there")
        daemon.log.wait("written again")
        daemon.stop()
        with open(log, encoding="ascii") as file:
            self.assertRegex(file.read(), '"GET /x HTTP/1.1" 404 ')

    def test_reload_after_a_crash(self):
        daemon = self.running(workers=2)
        os.kill(children(daemon.process.pid)[0], signal.SIGKILL)
        daemon.send_signal(signal.SIGHUP)
        daemon.log.wait("in force", timeout=60)
        wait_until(lambda: len(children(daemon.process.pid)) == 2, "two workers", timeout=60)
        with Load(daemon.address) as load:
            load.goes_on()
        daemon.stop()

    def test_retired_one_that_dies_is_not_replaced(self):
        with open(os.path.join(self.root, "large.bin"), "wb") as file:
            file.truncate(24 << 20)
        daemon = self.running()
        former, = children(daemon.process.pid)
        with Connection(daemon.address, receive_buffer=8192) as connection:
            connection.send(request("/large.bin"))
            connection.read_head()
            daemon.send_signal(signal.SIGHUP)
            daemon.log.wait("in force")
            os.kill(former, signal.SIGKILL)
            daemon.log.wait(r"worker 0 \(%d\) was ended by signal 9" % former)
            wait_until(lambda: len(children(daemon.process.pid)) == 1, "one worker")
        self.assertNotIn("successor", daemon.log.text())
        daemon.send_signal(signal.SIGHUP)
        daemon.log.wait("in force", 2)
        daemon.stop()


def is_gone(pid):
    """Ended, or a zombie that only its new parent can reap."""
    try:
        with open("/proc/%d/stat" % pid, encoding="latin-1") as file:
            return file.read().rpartition(")")[2].split()[0] in "ZX"
    except FileNotFoundError:
        return True


class Master(Site):
    def test_workers_follow_however_it_dies(self):
        for number in (signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT):
            daemon = self.running(workers=2)
            workers = children(daemon.process.pid)
            daemon.send_signal(number)
            daemon.process.wait()
            for pid in workers:
                wait_until(lambda: is_gone(pid), "worker %d goes" % pid)
            daemon.kill()

    def test_workers_that_are_stopped_follow(self):
        """Whoever does not run cannot see that the master is gone, unless it is woken."""
        daemon = self.running(workers=2)
        workers = children(daemon.process.pid)
        for pid in workers:
            os.kill(pid, signal.SIGSTOP)
        daemon.process.kill()
        daemon.process.wait()
        for pid in workers:
            wait_until(lambda: is_gone(pid), "worker %d goes" % pid)
        daemon.kill()

    def test_workers_of_both_configurations_follow(self):
        with open(os.path.join(self.root, "large.bin"), "wb") as file:
            file.truncate(24 << 20)
        daemon = self.running(timeouts={"shutdown": 1})
        with Connection(daemon.address, receive_buffer=8192) as connection:
            connection.send(request("/large.bin"))
            connection.read_head()
            daemon.send_signal(signal.SIGHUP)
            daemon.log.wait("in force")
            workers = children(daemon.process.pid)
            self.assertEqual(len(workers), 2)
            daemon.process.kill()
            daemon.process.wait()
            for pid in workers:
                wait_until(lambda: is_gone(pid), "worker %d goes" % pid)
        daemon.kill()


class Container(Site):
    """Process 1 has no dispositions but those that it sets, and inherits everybody's children."""

    def setUp(self):
        command = ["unshare", "--pid", "--fork", "true"]
        if not shutil.which("unshare") or not shutil.which("nsenter") or \
                subprocess.run(command, capture_output=True, check=False).returncode:
            self.skipTest("a PID namespace takes unshare(1), nsenter(1) and the right to use them")

    def test_process_1(self):
        daemon = self.make(workers=2)
        daemon.command = ["unshare", "--pid", "--fork", "--kill-child=KILL"] + daemon.command
        daemon.expect.append("upgrade failed")
        daemon.start()
        self.addCleanup(daemon.kill)
        master, = children(daemon.process.pid)
        workers = children(master)
        # An orphan of the namespace ends, and is not left a zombie.
        subprocess.run(["nsenter", "-t", str(master), "-p", "sh", "-c", "sleep 0.01 & exit 0"],
                       check=True, timeout=30)
        wait_until(lambda: children(master) == workers, "the orphan is reaped")
        os.kill(master, signal.SIGHUP)
        daemon.log.wait("in force")
        os.kill(master, signal.SIGUSR2)
        daemon.log.wait("upgrade failed: process 1")
        self.assertEqual(fetch(daemon.address, "/small.bin").status, 200)
        os.kill(master, signal.SIGTERM)
        self.assertEqual(daemon.wait(), 0)


if __name__ == "__main__":
    suite.main(limit=120)
