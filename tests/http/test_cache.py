# SPDX-License-Identifier: MIT
"""Never stale: a change that was finished before a request was sent is seen by it; and files that
change while they are sent."""

import os
import shutil
import tempfile
import threading
import unittest

import suite
import tree
from evixd import Daemon, TestCase, configuration, descriptors, host, unless_poor, watched_inodes
from wire import Connection, WireError, fetch, request

SETTINGS = ("watch", "stat", "off")


class Site(TestCase):
    daemons = {}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.daemons = {"watch": cls.daemon}
        for setting in SETTINGS[1:]:
            daemon = cls.make(setting).start()
            cls.addClassCleanup(daemon.stop)
            cls.daemons[setting] = daemon

    @classmethod
    def serve(cls):
        return cls.make("watch")

    @classmethod
    def make(cls, setting):
        return Daemon(
            config=configuration(
                hosts=[host(cls.root, {"path": "/", "listing": True})], files={"cache": setting}
            ),
            expect=[r"ended early", r"shrank", r"shorter"],
        )


# What is done to file `path`, before which b"old" and after which the second is to be served;
# None: it is gone.
def overwrite(path):
    with open(path, "wb") as file:
        file.write(b"new content")
    return b"new content"


def same_size(path):
    with open(path, "r+b") as file:
        file.write(b"new")
    return b"new"


def append(path):
    with open(path, "ab") as file:
        file.write(b"er")
    return b"older"


def truncate(path):
    os.truncate(path, 1)
    return b"o"


def rename_over(path):
    tree.replace(path, b"renamed")
    return b"renamed"


def same_time(path):
    """As a deployment that restores times does."""
    status = os.stat(path)
    tree.replace(path, b"odd")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    return b"odd"


def remove(path):
    os.unlink(path)


def move_away(path):
    os.rename(path, path + ".away")


def become_directory(path):
    os.unlink(path)
    os.mkdir(path)
    tree.write(path, "index.html", b"index")
    return "redirect"


def through_hard_link(path):
    other = os.path.join(os.path.dirname(os.path.dirname(path)), "other-name")
    os.link(path, other)
    with open(other, "r+b") as file:
        file.write(b"new")
    os.unlink(other)
    return b"new"


def folder_swapped(path):
    folder = os.path.dirname(path)
    tree.write(folder + ".next", os.path.basename(path), b"next")
    os.rename(folder, folder + ".last")
    os.rename(folder + ".next", folder)
    return b"next"


def folder_removed(path):
    shutil.rmtree(os.path.dirname(path))


CHANGES = (overwrite, same_size, append, truncate, rename_over, same_time, remove, move_away,
           become_directory, through_hard_link, folder_swapped, folder_removed)


@suite.cases(
    [("%s: %s" % (setting, change.__name__), setting, change)
     for setting in SETTINGS for change in CHANGES]
)
class Changes(Site):
    def check(self, label, setting, change):
        """The very next request, on an open connection, sees it."""
        address = self.daemons[setting].address
        for round_number in range(5):
            folder = "%s-%d" % (label.replace(": ", "-"), round_number)
            path = tree.write(self.root, folder + "/deep/file.txt", b"old")
            target = "/" + folder + "/deep/file.txt"
            with Connection(address) as connection:
                for _ in range(3):
                    connection.send(request(target))
                    self.assertEqual(connection.read_response().body, b"old")
                expected = change(path)
                connection.send(request(target))
                response = connection.read_response()
            if expected is None:
                self.assertEqual(response.status, 404)
            elif expected == "redirect":
                self.assertIn(response.status, (301, 308))
            else:
                self.assertEqual((response.status, response.body), (200, expected))


