# SPDX-License-Identifier: MIT
"""Files arrive byte for byte, with the right type and fields; a walker mirrors a whole tree."""

import hashlib
import html.parser
import os
import re
import urllib.parse
from email.utils import parsedate_to_datetime

import suite
import tree
from evixd import Daemon, TestCase, configuration, host
from wire import Connection, fetch, request

TYPES = (
    ("html", "text/html; charset=utf-8"),
    ("htm", "text/html; charset=utf-8"),
    ("css", "text/css; charset=utf-8"),
    ("js", "text/javascript; charset=utf-8"),
    ("mjs", "text/javascript; charset=utf-8"),
    ("txt", "text/plain; charset=utf-8"),
    ("md", "text/markdown; charset=utf-8"),
    ("csv", "text/csv; charset=utf-8"),
    ("json", "application/json"),
    ("xml", "application/xml"),
    ("svg", "image/svg+xml"),
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
    ("avif", "image/avif"),
    ("ico", ("image/vnd.microsoft.icon", "image/x-icon")),
    ("woff", "font/woff"),
    ("woff2", "font/woff2"),
    ("ttf", "font/ttf"),
    ("wasm", "application/wasm"),
    ("pdf", "application/pdf"),
    ("zip", "application/zip"),
    ("gz", "application/gzip"),
    ("tar.gz", "application/gzip"),
    ("br", ("application/x-brotli", "application/brotli", "application/octet-stream")),
    ("zst", "application/zstd"),
    ("mp4", "video/mp4"),
    ("webm", "video/webm"),
    ("mp3", "audio/mpeg"),
    ("ogg", ("audio/ogg", "application/ogg", "video/ogg")),
    ("wav", ("audio/wav", "audio/x-wav")),
    ("webmanifest", "application/manifest+json"),
    ("PNG", "image/png"),
    ("unheard-of", "application/octet-stream"),
    ("", "application/octet-stream"),
)


class Served(TestCase):
    @classmethod
    def serve(cls):
        cls.files = tree.sized(cls.root)
        return Daemon(directory=cls.root)


@suite.cases([("%d bytes" % size, size) for size in tree.SIZES])
class Sizes(Served):
    def check(self, _label, size):
        name = "size-%d.bin" % size
        response = fetch(self.address, "/" + name)
        self.assertEqual(response.status, 200)
        self.assertEqual(response.get("Content-Length"), str(size))
        self.assertEqual(
            hashlib.sha256(response.body).digest(), hashlib.sha256(self.files[name]).digest()
        )
        # Once more from the cache, and with the fields alone: GET and HEAD tell the same.
        again = fetch(self.address, "/" + name)
        self.assertTrue(again.body == self.files[name])
        head = fetch(self.address, "/" + name, "HEAD")
        self.assertEqual(strip_date(again.fields), strip_date(response.fields))
        self.assertEqual(strip_date(head.fields), strip_date(response.fields))


def strip_date(fields):
    return [(name, value) for name, value in fields if name != "date"]


@suite.cases([("type of .%s" % suffix, suffix, want) for suffix, want in TYPES])
class MediaTypes(TestCase):
    @classmethod
    def serve(cls):
        for suffix, _ in TYPES:
            tree.write(cls.root, "file." + suffix if suffix else "file", "content of " + suffix)
        return Daemon(directory=cls.root)

    def check(self, _label, suffix, want):
        """Charset on text alone, and no coding claimed for an archive."""
        response = fetch(self.address, "/file." + suffix if suffix else "/file")
        self.assertEqual(response.status, 200)
        self.assertIn(response.get("Content-Type"), want if isinstance(want, tuple) else (want,))
        self.assertIsNone(response.get("Content-Encoding"))
        self.assertEqual(response.get("X-Content-Type-Options"), "nosniff")


class Fields(Served):
    def test_server_says_no_more_than_its_name(self):
        """9110 10.1.5: no advertising, no list of what it was built with."""
        self.assertRegex(fetch(self.address, "/size-100.bin").get("Server"), r"\Aevixd(/[0-9.]+)?\Z")

    def test_validators_and_ranges_are_advertised(self):
        response = fetch(self.address, "/size-1024.bin")
        self.assertRegex(response.get("ETag"), r'\A"[\x21\x23-\x7e]+"\Z')
        self.assertEqual(response.get("Accept-Ranges"), "bytes")
        status = os.stat(os.path.join(self.root, "size-1024.bin"))
        self.assertIsNotNone(response.get("Last-Modified"))
        self.assertEqual(
            parsedate_to_datetime(response.get("Last-Modified")).timestamp(), int(status.st_mtime)
        )

    def test_tags_differ_between_files(self):
        tags = [fetch(self.address, "/" + name, "HEAD").get("ETag") for name in self.files]
        self.assertEqual(len(set(tags)), len(tags))

    def test_head_of_an_error_has_no_content(self):
        """9110 9.3.2: and the GET behind it parses cleanly."""
        with Connection(self.address) as connection:
            connection.send(request("/none", "HEAD") + request("/size-100.bin"))
            self.assertEqual(connection.read_response("HEAD").status, 404)
            self.assertEqual(connection.read_response().body, self.files["size-100.bin"])

    def test_an_error_has_metadata_of_its_own(self):
        """Nothing of the file before it on the same connection."""
        with Connection(self.address) as connection:
            connection.send(request("/size-100.bin") +
                            request("/none", fields=["Accept: text/html"]))
            self.assertEqual(connection.read_response().status, 200)
            error = connection.read_response()
        self.assertEqual(error.status, 404)
        for name in ("Last-Modified", "ETag", "Accept-Ranges"):
            self.assertIsNone(error.get(name))
        self.assertEqual(error.get("Content-Length"), str(len(error.body)))
        self.assertIn("text/html", error.get("Content-Type"))

    def test_options_names_the_methods(self):
        response = fetch(self.address, "/size-1.bin", "OPTIONS")
        self.assertIn(response.status, (200, 204))
        self.assertLessEqual({"get", "head", "options"}, set(response.members("Allow")))

    def test_other_methods_are_refused_with_what_is_allowed(self):
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            response = fetch(self.address, "/size-1.bin", method)
            self.assertEqual(response.status, 405, method)
            self.assertLessEqual({"get", "head"}, set(response.members("Allow")))
            self.assertNotIn(method.lower(), response.members("Allow"))


