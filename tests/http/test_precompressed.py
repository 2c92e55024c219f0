# SPDX-License-Identifier: MIT
"""Precompressed siblings: which is chosen, what its answer says, and that none is ever stale.

Siblings hold bytes that nothing could unpack, so that each answer shows where it came from.
"""

import os
import socket
import time

import suite
import tree
from evixd import Daemon, TestCase, configuration, host, wait_until
from wire import Connection, exchange, fetch, request

WHOLE = b"the file itself, which is the longest of them all\n" * 40
PACKED = {"br": b"brotli" * 20, "zstd": b"zstandard" * 20, "gzip": b"gnu zip" * 20}
SUFFIX = {"br": ".br", "zstd": ".zst", "gzip": ".gz"}
OLD, NEW = 1700000000, 1700000100
FRACTION = 123456789  # whole seconds look like a file system that rounds, and are not trusted long


def lay(root, name, codings=("br", "zstd", "gzip"), modified=NEW, whole=OLD):
    """A file and its siblings, with their times."""
    path = tree.write(root, name, WHOLE)
    os.utime(path, ns=(whole * 10**9 + FRACTION,) * 2)
    for coding in codings:
        sibling = tree.write(root, name + SUFFIX[coding], PACKED[coding])
        os.utime(sibling, ns=(modified * 10**9 + FRACTION,) * 2)
    return path


def settle(path):
    """Waits until the clock of time stamps has moved on: before that, a cache that goes by them
    keeps nothing, and a test of what it keeps would pass for nothing."""
    then = os.stat(path).st_ctime_ns
    wait_until(lambda: time.time_ns() > then + 50_000_000, "a later time stamp")


class Site(TestCase):
    @classmethod
    def serve(cls):
        lay(cls.root, "all.js")
        lay(cls.root, "gzip.css", ("gzip",))
        lay(cls.root, "index/index.html", ("gzip", "br"))
        lay(cls.root, "plain.txt", ())
        lay(cls.root, "photo.png")
        lay(cls.root, "old.js", modified=OLD - 1)
        lay(cls.root, "same.js", modified=OLD)
        lay(cls.root, "off/all.js")
        lay(cls.root, "vary/all.js")
        lay(cls.root, "varied/all.js")
        lay(cls.root, "linked.js", ())
        outside = tree.write(cls.root + ".outside", "secret.gz", b"secret")
        cls.addClassCleanup(os.rmdir, cls.root + ".outside")
        cls.addClassCleanup(os.unlink, outside)
        os.symlink(outside, os.path.join(cls.root, "linked.js.gz"))
        lay(cls.root, "inside.js", ())
        os.symlink("all.js.gz", os.path.join(cls.root, "inside.js.gz"))
        for name in ("fifo.js", "folder.js", "socket.js", "dangling.js"):
            lay(cls.root, name, ())
        os.mkfifo(os.path.join(cls.root, "fifo.js.gz"))
        os.mkdir(os.path.join(cls.root, "folder.js.gz"))
        os.symlink("nowhere", os.path.join(cls.root, "dangling.js.gz"))
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(os.path.join(cls.root, "socket.js.gz"))
        cls.addClassCleanup(listener.close)
        locations = (
            {"path": "/off/", "precompressed": False},
            {"path": "/vary/", "headers": {"Vary": "Origin"}},
            {"path": "/varied/", "headers": {"Vary": "accept-encoding, Origin"}},
        )
        return Daemon(config=configuration(hosts=[host(cls.root, *locations)]))

    def get(self, target, accept=None, method="GET", fields=()):
        fields = list(fields) + ([] if accept is None else ["Accept-Encoding: " + accept])
        return fetch(self.address, target, method, fields)

    def expect(self, response, coding, status=200, varies=True):
        self.assertEqual(response.status, status)
        self.assertEqual(response.get("Content-Encoding"), coding)
        vary = [v.strip().lower() for line in response.all("Vary") for v in line.split(",")]
        self.assertEqual(vary.count("accept-encoding"), 1 if varies else 0)


