# SPDX-License-Identifier: MIT
"""Several ranges in one request: multipart/byteranges, RFC 9110 14.6 and 15.3.7.2."""

import os
import re

import suite
import tree
from evixd import Daemon, TestCase, descriptors, memory_bytes, wait_until
from wire import Connection, WireError, exchange, fetch, request

WHOLE = 200
NONE = 416

# label, Range's value, the parts as (first, end) for a file of 50000 bytes, or the status
ROWS = (
    ("only the first of several is never answered", "bytes=10-15,17000-17030", [(10, 16), (17000, 17031)]),
    ("14.6 two", "bytes=0-0,49999-49999", [(0, 1), (49999, 50000)]),
    ("14.1.2 first and last byte", "bytes=0-0,-1", [(0, 1), (49999, 50000)]),
    ("14.1.2 open end and suffix", "bytes=100-199,49000-,-1", [(100, 200), (49000, 50000)]),
    ("14.1.1 white space and empty members", "bytes=0-9 ,\t, 9000-9009,,", [(0, 10), (9000, 9010)]),
    ("15.3.7.2 order kept", "bytes=40000-40009,-5,20000-20009,0-9",
     [(40000, 40010), (49995, 50000), (20000, 20010), (0, 10)]),
    ("15.3.7.2 the rest of the order kept where two are joined", "bytes=40000-40009,5-9,20000-20009,0-7",
     [(40000, 40010), (0, 10), (20000, 20010)]),
    ("15.3.7.2 overlap", "bytes=100-199,150-249,9000-9009", [(100, 250), (9000, 9010)]),
    ("15.3.7.2 nearly touching", "bytes=100-199,210-249,9000-9009", [(100, 250), (9000, 9010)]),
    ("15.3.7.2 within another", "bytes=9000-9009,100-900,300-310", [(9000, 9010), (100, 901)]),
    ("the same range again and again is sent once", "bytes=0-9,0-9,0-9,0-9", [(0, 10)]),
    ("the whole twice is no longer than the whole", "bytes=0-49999,0-49999", [(0, 50000)]),
    ("15.3.7.2 joined to a single part", "bytes=10-19,20-29", [(10, 30)]),
    ("14.1.2 unsatisfiable ones are left out", "bytes=60000-,0-9,70000-70009,9000-9009,-0",
     [(0, 10), (9000, 9010)]),
    ("14.1.2 a single satisfiable one", "bytes=60000-,5-9", [(5, 10)]),
    ("15.5.17 none is satisfiable", "bytes=50000-,60000-60001,-0", NONE),
    ("14.2 one malformed member spoils all", "bytes=0-9,9000-9009,x", WHOLE),
    ("14.2 one backward member spoils all", "bytes=0-9,9000-8999", WHOLE),
    ("14.2 other unit", "lines=0-9,20-29", WHOLE),
)


def dissect(response, size):
    """The parts of a multipart/byteranges response, as {(first, end): content} in order and
    the type that each says. Every byte of the content has to belong to something."""
    match = re.match(r"multipart/byteranges; boundary=([0-9a-z]{1,70})\Z", response.get("Content-Type"))
    if not match:
        raise WireError("not multipart/byteranges: %r" % response.get("Content-Type"))
    boundary = b"--" + match[1].encode()
    if response.get("Content-Range") is not None:
        raise WireError("Content-Range in the head of a multipart answer (RFC 9110 15.3.7.2)")
    if not response.body.startswith(b"\r\n"):
        raise WireError("no empty line first, which zsync counts on")
    parts, at = [], 2
    while not response.body.startswith(boundary + b"--\r\n", at):
        head = re.compile(
            re.escape(boundary) + rb"\r\nContent-Type: ([^\r\n]+)\r\nContent-Range: bytes (\d+)-(\d+)/(\d+)\r\n\r\n"
        ).match(response.body, at)
        if not head:
            raise WireError("no part at %d: %r" % (at, response.body[at : at + 200]))
        first, last, whole = int(head[2]), int(head[3]), int(head[4])
        if whole != size:
            raise WireError("a part of %d bytes, not %d" % (whole, size))
        at = head.end() + last - first + 1
        parts.append((first, last + 1, response.body[head.end() : at], head[1].decode()))
        if response.body[at : at + 2] != b"\r\n":
            raise WireError("a part is not ended by CR LF")
        at += 2
    if at + len(boundary) + 4 != len(response.body):
        raise WireError("bytes after the last boundary")
    return parts


