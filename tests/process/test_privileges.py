# SPDX-License-Identifier: MIT
"""What a worker still is and has once it serves, seen from /proc."""

import grp
import os
import pwd
import random
import re
import shutil
import signal
import socket
import tempfile
import unittest

import suite
import tree
from evixd import Daemon, configuration, host, wait_until
from wire import fetch

USER = "nobody"


def status(pid):
    """The fields of /proc/PID/status."""
    with open("/proc/%d/status" % pid, encoding="latin-1") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def targets(pid):
    """What all descriptors of a process lead to."""
    return [
        os.readlink("/proc/%d/fd/%s" % (pid, name)) for name in os.listdir("/proc/%d/fd" % pid)
    ]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def free_low_port():
    """One that only root may bind, where there are such."""
    for port in random.sample(range(600, 1024), 100):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise unittest.SkipTest("no low port is free")


class Site(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="evixd-root-")
        self.addCleanup(shutil.rmtree, self.root, True)
        os.chmod(self.root, 0o755)
        tree.write(self.root, "index.html", b"index")

    def daemon(self, workers=2, expect=(), **settings):
        settings = {"hosts": [host(self.root, {"path": "/"})], **settings}
        daemon = Daemon(config=configuration(**settings), workers=workers, expect=expect)
        os.chmod(daemon.folder, 0o755)
        self.addCleanup(daemon.kill)
        return daemon


class Worker(Site):
    """Whoever started it."""

    def test_nothing_can_be_gained_any_more(self):
        with self.daemon() as daemon:
            for pid in daemon.worker_pids:
                fields = status(pid)
                self.assertEqual(fields["NoNewPrivs"], "1")
                for name in ("CapInh", "CapBnd", "CapAmb"):
                    if name != "CapBnd" or os.geteuid() == 0:
                        self.assertEqual(int(fields[name], 16), 0, name)
            self.assertEqual(fetch(daemon.address, "/").body, b"index")

    def test_system_calls_are_filtered(self):
        with self.daemon(error_log={"target": "stderr", "level": "debug"}) as daemon:
            modes = {status(pid)["Seccomp"] for pid in daemon.worker_pids}
            absent = re.search(r"no filter of system calls: (.*)", daemon.log.text())
        if absent:
            self.skipTest(absent.group(1))
        self.assertEqual(modes, {"2"})

    def test_the_filter_can_be_switched_off(self):
        with self.daemon(seccomp=False) as daemon:
            before = status(os.getpid())["Seccomp"]
            for pid in daemon.worker_pids:
                self.assertEqual(status(pid)["Seccomp"], before)
            self.assertEqual(fetch(daemon.address, "/").body, b"index")

    def test_the_master_is_not_filtered(self):
        """It starts workers, and a successor of itself."""
        with self.daemon() as daemon:
            self.assertEqual(
                status(daemon.process.pid)["Seccomp"], status(os.getpid())["Seccomp"]
            )

    def test_descriptors_of_the_master_and_of_others_are_closed(self):
        with self.daemon(workers=3) as daemon:
            pids = daemon.worker_pids
            tables = [
                [target for target in targets(pid) if target.startswith("socket:")] for pid in pids
            ]
            for one, table in enumerate(tables):
                # its listener, and its end of the stream to the master
                self.assertEqual(len(table), 2, table)
                for other in tables[one + 1:]:
                    self.assertFalse(set(table) & set(other), "shared by two workers")

    def test_descriptors_that_the_master_was_started_with_are_closed(self):
        with tempfile.NamedTemporaryFile(prefix="evixd-secret-") as secret:
            with Daemon(directory=self.root, pass_fds=(secret.fileno(),)) as daemon:
                worker, = daemon.worker_pids
                self.assertIn(secret.name, targets(daemon.process.pid), "the master has it")
                self.assertNotIn(secret.name, targets(worker))


@unittest.skipUnless(os.geteuid() == 0, "only root can give privileges up")
class StartedAsRoot(Site):
    def started(self, **settings):
        group = {"group": "nogroup"} if "group" not in settings else {}
        return self.daemon(user=USER, **group, **settings)

    def test_workers_that_stay_root_are_told_of(self):
        with self.daemon() as daemon:
            self.assertEqual(daemon.log.text().count(
                'evixd: workers run as root; set user = "NAME" in a configuration file, or'), 1)
        with self.started() as daemon:
            self.assertNotIn("workers run as root", daemon.log.text())

    def test_workers_are_the_user_and_nobody_else(self):
        entry = pwd.getpwnam(USER)
        with self.started(group="daemon") as daemon:
            gid = grp.getgrnam("daemon").gr_gid
            for pid in daemon.worker_pids:
                fields = status(pid)
                self.assertEqual(fields["Uid"].split(), [str(entry.pw_uid)] * 4)
                self.assertEqual(fields["Gid"].split(), [str(gid)] * 4)
                self.assertLessEqual(
                    set(map(int, fields["Groups"].split())),
                    set(os.getgrouplist(USER, gid)),
                )
            self.assertEqual(status(daemon.process.pid)["Uid"].split(), ["0"] * 4)
            self.assertEqual(fetch(daemon.address, "/").body, b"index")

    def test_workers_have_no_capability(self):
        with self.started() as daemon:
            for pid in daemon.worker_pids:
                fields = status(pid)
                for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
                    self.assertEqual(int(fields[name], 16), 0, name)

    def test_a_successor_is_no_more_than_the_first(self):
        died = [r"worker 0 .*signal", "successor"]
        with self.started(workers=1, expect=died) as daemon:
            pid, = daemon.worker_pids
            os.kill(pid, signal.SIGKILL)
            wait_until(lambda: not os.path.exists("/proc/%d" % pid), "it is reaped")
            daemon.log.wait(r"successor starts")
            successor, = daemon.worker_pids
            self.assertEqual(fetch(daemon.address, "/").body, b"index")
            self.assertEqual(int(status(successor)["CapPrm"], 16), 0)
            self.assertNotEqual(status(successor)["Uid"].split()[0], "0")

    def test_low_port(self):
        """Bound by the master: the workers could not."""
        with self.started(listen=[{"address": "127.0.0.1:%d" % free_low_port()}]) as daemon:
            self.assertEqual(fetch(daemon.address, "/").body, b"index")

    def test_what_the_user_may_not_read_is_refused(self):
        tree.write(self.root, "secret.txt", b"secret")
        os.chmod(os.path.join(self.root, "secret.txt"), 0o600)
        with self.started() as daemon:
            self.assertEqual(fetch(daemon.address, "/secret.txt").status, 403)

    def test_logs_are_the_users(self):
        folder = tempfile.mkdtemp(prefix="evixd-log-")
        self.addCleanup(shutil.rmtree, folder, True)
        os.chmod(folder, 0o755)
        path = os.path.join(folder, "access.log")
        with self.started(
            workers=1, access_log={"target": path, "format": "common"}
        ) as daemon:
            self.assertEqual(fetch(daemon.address, "/").status, 200)
            os.rename(path, path + ".1")
            daemon.send_signal(signal.SIGUSR1)
            wait_until(lambda: os.path.exists(path), "the new file")
            self.assertEqual(fetch(daemon.address, "/").status, 200)
            wait_until(
                lambda: (read(path + ".1") + read(path)).count("GET") == 2, "a line for each"
            )
            self.assertEqual(os.stat(path).st_uid, pwd.getpwnam(USER).pw_uid)


if __name__ == "__main__":
    suite.main()