# label, target, Accept-Encoding, Content-Encoding of the answer (a number: its status), Vary
CHOICES = (
    ("12.5.3 no field is identity", "/all.js", None, None, True),
    ("12.5.3 an empty field is identity", "/all.js", "", None, True),
    ("12.5.3 one that is there", "/all.js", "gzip", "gzip", True),
    ("12.5.3 equal weights: br, zstd, gzip", "/all.js", "gzip, deflate, br, zstd", "br", True),
    ("12.5.3 equal weights without br", "/all.js", "gzip, zstd", "zstd", True),
    ("12.4.2 the heaviest", "/all.js", "br;q=0.2, gzip;q=0.9, zstd;q=0.5", "gzip", True),
    ("12.4.2 q=0 is refused", "/all.js", "br;q=0, gzip", "gzip", True),
    ("12.4.2 all refused", "/all.js", "br;q=0, gzip;q=0, zstd;q=0.000", None, True),
    ("12.5.3 identity weighs more", "/all.js", "gzip;q=0.5, identity", None, True),
    ("12.5.3 identity weighs the same", "/all.js", "gzip, identity", "gzip", True),
    ("12.5.3 star", "/all.js", "*", "br", True),
    ("12.5.3 star but one", "/all.js", "*;q=0.5, br;q=0", "zstd", True),
    ("12.5.3 star refuses the rest", "/all.js", "gzip, *;q=0", "gzip", True),
    ("9110 8.4.1 any case", "/all.js", "GZip", "gzip", True),
    ("9110 8.4.1.3 x-gzip", "/all.js", "x-gzip", "gzip", True),
    ("none that it has", "/gzip.css", "br, zstd", None, True),
    ("the one that it has", "/gzip.css", "br, zstd, gzip;q=0.1", "gzip", True),
    ("identity refused, and a sibling", "/gzip.css", "gzip, identity;q=0", "gzip", True),
    ("15.5.7 identity refused, and none that fits", "/gzip.css", "br, identity;q=0", 406, True),
    ("15.5.7 identity refused, and none at all", "/plain.txt", "gzip, identity;q=0", 406, True),
    ("15.5.7 star refuses identity", "/plain.txt", "*;q=0", 406, True),
    ("identity named beside a refusing star", "/plain.txt", "identity;q=0.1, *;q=0", None, False),
    ("an index file", "/index/", "gzip", "gzip", True),
    ("an index file without field", "/index/", None, None, True),
    ("no sibling, no Vary", "/plain.txt", "gzip, br", None, False),
    ("types that are packed already", "/photo.png", "gzip, br", None, False),
    ("what is never packed is not refused", "/photo.png", "gzip, identity;q=0", None, False),
    ("a sibling older than its file", "/old.js", "gzip, br", None, False),
    ("a sibling as old as its file", "/same.js", "br", "br", True),
    ("switched off", "/off/all.js", "gzip, br", None, False),
    ("switched off, nothing is refused", "/off/all.js", "identity;q=0", None, False),
    ("a configured Vary", "/vary/all.js", "br", "br", True),
    ("a configured Vary that has it", "/varied/all.js", "br", "br", True),
    ("a sibling that leads out of the root", "/linked.js", "gzip", None, False),
    ("a sibling that leads elsewhere beneath it", "/inside.js", "gzip", "gzip", True),
    ("a FIFO is no sibling", "/fifo.js", "gzip", None, False),
    ("a folder is no sibling", "/folder.js", "gzip", None, False),
    ("a socket is no sibling", "/socket.js", "gzip", None, False),
    ("a link to nowhere is no sibling", "/dangling.js", "gzip", None, False),
)