class Site(TestCase):
    ENV = None

    @classmethod
    def serve(cls):
        cls.small = tree.content(50000)
        cls.large = tree.content(3 * 1048576)
        tree.write(cls.root, "small.bin", cls.small)
        tree.write(cls.root, "page.html", cls.small)
        tree.write(cls.root, "large.bin", cls.large)
        tree.write(cls.root, "empty.bin", b"")
        return Daemon(directory=cls.root, expect=["the content of a response ended early"], env=cls.ENV)

    def ask(self, target, value, fields=(), **options):
        return fetch(self.address, target, fields=["Range: " + value, *fields], **options)

    def check_parts(self, response, content, wanted, media_type="application/octet-stream"):
        self.assertEqual(response.status, 206)
        if len(wanted) == 1:
            first, end = wanted[0]
            self.assertEqual(response.get("Content-Range"), "bytes %d-%d/%d" % (first, end - 1, len(content)))
            self.assertEqual(response.get("Content-Type"), media_type)
            self.assertTrue(response.body == content[first:end])
            return
        parts = dissect(response, len(content))
        self.assertEqual([part[:2] for part in parts], wanted)
        for first, end, data, kind in parts:
            self.assertTrue(data == content[first:end], (first, end))
            self.assertEqual(kind, media_type)
        self.assertLess(len(response.body), len(content), "longer than the whole")


@suite.cases(ROWS)
class Sets(Site):
    def check(self, _label, value, wanted):
        for target, kind in (("/small.bin", "application/octet-stream"), ("/page.html", "text/html; charset=utf-8")):
            response = self.ask(target, value)
            if wanted == WHOLE:
                self.assertEqual((response.status, response.body), (200, self.small))
            elif wanted == NONE:
                self.assertEqual((response.status, response.get("Content-Range")), (416, "bytes */50000"))
            else:
                self.check_parts(response, self.small, wanted, kind)


