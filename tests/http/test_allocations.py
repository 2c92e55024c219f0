# SPDX-License-Identifier: MIT
"""Without memory: each allocation that a worker makes for a request fails once, one after the other.

Each time the client gets the right answer, or 500 or 503, or its connection ends; the next client
gets the right answer, from the same worker. What is lost by the way the leak sanitizer would tell.
"""

import gzip
import mmap
import os
import struct
import tempfile
import unittest

import suite
import tree
from evixd import BACKEND, Daemon, TestCase, configuration, host
from wire import Connection, WireError, request

LIBRARY = os.path.abspath("tests/http/.libs/fail_allocations.so")
MOST = 2000  # allocations for one request: a bound that nothing comes near
AT_ONCE = 150
SMALL = tree.content(1000)
TEXT = b"a line of text\n" * 3000
LARGE = tree.content(300000)
ECHO = tree.content(100000)
LATER = "If-Modified-Since: Fri, 01 Jan 2038 00:00:00 GMT"
CHUNKED = b"".join(b"%x\r\n%b\r\n" % (len(part), part)
                   for part in (ECHO[:10], ECHO[10:70000], ECHO[70000:])) + b"0\r\n\r\n"


def body_is(content, status=200):
    return lambda response: response.status == status and response.body == content


def contains(text, status=200):
    return lambda response: response.status == status and text in response.body


def is_text(response):
    body = response.body
    if response.get("content-encoding") == "gzip":
        body = gzip.decompress(body)
    return response.status == 200 and body == TEXT


def is_multipart(response):
    return response.status == 206 and all(
        LARGE[first : last + 1] in response.body for first, last in ((5, 70000), (100000, 250000)))


# What is asked, whether the answer is the right one.
CASES = {
    "small": (request("/small.bin"), body_is(SMALL)),
    "large": (request("/large.bin"), body_is(LARGE)),
    "head": (request("/large.bin", "HEAD"), lambda response: response.status == 200),
    "range": (request("/large.bin", fields=["Range: bytes=70000-250000"]),
              body_is(LARGE[70000:250001], 206)),
    "small range": (request("/large.bin", fields=["Range: bytes=7-9"]), body_is(LARGE[7:10], 206)),
    "multipart": (request("/large.bin", fields=["Range: bytes=5-70000,100000-250000"]),
                  is_multipart),
    "conditional": (request("/small.bin", fields=[LATER]), body_is(b"", 304)),
    "precompressed": (request("/page.txt", fields=["Accept-Encoding: gzip"]), is_text),
    "absent": (request("/none"), lambda response: response.status == 404),
    "own error page": (request("/own/none"), lambda response: response.status == 404),
    "directory": (request("/many"), lambda response: response.status == 301),
    "index": (request("/own/"), body_is(b"the index")),
    "listing": (request("/many/"), contains(b"199.txt")),
    "listing in JSON": (request("/many/", fields=["Accept: application/json"]),
                        contains(b"199.txt")),
    "echo": (request("/echo", "POST", ["Content-Length: %d" % len(ECHO)]) + ECHO, body_is(ECHO)),
    "chunked echo": (request("/echo", "POST", ["Transfer-Encoding: chunked"]) + CHUNKED,
                     body_is(ECHO)),
    "echoed head": (request("/echo"), contains(b"GET /echo HTTP/1.1")),
    "status": (request("/status"), contains(b"<html")),
    "status in JSON": (request("/status/json"), contains(b'"connections"')),
    "metrics": (request("/status/metrics"), contains(b"evixd_")),
    "bad": (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
            lambda response: response.status == 400),
    "too large": (request("/" + "x" * 9000), lambda response: response.status == 414),
    "in pieces": (None, body_is(SMALL)),
}