@suite.cases(CHOICES)
class Choices(Site):
    def check(self, _label, target, accept, expected, varies):
        """GET twice (filled, then cached), HEAD, and one part of it."""
        if isinstance(expected, int):
            for method, fields in (("GET", ()), ("HEAD", ()), ("GET", ["Range: bytes=0-9"])):
                self.expect(self.get(target, accept, method, fields), None, expected, varies)
            return
        content = WHOLE if expected is None else PACKED[expected]
        whole = self.get(target, accept)
        for response in (whole, self.get(target, accept), self.get(target, accept, "HEAD")):
            self.expect(response, expected, 200, varies)
            self.assertEqual(response.get("Content-Length"), str(len(content)))
            self.assertEqual(response.get("ETag"), whole.get("ETag"))
        self.assertEqual(whole.body, content)
        part = self.get(target, accept, fields=["Range: bytes=5-14", "If-Range: " + whole.get("ETag")])
        self.expect(part, expected, 206, varies)
        self.assertEqual(part.body, content[5:15])
        self.assertEqual(part.get("Content-Range"), "bytes 5-14/%d" % len(content))
        current = self.get(target, accept, fields=["If-None-Match: " + whole.get("ETag")])
        self.expect(current, None, 304, varies)
        self.assertEqual(current.get("ETag"), whole.get("ETag"))


class Answers(Site):
    def test_each_has_its_own_strong_tag(self):
        """8.8.3.3: representations that differ in coding differ in their tags."""
        tags = {self.get("/all.js", accept).get("ETag") for accept in (None, "br", "zstd", "gzip")}
        self.assertEqual(len(tags), 4)
        self.assertFalse([tag for tag in tags if tag.startswith("W/")])

    def test_errors_that_stand_in_for_it_vary_as_well(self):
        for accept in (None, "br", "gzip"):
            for field, status in ("Range: bytes=9999999-", 416), ('If-Match: "x"', 412):
                self.expect(self.get("/all.js", accept, fields=[field]), None, status)
                self.expect(self.get("/plain.txt", accept, fields=[field]), None, status, False)

    def test_a_tag_of_another_coding_is_no_match(self):
        """13.1.2, 13.1.5: conditions look at what was chosen."""
        tag = self.get("/all.js").get("ETag")
        self.expect(self.get("/all.js", "br", fields=["If-None-Match: " + tag]), "br")
        self.expect(self.get("/all.js", "br", fields=["Range: bytes=0-1", "If-Range: " + tag]), "br")
        self.assertEqual(self.get("/all.js", "br", fields=["If-Match: " + tag]).status, 412)

    def test_equal_bytes_are_two_representations(self):
        tree.write(self.root, "equal.js", WHOLE)
        tree.write(self.root, "equal.js.gz", WHOLE)
        tags = [self.get("/equal.js", accept).get("ETag") for accept in (None, "gzip")]
        self.assertNotEqual(*tags)

    def test_equal_times_and_sizes_are_two_representations(self):
        """Large files are told by size and time, which siblings may share."""
        for suffix in ("", ".gz", ".br"):
            path = tree.write(self.root, "large.js" + suffix, b"x" * 200000)
            os.utime(path, (OLD, OLD))
        tags = {self.get("/large.js", accept).get("ETag") for accept in (None, "gzip", "br")}
        self.assertEqual(len(tags), 3)

    def test_the_type_is_that_of_the_file(self):
        for name, kind in (("all.js", "text/javascript"), ("gzip.css", "text/css"), ("index/", "text/html")):
            for accept in (None, "gzip"):
                self.assertEqual(
                    self.get("/" + name, accept).get("Content-Type"), kind + "; charset=utf-8")

    def test_a_direct_request_is_for_the_archive(self):
        """8.4: the archive itself is the resource, whatever is accepted."""
        types = {"br": "application/x-brotli", "zstd": "application/zstd", "gzip": "application/gzip"}
        for coding, kind in types.items():
            for accept in (None, "gzip, br, zstd", "identity;q=0"):
                response = self.get("/all.js" + SUFFIX[coding], accept)
                self.expect(response, None, varies=False)
                self.assertEqual((response.body, response.get("Content-Type")), (PACKED[coding], kind))

    def test_only_siblings_without_the_file_is_404(self):
        tree.write(self.root, "alone.js.gz", PACKED["gzip"])
        self.assertEqual(self.get("/alone.js", "gzip").status, 404)

    def test_a_sibling_larger_than_the_file(self):
        """The length is that of the file that is sent."""
        tree.write(self.root, "tiny.js", b"x")
        tree.write(self.root, "tiny.js.br", b"much longer than x")
        self.assertEqual(self.get("/tiny.js", "br").body, b"much longer than x")
        self.assertEqual(self.get("/tiny.js").body, b"x")

    def test_an_empty_sibling(self):
        tree.write(self.root, "empty.js", b"x")
        tree.write(self.root, "empty.js.br", b"")
        response = self.get("/empty.js", "br")
        self.expect(response, "br")
        self.assertEqual(response.get("Content-Length"), "0")

    def test_large_siblings(self):
        """Sent from their descriptors, in parts as well."""
        data = tree.content(1 << 20)
        tree.write(self.root, "big.json", b"x" * (3 << 20))
        tree.write(self.root, "big.json.zst", data)
        self.assertEqual(self.get("/big.json", "zstd").body, data)
        part = self.get("/big.json", "zstd", fields=["Range: bytes=-1000"])
        self.assertEqual(part.body, data[-1000:])

    def test_a_sibling_that_may_not_be_read(self):
        if os.getuid() == 0:
            self.skipTest("root may read everything")
        path = lay(self.root, "private.js", ("br", "gzip")) + ".br"
        os.chmod(path, 0)
        self.expect(self.get("/private.js", "br, gzip"), "gzip")
        os.chmod(path, 0o644)
        self.expect(self.get("/private.js", "br, gzip"), "br")

    def test_times_that_were_cut(self):
        """Tools copy times in seconds or microseconds: that makes no sibling older."""
        for name, whole, sibling, coding in (
            ("seconds.js", OLD * 10**9 + 999999999, OLD * 10**9, "gzip"),
            ("micro.js", OLD * 10**9 + 123456789, OLD * 10**9 + 123456000, "gzip"),
            ("nano.js", OLD * 10**9 + 123456789, OLD * 10**9 + 123456788, None),
            ("before.js", OLD * 10**9, OLD * 10**9 - 1, None),
        ):
            path = lay(self.root, name, ("gzip",))
            os.utime(path, ns=(whole, whole))
            os.utime(path + ".gz", ns=(sibling, sibling))
            self.assertEqual(self.get("/" + name, "gzip").get("Content-Encoding"), coding, name)

    def test_pipelined_each_its_own(self):
        order = (None, "br", "gzip", None, "zstd", "br")
        data = b"".join(
            request("/all.js", fields=[] if a is None else ["Accept-Encoding: " + a]) for a in order)
        responses = exchange(self.address, data, ("GET",) * len(order))
        self.assertEqual([r.get("Content-Encoding") for r in responses], list(order))


