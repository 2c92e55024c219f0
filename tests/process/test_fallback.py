# SPDX-License-Identifier: MIT
"""io_uring that is forbidden, too old, or short of memory: `auto` serves all the same, and says so.

So it is with files where openat2 is not there, and with their freshness where inotify is not.
"""

import ctypes
import errno
import os
import resource
import threading
import time
import unittest

import deprived
import suite
import tree
from evixd import Daemon, TestCase, configuration, features, host
from wire import Connection, fetch, request

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

    def make(self, workers=1, level="info"):
        self.files = self.folder()
        tree.write(self.files, "small.bin", b"small")
        tree.write(self.files, "large.bin", tree.content(1 << 20))
        return Daemon(
            config=configuration(hosts=[host(self.files, {"path": "/"})],
                                 error_log={"target": "stderr", "level": level}),
            arguments=("-b", "auto"), expect=[r"io_uring"], workers=workers,
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


@unittest.skipUnless(os.path.exists(FORBID), "no program to forbid it with was built")
class Told(Served):
    def test_once_for_all_workers(self):
        daemon = self.make(workers=4, level="notice")
        daemon.command[:0] = [FORBID, "setup", str(errno.EPERM)]
        with daemon:
            self.check(daemon)
            self.assertEqual(len(daemon.worker_pids), 4)
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


SECRET = b"it lies outside"

# label, the setting of symlinks, names that change places, the target, what is served, what else
# may come: a link or a folder that is none any more.
RACES = (
    ("a folder and a link out", "beneath", "docs", "trap", "/docs/file.txt", b"inside", (404,)),
    ("a folder and a link out, no links", "refuse", "docs", "trap", "/docs/file.txt", b"inside", (404,)),
    ("a file and a link out", "beneath", "docs/file.txt", "docs/lure", "/docs/file.txt", b"inside", (404,)),
    ("a file and a link out, no links", "refuse", "docs/file.txt", "docs/lure", "/docs/file.txt", b"inside",
     (404,)),
    ("a link that turns", "beneath", "swing", "swung", "/swing/file.txt", b"inside", (404,)),
    ("a folder that is moved out", "beneath", "docs/deep", "../away", "/docs/deep/up", b"inside", ()),
)
REQUESTS = 200


@suite.cases(RACES)
class Races(TestCase):
    """Names that change places while they are looked up step by step: nothing from outside is served."""

    @classmethod
    def setUpClass(cls):
        pass

    @classmethod
    def tearDownClass(cls):
        pass

    def make_tree(self):
        top = self.folder()
        root = os.path.join(top, "root")
        for name, content in (("root/docs/file.txt", b"inside"), ("root/docs/deep/x", b""),
                              ("file.txt", SECRET), ("away/x", b"")):
            tree.write(top, name, content)
        for name, link in (("root/trap", ".."), ("root/docs/lure", "../../file.txt"),
                           ("root/swing", "docs"), ("root/swung", ".."),
                           ("root/docs/deep/up", "../file.txt"), ("away/up", "../file.txt")):
            os.symlink(link, os.path.join(top, name))
        return root

    def exchange(self, root, left, right, is_over):
        libc = ctypes.CDLL(None, use_errno=True)
        left, right = (os.fsencode(os.path.join(root, name)) for name in (left, right))
        while not is_over.is_set():
            if libc.renameat2(-100, left, -100, right, 2) != 0:  # AT_FDCWD, RENAME_EXCHANGE
                self.errors.append(os.strerror(ctypes.get_errno()))
                return
            time.sleep(0)  # the interpreter's lock

    def check(self, _label, symlinks, left, right, target, content, others):
        root = self.make_tree()
        is_over, self.errors = threading.Event(), []
        with Daemon(
            config=configuration(hosts=[host(root, {"path": "/"})], files={"symlinks": symlinks}),
            arguments=("-b", "epoll"), forbidden=Steps.forbidden,
        ) as daemon:
            thread = threading.Thread(target=self.exchange, args=(root, left, right, is_over))
            thread.start()
            try:
                self.attack(daemon, target, content, others)
            finally:
                is_over.set()
                thread.join()
        self.assertEqual(self.errors, [])

    def attack(self, daemon, target, content, others):
        """On and on until both states have been seen; the module's time limit ends what does not."""
        seen = set()
        with Connection(daemon.address) as client:
            count = 0
            while count < REQUESTS or len(seen) < 1 + len(others):
                client.send(request(target))
                answer = client.read_response()
                seen.add(answer.status)
                count += 1
                self.assertNotIn(SECRET, answer.body)
                self.assertIn(answer.status, (200, *others))
                if answer.status == 200:
                    self.assertEqual(answer.body, content)


if __name__ == "__main__":
    suite.main()