@suite.cases([(setting, setting) for setting in SETTINGS])
class Appearing(Site):
    def check(self, setting, _setting):
        """What was 404 and is there now; an index that came; one that went."""
        address = self.daemons[setting].address
        os.mkdir(os.path.join(self.root, setting))
        with Connection(address) as connection:
            def get(target):
                connection.send(request("/" + setting + target))
                return connection.read_response()

            self.assertEqual(get("/late.txt").status, 404)
            tree.write(self.root, setting + "/late.txt", b"here")
            self.assertEqual(get("/late.txt").body, b"here")
            self.assertEqual(get("/folder/late.txt").status, 404)
            tree.write(self.root, setting + "/folder/late.txt", b"deep")
            self.assertEqual(get("/folder/late.txt").body, b"deep")
            self.assertIn(b"late.txt", get("/").body)
            tree.write(self.root, setting + "/index.html", b"index")
            self.assertEqual(get("/").body, b"index")
            os.unlink(os.path.join(self.root, setting, "index.html"))
            self.assertIn(b"late.txt", get("/").body)
            tree.write(self.root, setting + "/newer.txt", b"")
            self.assertIn(b"newer.txt", get("/").body)


@suite.cases([(setting, setting) for setting in SETTINGS])
class SymlinkSwap(Site):
    def check(self, setting, _setting):
        """A deployment by link is seen at once, and each answer is wholly old or new."""
        top = os.path.join(self.root, "swap-" + setting)
        for release in ("one", "two"):
            tree.write(top, release + "/page.txt", release * 1000)
        link = os.path.join(top, "current")
        os.symlink("one", link)
        with Connection(self.daemons[setting].address) as connection:
            for release in ("one", "two") * 20:
                os.symlink(release, link + ".new")
                os.rename(link + ".new", link)
                connection.send(request("/swap-%s/current/page.txt" % setting))
                self.assertEqual(connection.read_response().body, release.encode() * 1000)


class RootSwitch(TestCase):
    """The root itself is a link that a deployment switches."""

    @classmethod
    def serve(cls):
        for release in ("one", "two"):
            tree.write(cls.root, release + "/page.txt", release)
        os.symlink("one", os.path.join(cls.root, "current"))
        settings = {"hosts": [host(os.path.join(cls.root, "current"))]}
        if os.getuid() == 0:  # workers that are another user live in a sandbox
            os.chmod(cls.root, 0o755)
            settings["user"] = "nobody"
        return Daemon(config=configuration(**settings))

    @unless_poor("nothing is watched")
    def test_watched_after_every_switch(self):
        """Answers that are right by looking each time are not enough: the new root is watched."""
        link = os.path.join(self.root, "current")
        with Connection(self.address) as connection:
            for release in ("two", "one") * 5:
                os.symlink(release, link + ".new")
                os.rename(link + ".new", link)
                connection.send(request("/page.txt"))
                self.assertEqual(connection.read_response().body, release.encode())
                watched = watched_inodes(self.daemon.worker_pids[0])
                for path in (self.root, link, link + "/page.txt"):
                    self.assertIn(os.stat(path).st_ino, watched, path)


class OfMemory(TestCase):
    """A root in memory, as containers have them, is watched like any other."""

    @classmethod
    def setUpClass(cls):
        if not os.access("/dev/shm", os.W_OK):
            raise unittest.SkipTest("no /dev/shm to write to")
        super().setUpClass()

    @classmethod
    def serve(cls):
        cls.shm = tempfile.mkdtemp(prefix="evixd-root-", dir="/dev/shm")
        cls.addClassCleanup(shutil.rmtree, cls.shm, True)
        tree.write(cls.shm, "page.txt", "page")
        return Daemon(config=configuration(hosts=[host(cls.shm)]))

    @unless_poor("nothing is watched")
    def test_watched(self):
        self.assertEqual(fetch(self.address, "/page.txt").body, b"page")
        watched = watched_inodes(self.daemon.worker_pids[0])
        for path in ("/dev", "/dev/shm", self.shm, self.shm + "/page.txt"):
            self.assertIn(os.stat(path).st_ino, watched, path)


