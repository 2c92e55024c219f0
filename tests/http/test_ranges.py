# SPDX-License-Identifier: MIT
"""One byte range, RFC 9110 14; several are test_multipart's."""

import suite
import tree
from evixd import Daemon, TestCase, configuration, host
from wire import Connection, fetch, request

WHOLE = (200, None)

# label, Range's value, (status, slice) for a file of 1000 bytes
ROWS = (
    ("first byte", "bytes=0-0", (206, (0, 1))),
    ("first five", "bytes=0-4", (206, (0, 5))),
    ("14.1.2 in the middle", "bytes=500-599", (206, (500, 600))),
    ("14.1.2 last byte", "bytes=999-999", (206, (999, 1000))),
    ("14.1.2 open end", "bytes=990-", (206, (990, 1000))),
    ("14.1.2 from the start on", "bytes=0-", (206, (0, 1000))),
    ("14.1.2 all", "bytes=0-999", (206, (0, 1000))),
    ("14.1.2 suffix", "bytes=-10", (206, (990, 1000))),
    ("suffix longer than the file", "bytes=-99999", (206, (0, 1000))),
    ("end past the end", "bytes=50-99999", (206, (50, 1000))),
    ("start at the end", "bytes=1000-", (416, None)),
    ("start past the end", "bytes=1000-2000", (416, None)),
    ("14.1.2 suffix of nothing", "bytes=-0", (416, None)),
    ("14.1.1 unit in any case", "Bytes=0-4", (206, (0, 5))),
    ("14.1.2 zeros in front", "bytes=0000000000-0000000000004", (206, (0, 5))),
    ("14.2 19 digits", "bytes=0-9223372036854775807", (206, (0, 1000))),
    ("14.2 a number beyond 64 bits as the end", "bytes=0-99999999999999999999999", (206, (0, 1000))),
    ("no equals sign", "bytes: 0-22", WHOLE),
    ("letters", "bytes=abc", WHOLE),
    ("unknown unit", "items=0-5", WHOLE),
    ("backwards", "bytes=5-2", WHOLE),
    ("empty set", "bytes=", WHOLE),
    ("dash alone", "bytes=-", WHOLE),
    ("14.1.1 no unit", "0-4", WHOLE),
    ("14.1.2 sign", "bytes=+0-4", WHOLE),
    ("14.1.2 hex", "bytes=0x0-0x4", WHOLE),
    ("14.1.2 space within", "bytes=0 - 4", WHOLE),
    ("14.1.2 two dashes", "bytes=0--4", WHOLE),
    ("14.1.2 trailing text", "bytes=0-4x", WHOLE),
)


class Site(TestCase):
    @classmethod
    def serve(cls):
        cls.small = tree.content(1000)
        cls.large = tree.content(3 * 1048576)
        tree.write(cls.root, "small.bin", cls.small)
        tree.write(cls.root, "large.bin", cls.large)
        tree.write(cls.root, "empty.bin", b"")
        return Daemon(directory=cls.root)


@suite.cases(ROWS)
class Single(Site):
    def check(self, _label, value, want):
        status, piece = want
        for method in ("GET", "GET"):  # from the disk, then from the cache
            response = fetch(self.address, "/small.bin", method, ["Range: " + value])
            self.assertEqual(response.status, status)
            if status == 200:
                self.assertEqual(response.body, self.small)
                self.assertIsNone(response.get("Content-Range"))
            elif status == 206:
                first, end = piece
                self.assertEqual(response.get("Content-Range"), "bytes %d-%d/1000" % (first, end - 1))
                self.assertEqual(response.body, self.small[first:end])
                self.assertEqual(response.get("Content-Type"), "application/octet-stream")
            else:
                self.assertEqual(response.get("Content-Range"), "bytes */1000")
                self.assertIsNone(response.get("ETag"))