@suite.cases((
    ("before 1970", -1),
    ("at 0", 0),
    ("at 1", 1),
    ("in the future", 4102444800),
    ("after the year 9999", 253402300800),
))
class OddTimes(TestCase):
    @classmethod
    def serve(cls):
        return Daemon(directory=cls.root)

    def check(self, label, seconds):
        name = "odd-%d.txt" % seconds
        path = tree.write(self.root, name, label)
        try:
            os.utime(path, (seconds, seconds))
        except OverflowError:
            self.skipTest("Python cannot set this time")
        if int(os.stat(path).st_mtime) != seconds:
            self.skipTest("this file system does not hold the time %d" % seconds)
        response = fetch(self.address, "/" + name)
        self.assertEqual((response.status, response.body), (200, label.encode()))
        modified = response.get("Last-Modified")
        if modified is not None:
            self.assertRegex(modified, r"\A\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\Z")
            self.assertLessEqual(
                parsedate_to_datetime(modified), parsedate_to_datetime(response.get("Date")),
                "9110 8.8.2.1: not later than the message",
            )
        self.assertEqual(fetch(self.address, "/").status, 200, "the listing too")


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.found.append(value)


class Mirror(TestCase):
    """Follows listings from the top and compares all that it meets with the disk."""

    NAMES = (
        b"plain.txt", b"a b.txt", b"a+b.txt", b"+x.css", b"100%.txt", b"a?b", b"a#b", b"a&amp;b",
        b"quote\"s'", b"<script>alert(1)</script>", b"semi;colon", b"co:lon", b"back\\slash",
        b"new\nline", b"tab\tx", b"cr\rx", b"esc\x1bx", b"\xc3\xa4\xc3\xb6\xe2\x82\xac.txt",
        b"\xff\xfe", b"..x", b"x..", b"...", b"a..b", b"javascript:alert(1)", b"~tilde", b"[x]",
        b"%2e%2e", b"%41", b"x" * 255,
    )

    @classmethod
    def serve(cls):
        cls.expected = {}
        for folder in (b"", b"sub/", b"sub folder/deep%/", b"a:b/"):
            for number, name in enumerate(cls.NAMES):
                data = tree.content(200 + number, len(folder))
                tree.write(cls.root, folder + name, data)
                cls.expected[b"/" + folder + name] = data
        os.mkdir(os.path.join(cls.root, "empty"))
        return Daemon(config=configuration(
            hosts=[host(cls.root, {"path": "/", "listing": True, "dotfiles": True})]
        ))

    def test_every_file_by_its_encoded_name(self):
        """Whatever the name, it is served under its percent-encoded form."""
        with Connection(self.address) as connection:
            for name, data in self.expected.items():
                connection.send(request(urllib.parse.quote(name, safe="/")))
                response = connection.read_response()
                self.assertEqual((response.status, response.body), (200, data), name)

    def test_walk(self):
        """From the listings alone one finds every file, and nothing else."""
        found, queue, seen = {}, ["/"], set()
        while queue:
            target = queue.pop()
            if target in seen:
                continue
            seen.add(target)
            response = fetch(self.address, target)
            self.assertEqual(response.status, 200, target)
            if not target.endswith("/"):
                found[urllib.parse.unquote_to_bytes(target)] = response.body
                continue
            links = Links()
            links.feed(response.body.decode("utf-8"))
            for link in links.found:
                if link.startswith(("data:", "#")):
                    continue
                url = urllib.parse.urlsplit(urllib.parse.urljoin("http://test" + target, link))
                self.assertEqual((url.scheme, url.netloc), ("http", "test"), link)
                if not url.query:
                    queue.append(url.path)
        self.assertEqual(found, self.expected)

    def test_names_do_not_break_out_of_the_page(self):
        page = fetch(self.address, "/").body.decode("utf-8")
        self.assertNotIn("<script>alert(1)", page)
        self.assertIsNone(re.search(r'href="javascript:', page))


if __name__ == "__main__":
    suite.main()
