# SPDX-License-Identifier: MIT
"""io_uring that is forbidden, too old, or short of memory: `auto` serves all the same, and says so.

So it is with files where openat2 is not there, and with their freshness where inotify is not.
"""

import errno
import os
import resource
import unittest

import deprived
import suite
import tree
from evixd import Daemon, TestCase, configuration, features, host
from wire import fetch

FORBID = os.path.abspath("tests/process/forbid_call")

# label, the system call that fails, and how
ROWS = (
    ("forbidden by a filter or the sysctl", "setup", errno.EPERM),
    ("not in the kernel", "setup", errno.ENOSYS),
    ("older than what is asked for", "setup", errno.EINVAL),
    ("not enough memory that may be locked", "setup", errno.ENOMEM),
    ("rings may be made and not entered", "enter", errno.EPERM),
    ("rings may be made and not furnished", "register", errno.EPERM),
    ("rings have no buffers", "register", errno.EINVAL),
)


@unittest.skipUnless("io_uring" in features(), "io_uring is not built in")
class Served(TestCase):
    @classmethod
    def setUpClass(cls):
        pass

    @classmethod
    def tearDownClass(cls):
        pass

    def make(self):
        self.files = self.folder()
        tree.write(self.files, "small.bin", b"small")
        tree.write(self.files, "large.bin", tree.content(1 << 20))
        return Daemon(
            config=configuration(hosts=[host(self.files, {"path": "/"})]),
            arguments=("-b", "auto"), expect=[r"io_uring"],
        )

    def check(self, daemon):
        for _ in range(3):
            self.assertEqual(fetch(daemon.address, "/small.bin").body, b"small")
            self.assertTrue(fetch(daemon.address, "/large.bin").body == tree.content(1 << 20))


@suite.cases(ROWS)
@unittest.skipUnless(os.path.exists(FORBID), "no program to forbid it with was built")
class Forbidden(Served):
    def check(self, _label, call, error):
        daemon = self.make()
        daemon.command[:0] = [FORBID, call, str(error)]
        with daemon:
            pid, = daemon.worker_pids
            super().check(daemon)
            self.assertEqual(daemon.worker_pids, [pid], "it did not die of it")
            said = [line for line in daemon.log.lines if "backend io_uring is not available" in line]
            self.assertEqual(len(said), 1, daemon.log.text())


class Locked(Served):
    def test_no_memory_may_be_locked(self):
        """Since 5.12 rings do not count; before, another backend is taken."""
        soft, hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, hard))
        try:
            with self.make() as daemon:
                self.check(daemon)
        finally:
            resource.setrlimit(resource.RLIMIT_MEMLOCK, (soft, hard))


class Steps(TestCase):
    """No openat2, as by a unit with RestrictSUIDSGID= or DynamicUser=, and before Linux 5.6; and no
    ring, which would open files in its place: a filter does not see what a ring does."""

    forbidden = {**deprived.OPENAT2, **deprived.IO_URING}
    backend = "auto"
    said = [r"openat2\(2\) is not available", r"io_uring is not available"]

    @classmethod
    def serve(cls):
        tree.write(cls.root, "index.html", b"index")
        tree.write(cls.root, "folder/file.txt", b"file")
        os.symlink("folder/file.txt", os.path.join(cls.root, "beneath"))
        os.symlink("/etc/passwd", os.path.join(cls.root, "outside"))
        return Daemon(
            config=configuration(hosts=[host(cls.root, {"path": "/", "listing": True})]),
            arguments=("-b", cls.backend), expect=["io_uring", "inotify|watch"],
            forbidden=cls.forbidden,
        )

    def test_all_is_served(self):
        for target, status, content in (
            ("/", 200, b"index"), ("/folder/", 200, b"file.txt"), ("/folder/file.txt", 200, b"file"),
            ("/beneath", 200, b"file"), ("/outside", 404, b""), ("/none", 404, b""),
        ):
            with self.subTest(target):
                answer = fetch(self.address, target)
                self.assertEqual(answer.status, status)
                self.assertIn(content, answer.body)

    def test_nothing_is_stale(self):
        path = os.path.join(self.root, "folder", "changing")
        for number in range(5):
            tree.replace(path, b"%d" % number)
            self.assertEqual(fetch(self.address, "/folder/changing").body, b"%d" % number)

    def test_the_log_says_what_is_missing(self):
        for pattern in self.said:
            self.daemon.log.wait(pattern)


class StepsOfReadiness(Steps):
    """On a backend that never had a ring of its own."""

    backend = "epoll"
    said = [r"openat2\(2\) is not available", r"go through threads, io_uring is not available"]


class Openat2(Steps):
    """Without openat2 alone, where there is a ring."""

    forbidden = deprived.OPENAT2
    said = [r"openat2\(2\) is not available"]


class Openat2Refused(Steps):
    """Container runtimes used to say EPERM of a call that they do not know."""

    forbidden = {"openat2": errno.EPERM, "io_uring_setup": errno.EPERM}


class NoWatchesLeft(Steps):
    forbidden = {**Steps.forbidden, **deprived.WATCHES}


class NoInotify(Steps):
    """fs.inotify.max_user_instances is used up."""

    forbidden = {**Steps.forbidden, "inotify_init1": errno.EMFILE}


if __name__ == "__main__":
    suite.main()