# What is done to a file with a gzip sibling, before which the sibling was sent; then what is sent.
def delete_sibling(path):
    os.unlink(path + ".gz")
    return None, WHOLE


def touch_file(path):
    os.utime(path, (NEW + 1, NEW + 1))
    return None, WHOLE


def age_sibling(path):
    os.utime(path + ".gz", (OLD - 1, OLD - 1))
    return None, WHOLE


def write_file(path):
    with open(path, "wb") as file:
        file.write(b"newer")
    return None, b"newer"


def write_sibling(path):
    with open(path + ".gz", "wb") as file:
        file.write(b"newly packed")
    return "gzip", b"newly packed"


def replace_sibling(path):
    tree.replace(path + ".gz", b"replaced")
    return "gzip", b"replaced"


def sibling_by_hard_link(path):
    """The name lies elsewhere: only the file itself tells of it."""
    other = os.path.dirname(os.path.dirname(path)) + "/other-name"
    os.link(path + ".gz", other)
    with open(other, "r+b") as file:
        file.write(b"GNU")
    os.unlink(other)
    return "gzip", b"GNU" + PACKED["gzip"][3:]


def age_by_hard_link(path):
    other = os.path.dirname(os.path.dirname(path)) + "/other-name"
    os.link(path + ".gz", other)
    os.utime(other, (OLD - 1, OLD - 1))
    os.unlink(other)
    return None, WHOLE