class Large(Site):
    """What is not kept in memory, but sent from the file."""

    def test_parts_across_every_border(self):
        for length in (1, 1024, 1025, 65536, 262144, 262145, 500000):
            wanted = [(first, first + length) for first in (0, 1048575, 2097153)]
            value = ",".join("%d-%d" % (first, end - 1) for first, end in wanted)
            self.check_parts(self.ask("/large.bin", "bytes=" + value), self.large, wanted)

    def test_cold(self):
        """What the page cache does not hold is read, a part like a whole file."""
        path = os.path.join(self.root, "large.bin")
        descriptor = os.open(path, os.O_RDONLY)
        self.addCleanup(os.close, descriptor)
        os.fsync(descriptor)
        for turn in range(5):
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            wanted = [(first + turn, first + 400000) for first in (2500000, 0, 1200000)]
            value = ",".join("%d-%d" % (first, end - 1) for first, end in wanted)
            self.check_parts(self.ask("/large.bin", "bytes=" + value), self.large, wanted)

    def test_more_parts_than_a_send_can_gather(self):
        """IOV_MAX is 1024: a thousand parts are twice as many pieces."""
        for target, content, step in (("/large.bin", self.large, 3000), ("/small.bin", self.small, 250)):
            for length in (1, 97):
                wanted = [(first, first + length) for first in range(0, len(content) - length, step)][:1000]
                value = ",".join("%d-%d" % (first, end - 1) for first, end in wanted)
                response = self.ask(target, "bytes=" + value)
                self.check_parts(response, content, wanted)

    def test_beyond_4_gib(self):
        """Offsets, and lengths in all, are 64 bits wide."""
        size = 8 << 40
        path = tree.write(self.root, "sparse.bin")
        try:
            os.truncate(path, size)
        except OSError as error:
            size = 12 << 30
            try:
                os.truncate(path, size)
            except OSError:
                self.skipTest("no sparse file of 12 GiB here: %s" % error)
        with open(path, "r+b") as file:
            file.seek(size - 6)
            file.write(b"finish")
            file.seek(5 << 30)
            file.write(b"middle")
        value = "bytes=%d-%d,-6,0-1" % (5 << 30, (5 << 30) + 5)
        parts = dissect(self.ask("/sparse.bin", value), size)
        self.assertEqual([part[:3] for part in parts], [
            (5 << 30, (5 << 30) + 6, b"middle"), (size - 6, size, b"finish"), (0, 2, b"\0\0"),
        ])
        # More than 4 GiB of parts: the length says all of it, and the first bytes are right.
        ranges = [((5 << 30), (8 << 30) - 1), ((9 << 30), (11 << 30) - 1)]
        with Connection(self.address, receive_buffer=65536) as connection:
            connection.send(request("/sparse.bin", fields=["Range: bytes=%d-%d,%d-%d" % (ranges[0] + ranges[1])]))
            response = connection.read_head()
            boundary = response.get("Content-Type").partition("boundary=")[2]
            heads = ["\r\n--%s\r\nContent-Type: application/octet-stream\r\nContent-Range: bytes %d-%d/%d\r\n\r\n"
                     % (boundary, first, last, size) for first, last in ranges]
            length = (5 << 30) + len("".join(heads)) + len("\r\n--%s--\r\n" % boundary)
            self.assertEqual(response.get("Content-Length"), str(length))
            self.assertEqual(connection.take(len(heads[0])), heads[0].encode())
            self.assertEqual(connection.take(7), b"middle\0")
        os.unlink(path)

    def test_cut_while_it_is_sent(self):
        """RFC 9112 8: short, never padded, and no boundary that would make it look whole."""
        path = tree.write(self.root, "shrinks.bin")
        os.truncate(path, 64 << 20)  # more than the kernel takes before the client reads
        with Connection(self.address, receive_buffer=4096) as connection:
            connection.send(request("/shrinks.bin", fields=["Range: bytes=0-29999999,31000000-60000000"]))
            response = connection.read_head()
            os.truncate(path, 1000)
            try:
                body = connection.read_to_end()
            except WireError as error:
                self.assertIn("reset", str(error))
                body = bytes(connection.buffer)
            self.assertLess(len(body), int(response.get("Content-Length")))
            self.assertFalse(body.endswith(b"--\r\n"))


class Bounded(Site):
    # A sanitizer keeps what was freed, to notice its use; here memory is what is measured.
    ENV = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"}

    def test_too_many_ranges_get_the_whole(self):
        """At no cost: they are not even sorted."""
        value = "bytes=" + ",".join("%d-" % (number * 3) for number in range(3000))
        response = self.ask("/small.bin", value)
        self.assertEqual((response.status, response.body == self.small), (200, True))

    def test_a_thousand_overlapping_ones_are_one(self):
        value = "bytes=" + ",".join("%d-" % number for number in range(1000, 0, -1))
        response = self.ask("/small.bin", value)
        self.check_parts(response, self.small, [(1, 50000)])

    def test_unsatisfiable_ones_by_the_thousand(self):
        value = "bytes=" + ",".join("99999-" for _ in range(4000))
        self.assertEqual(self.ask("/small.bin", value).status, 416)

    def test_not_longer_than_the_whole(self):
        """Parts so small that their heads make up for what is left out: the file is shorter."""
        path = tree.write(self.root, "short.txt", tree.content(500))
        value = "bytes=" + ",".join("%d-%d" % (first, first + 19) for first in range(0, 500, 170))
        for size in (400, 500, 1000, 5000):
            content = tree.content(size)
            tree.replace(path, content)
            response = self.ask("/short.txt", value)
            if response.status == 200:
                self.assertEqual(response.body, content)
            else:
                self.assertLess(len(response.body), size)

    def test_memory_and_descriptors_come_back(self):
        pid = self.daemon.worker_pids[0]
        value = "bytes=" + ",".join("%d-%d" % (first, first + 9) for first in range(0, 3000000, 3001))
        self.ask("/large.bin", value)
        files, memory = descriptors(pid), memory_bytes(pid)
        for _ in range(20):
            connections = [Connection(self.address, receive_buffer=4096) for _ in range(10)]
            for connection in connections:
                connection.send(request("/large.bin", fields=["Range: " + value]))
                connection.read_head()
                connection.close()
        self.ask("/large.bin", value)
        wait_until(lambda: descriptors(pid) <= files, "the connections are freed")
        self.assertLess(memory_bytes(pid) - memory, 16 << 20)