class Allocations(TestCase):
    @classmethod
    def serve(cls):
        if not os.path.exists(LIBRARY):
            raise unittest.SkipTest("no shared library was built to fail with")
        tree.write(cls.root, "small.bin", SMALL)
        tree.write(cls.root, "large.bin", LARGE)
        tree.write(cls.root, "page.txt", TEXT)
        tree.write(cls.root, "page.txt.gz", gzip.compress(TEXT))
        tree.write(cls.root, "own/index.html", b"the index")
        tree.write(cls.root, "404.html", b"not here")
        for number in range(200):
            tree.write(cls.root, "many/%d.txt" % number)
        file = tempfile.NamedTemporaryFile()
        cls.addClassCleanup(file.close)
        file.truncate(mmap.PAGESIZE)
        cls.plan = mmap.mmap(file.fileno(), mmap.PAGESIZE)
        cls.addClassCleanup(cls.plan.close)
        locations = [
            {"path": "/", "listing": True},
            {"path": "/own/", "error_pages": ({"status": 404, "file": "/404.html"},)},
            {"path": "/echo", "handler": "echo"},
            {"path": "/status", "handler": "status"},
        ]
        return Daemon(
            config=configuration(hosts=[host(cls.root, *locations)]),
            env={"LD_PRELOAD": LIBRARY, "EVIXD_ALLOCATIONS": file.name,
                 "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"},
            expect=[".*"],
        )

    def let_fail(self, first, failures=1):
        struct.pack_into("4l", self.plan, 0, self.pid, first, failures, 0)

    def be_whole(self):
        """Nothing fails any more. How many allocations there were since let_fail()."""
        count, = struct.unpack_from("l", self.plan, 24)
        struct.pack_into("2l", self.plan, 0, 0, 0)
        return count

    def age(self):
        """What is cached is filled anew."""
        for name in ("small.bin", "large.bin", "page.txt", "page.txt.gz", "404.html",
                     "own/index.html"):
            os.utime(os.path.join(self.root, name))

    def ask(self, what):
        """The response, or None if there was none to the end."""
        asked, _is_right = CASES[what]
        with Connection(self.address) as client:
            try:
                if asked is not None:
                    client.send(asked)
                else:
                    for piece in (b"GET /small.bin HTT", b"P/1.1\r\nHo", b"st: test\r\n\r\n"):
                        client.send(piece)
                return client.read_response("HEAD" if what == "head" else "GET")
            except (WireError, OSError) as error:
                self.assertNotIn("no answer for", str(error))
                return None

    def look_through(self, what, failures):
        _asked, is_right = CASES[what]
        for first in range(1, MOST):
            self.age()
            self.let_fail(first, failures)
            response = self.ask(what)
            count = self.be_whole()
            where = "%s, allocation %d of %d" % (what, first, count)
            self.assertTrue(
                response is None or response.status in (500, 503) or is_right(response), where)
            self.assertEqual(self.daemon.worker_pids, [self.pid], "died: " + where)
            response = self.ask(what)
            self.assertTrue(response is not None and is_right(response), "after " + where)
            if count < first:
                return first - 1
        self.fail("more than %d allocations" % MOST)

    def setUp(self):
        self.pid, = self.daemon.worker_pids
        self.let_fail(0)
        self.ask("echoed head")
        if self.be_whole() == 0:
            self.skipTest("the program brings an allocator of its own")

    def test_each_fails_in_turn(self):
        failed = 0
        for what in CASES:
            for failures in (1, 1000):
                with self.subTest(what=what, failures=failures):
                    failed += self.look_through(what, failures)
        print("%d allocations failed" % failed)

    def answer_of(self, client):
        try:
            return client.read_response()
        except (WireError, OSError) as error:
            self.assertNotIn("no answer for", str(error))
            return None

    def test_many_at_once(self):
        """More than the pools hold: connections, requests and buffers are allocated, too."""
        asked, is_right = CASES["echoed head"]
        fewest = AT_ONCE
        for first in range(1, AT_ONCE, 7):
            self.let_fail(first, MOST)
            clients = [Connection(self.address) for _ in range(AT_ONCE)]
            for client in clients:
                try:
                    client.send(asked)
                except (WireError, OSError):
                    pass
            right = 0
            for client in clients:
                response = self.answer_of(client)
                if response is not None and response.status != 503:
                    self.assertTrue(is_right(response), first)
                    right += 1
                client.close()
            fewest = min(fewest, right)
            self.be_whole()
            self.assertEqual(self.daemon.worker_pids, [self.pid])
            self.assertTrue(is_right(self.ask("echoed head")), first)
        self.assertLess(fewest, AT_ONCE, "nothing failed")


if __name__ == "__main__":
    suite.main(limit=120)