class Others(Site):
    def test_large_file(self):
        """Every border of what is sent at once."""
        with Connection(self.address) as connection:
            for first in (0, 1, 4095, 65535, 65536, 262143, 262144, 262145, 1048575, 2097152):
                for length in (1, 2, 65536, 262144, 262145, 1000000):
                    last = min(first + length, len(self.large)) - 1
                    connection.send(request("/large.bin", fields=["Range: bytes=%d-%d" % (first, last)]))
                    response = connection.read_response()
                    self.assertEqual(response.status, 206)
                    self.assertEqual(
                        response.get("Content-Range"), "bytes %d-%d/%d" % (first, last, len(self.large))
                    )
                    self.assertTrue(response.body == self.large[first : last + 1], (first, length))

    def test_beyond_4_gib(self):
        """Offsets are 64 bits wide and all their digits are printed."""
        import os
        size = 5 << 30
        path = tree.write(self.root, "sparse.bin")
        try:
            os.truncate(path, size)
        except OSError as error:
            self.skipTest("no sparse file of 5 GiB here: %s" % error)
        with open(path, "r+b") as file:
            file.seek(size - 6)
            file.write(b"finish")
        response = fetch(self.address, "/sparse.bin", "HEAD")
        self.assertEqual(response.get("Content-Length"), str(size))
        response = fetch(self.address, "/sparse.bin", fields=["Range: bytes=%d-" % (size - 8)])
        self.assertEqual(response.body, b"\0\0finish")
        self.assertEqual(
            response.get("Content-Range"), "bytes %d-%d/%d" % (size - 8, size - 1, size)
        )
        response = fetch(self.address, "/sparse.bin", fields=["Range: bytes=-3"])
        self.assertEqual(response.body, b"ish")
        os.unlink(path)

    def test_empty_file(self):
        response = fetch(self.address, "/empty.bin", fields=["Range: bytes=0-"])
        self.assertEqual((response.status, response.get("Content-Range")), (416, "bytes */0"))
        self.assertIn(fetch(self.address, "/empty.bin", fields=["Range: bytes=-5"]).status, (200, 416))

    def test_head_ignores_it(self):
        """14.2: ranges are defined for GET alone."""
        response = fetch(self.address, "/small.bin", "HEAD", ["Range: bytes=0-4"])
        self.assertEqual((response.status, response.get("Content-Length")), (200, "1000"))

    def test_repeated_field(self):
        """A field that is no list, sent twice: ignored or refused, never half of it taken."""
        response = fetch(self.address, "/small.bin", fields=["Range: bytes=0-4", "Range: bytes=6-7"])
        self.assertIn(response.status, (200, 206, 400))
        if response.status == 206:
            self.assertIn("multipart/byteranges", response.get("Content-Type"))

    def test_the_fields_of_a_206(self):
        """15.3.7: what a 200 would have said, with the length of the part."""
        full = fetch(self.address, "/small.bin")
        part = fetch(self.address, "/small.bin", fields=["Range: bytes=1-2"])
        for name in ("ETag", "Last-Modified", "Content-Type"):
            self.assertEqual(part.get(name), full.get(name))
        self.assertEqual(part.get("Content-Length"), "2")

    def test_the_location_s_fields_are_a_206_s_too(self):
        """15.3.7: Cache-Control, Expires and the like, as a 200 would say them."""
        rule = {"Cache-Control": "max-age=60", "Expires": "Thu, 01 Jan 1970 00:00:00 GMT", "X-Site": "a"}
        with Daemon(config=configuration(
            hosts=[host(self.root, {"path": "/", "headers": rule})]
        )) as daemon:
            for value in ("bytes=0-9", "bytes=0-9,900-909"):
                response = fetch(daemon.address, "/small.bin", fields=["Range: " + value])
                self.assertEqual(response.status, 206)
                for name, text in rule.items():
                    self.assertEqual(response.get(name), text)

    def test_connection_goes_on_after_416(self):
        with Connection(self.address) as connection:
            connection.send(request("/small.bin", fields=["Range: bytes=5000-"]) + request("/small.bin"))
            self.assertEqual(connection.read_response().status, 416)
            self.assertEqual(connection.read_response().body, self.small)


if __name__ == "__main__":
    suite.main()