class Bounds(TestCase):
    """Cached files hold descriptors; connections must not want for them."""

    LIMIT = 400

    @classmethod
    def serve(cls):
        for i in range(cls.LIMIT):
            tree.write(cls.root, "%d.bin" % i, b"x" * 70000)
        return Daemon(config=configuration(hosts=[host(cls.root)]), descriptor_limit=cls.LIMIT,
                      expect=[r"limits.connections"])

    def test_cache_leaves_descriptors_for_connections(self):
        """It leaves more than half of the limit where connections may want all of it."""
        pid = self.daemon.worker_pids[0]
        before = descriptors(pid)
        with Connection(self.address) as connection:
            for i in range(self.LIMIT):
                connection.send(request("/%d.bin" % i, "HEAD"))
                self.assertEqual(connection.read_response("HEAD").status, 200)
            self.assertLess(descriptors(pid), before + self.LIMIT // 2)
            self.assertGreater(descriptors(pid), before + self.LIMIT // 8, "nothing was cached")


class WhileSent(Site):
    SIZE = 24 << 20

    def start_download(self, name):
        tree.write(self.root, name, b"x" * self.SIZE)
        connection = Connection(self.address, receive_buffer=8192)
        self.addCleanup(connection.close)
        connection.send(request("/" + name) + request("/" + name, "HEAD"))
        head = connection.read_head()
        self.assertEqual(head.get("Content-Length"), str(self.SIZE))
        return connection

    def test_shrinking_closes_short(self):
        """Never padded, and the next response never lands inside this body."""
        connection = self.start_download("shrink.bin")
        os.truncate(os.path.join(self.root, "shrink.bin"), 1 << 20)
        try:
            body = connection.read_to_end()
        except WireError:
            body = b""
        self.assertLess(len(body), self.SIZE)
        # What lies in the socket's queue are pages of the file: those the kernel itself clears.
        self.assertLessEqual(set(body), set(b"x\0"), "something else in the body")

    def test_growing_sends_what_was_promised(self):
        """A growing file: exactly the bytes that were promised."""
        connection = self.start_download("grow.bin")
        with open(os.path.join(self.root, "grow.bin"), "ab") as file:
            file.write(b"y" * (1 << 20))
        self.assertTrue(connection.take(self.SIZE) == b"x" * self.SIZE)
        self.assertEqual(connection.read_response("HEAD").status, 200)

    def test_replaced_goes_on_whole(self):
        connection = self.start_download("replace.bin")
        tree.replace(os.path.join(self.root, "replace.bin"), b"z" * self.SIZE)
        self.assertTrue(connection.take(self.SIZE) == b"x" * self.SIZE)
        self.assertEqual(connection.read_response("HEAD").status, 200)
        self.assertEqual(fetch(self.address, "/replace.bin").body[:1], b"z")

    def test_removed_goes_on_whole(self):
        connection = self.start_download("remove.bin")
        os.unlink(os.path.join(self.root, "remove.bin"))
        self.assertTrue(connection.take(self.SIZE) == b"x" * self.SIZE)
        self.assertEqual(connection.read_response("HEAD").status, 404)

    def test_emptied_in_a_loop(self):
        """Between one look and the next the file is empty, or is not: any of both is an answer."""
        path = tree.write(self.root, "flicker.bin", b"x" * 1000)
        stop = threading.Event()

        def flicker():
            with open(path, "r+b") as file:
                while not stop.is_set():
                    file.truncate(0)
                    file.truncate(1000)

        thread = threading.Thread(target=flicker)
        thread.start()
        try:
            for _ in range(500):
                try:
                    response = fetch(self.address, "/flicker.bin")
                    self.assertIn(len(response.body), (0, 1000))
                except (WireError, OSError):
                    pass  # cut short: the file was, too
        finally:
            stop.set()
            thread.join()
        self.assertEqual(fetch(self.address, "/other.bin").status, 404)

    def test_appended_in_a_loop(self):
        """Lengths and contents belong together, all the time."""
        path = tree.write(self.root, "log.txt", b"")
        stop = threading.Event()

        def append_lines():
            with open(path, "ab", buffering=0) as file:
                for _ in range(20000):
                    if stop.is_set():
                        return
                    file.write(b"0123456789abcdef\n")

        writer = threading.Thread(target=append_lines)
        writer.start()
        try:
            with Connection(self.address) as connection:
                for _ in range(300):
                    connection.send(request("/log.txt"))
                    body = connection.read_response().body
                    self.assertEqual(body, (b"0123456789abcdef\n" * (len(body) // 17 + 1))[: len(body)])
        finally:
            stop.set()
            writer.join()


if __name__ == "__main__":
    suite.main(limit=90)