def better_sibling(path):
    tree.write(os.path.dirname(path), os.path.basename(path) + ".br", PACKED["br"])
    return "br", PACKED["br"]


def sibling_becomes_folder(path):
    os.unlink(path + ".gz")
    os.mkdir(path + ".gz")
    return None, WHOLE


def sibling_becomes_link(path):
    os.rename(path + ".gz", path + ".packed")
    os.symlink(os.path.basename(path) + ".packed", path + ".gz")
    return "gzip", PACKED["gzip"]


def folder_renamed(path):
    folder = os.path.dirname(path)
    lay(folder + ".next", os.path.basename(path), ("br",))
    os.rename(folder, folder + ".last")
    os.rename(folder + ".next", folder)
    return "br", PACKED["br"]


CHANGES = (delete_sibling, touch_file, age_sibling, write_file, write_sibling, replace_sibling,
           sibling_by_hard_link, age_by_hard_link, better_sibling, sibling_becomes_folder,
           sibling_becomes_link, folder_renamed)


class Changing(TestCase):
    """In each mode of the cache."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.daemons = {"watch": cls.daemon}
        for setting in ("stat", "off"):
            daemon = cls.make(setting).start()
            cls.addClassCleanup(daemon.stop)
            cls.daemons[setting] = daemon

    @classmethod
    def serve(cls):
        return cls.make("watch")

    @classmethod
    def make(cls, setting):
        return Daemon(config=configuration(hosts=[host(cls.root)], files={"cache": setting}))

    def expect(self, connection, target, expected):
        connection.send(request(target, fields=["Accept-Encoding: br, gzip"]))
        response = connection.read_response()
        self.assertEqual((response.get("Content-Encoding"), response.body), expected)


@suite.cases(
    [("%s: %s" % (setting, change.__name__), setting, change)
     for setting in ("watch", "stat", "off") for change in CHANGES]
    )
class Changes(Changing):
    def check(self, label, setting, change):
        """The very next request, on an open connection, sees it."""
        for name in ("page.js", "index.html"):
            for turn in range(1 if setting == "stat" else 3):
                folder = "%s-%s-%d" % (label.replace(": ", "-"), name, turn)
                path = lay(self.root, folder + "/deep/" + name, ("gzip",))
                target = "/%s/deep/%s" % (folder, "" if name == "index.html" else name)
                if setting == "stat":
                    settle(path + ".gz")
                with Connection(self.daemons[setting].address) as connection:
                    for _ in range(3):
                        self.expect(connection, target, ("gzip", PACKED["gzip"]))
                    self.expect(connection, target, change(path))


@suite.cases([(setting, setting) for setting in ("watch", "stat", "off")])
class Appearing(Changing):
    def check(self, setting, _setting):
        """A sibling that was not there, was stale, or was no file, and now is one."""
        path = lay(self.root, setting + ".js", ())
        gzip = path + ".gz"
        target = "/%s.js" % setting
        whole, packed = (None, WHOLE), ("gzip", PACKED["gzip"])
        with Connection(self.daemons[setting].address) as connection:
            for _ in range(3):
                settle(path)
                self.expect(connection, target, whole)
                tree.write(self.root, setting + ".js.gz", PACKED["gzip"])
                self.expect(connection, target, packed)
                os.utime(gzip, (OLD - 5, OLD - 5))
                self.expect(connection, target, whole)
                os.utime(gzip)
                self.expect(connection, target, packed)
                os.rename(gzip, gzip + ".away")
                self.expect(connection, target, whole)
                os.rename(gzip + ".away", gzip)
                self.expect(connection, target, packed)
                os.utime(gzip, (OLD - 5, OLD - 5))
                self.expect(connection, target, whole)
                with open(gzip, "r+b") as file:  # in place: the folder is not told
                    file.write(PACKED["gzip"])
                self.expect(connection, target, packed)
                os.unlink(gzip)


if __name__ == "__main__":
    suite.main(limit=90)