class Others(Site):
    VALUE = "bytes=0-9,9000-9009"
    PARTS = [(0, 10), (9000, 9010)]

    def test_fields(self):
        """15.3.7: what a 200 would have said of the file; no Content-Range but in the parts."""
        whole, parts = fetch(self.address, "/small.bin"), self.ask("/small.bin", self.VALUE)
        for name in ("ETag", "Last-Modified", "Accept-Ranges"):
            self.assertEqual(parts.get(name), whole.get(name), name)
        self.assertEqual(parts.get("Content-Length"), str(len(parts.body)))

    def test_boundary_differs_each_time(self):
        """Whoever writes a file can't know beforehand what would end a part of it."""
        types = {self.ask("/small.bin", self.VALUE).get("Content-Type") for _ in range(5)}
        self.assertEqual(len(types), 5)

    def test_head_ignores_it(self):
        response = fetch(self.address, "/small.bin", "HEAD", ["Range: " + self.VALUE])
        self.assertEqual((response.status, response.get("Content-Length")), (200, "50000"))
        self.assertEqual(response.get("Content-Type"), "application/octet-stream")

    def test_if_range(self):
        whole = fetch(self.address, "/small.bin")
        for field in ("If-Range: " + whole.get("ETag"),):
            self.check_parts(self.ask("/small.bin", self.VALUE, [field]), self.small, self.PARTS)
        for field in ('If-Range: "other"', "If-Range: W/" + whole.get("ETag")):
            response = self.ask("/small.bin", self.VALUE, [field])
            self.assertEqual((response.status, response.body), (200, self.small))

    def test_conditions_come_first(self):
        whole = fetch(self.address, "/small.bin")
        self.assertEqual(self.ask("/small.bin", self.VALUE, ["If-None-Match: " + whole.get("ETag")]).status, 304)
        self.assertEqual(self.ask("/small.bin", self.VALUE, ['If-Match: "other"']).status, 412)

    def test_empty_file(self):
        response = self.ask("/empty.bin", "bytes=0-0,5-6")
        self.assertEqual((response.status, response.get("Content-Range")), (416, "bytes */0"))
        self.assertIn(self.ask("/empty.bin", "bytes=0-0,-6").status, (200, 416))

    def test_pipelined(self):
        """The length is exact: what comes next is understood."""
        data = request("/small.bin", fields=["Range: " + self.VALUE])
        data += request("/large.bin", fields=["Range: " + self.VALUE])
        with Connection(self.address) as connection:
            connection.send(data * 10 + request("/none"))
            for _ in range(10):
                self.check_parts(connection.read_response(), self.small, self.PARTS)
                self.check_parts(connection.read_response(), self.large, self.PARTS)
            self.assertEqual(connection.read_response().status, 404)

    def test_http_1_0(self):
        data = request("/small.bin", fields=["Range: " + self.VALUE], version="1.0")
        response, = exchange(self.address, data)
        self.check_parts(response, self.small, self.PARTS)

    def test_slow_reader(self):
        value = "bytes=0-900000,1000000-1900000,2000000-2900000"
        with Connection(self.address, receive_buffer=4096) as connection:
            connection.send(request("/large.bin", fields=["Range: " + value]))
            self.check_parts(connection.read_response(), self.large,
                             [(0, 900001), (1000000, 1900001), (2000000, 2900001)])


if __name__ == "__main__":
    suite.main()
