# SPDX-License-Identifier: MIT
"""Persistent connections: keep-alive, pipelining, half-close, HTTP/1.0 (RFC 9112 9)."""

import json
import os

import suite
import tree
from evixd import Daemon, TestCase, configuration, host, memory_bytes, wait_until
from wire import Connection, WireError, exchange, fetch, request

# A sanitizer keeps what was freed, to notice its use; where memory is measured, that would count.
NO_QUARANTINE = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"}

KEPT, CLOSED = True, False

# label, version, fields, whether the connection is kept
ROWS = (
    ("9.3 HTTP/1.1", "1.1", [], KEPT),
    ("9.6 close", "1.1", ["Connection: close"], CLOSED),
    ("9.6 Close in any case", "1.1", ["Connection: CLOSE"], CLOSED),
    ("9.6 close in a list", "1.1", ["Connection: TE, close"], CLOSED),
    ("9.6 close on the second line", "1.1", ["Connection: TE", "Connection: close"], CLOSED),
    ("9.6 close wins", "1.1", ["Connection: keep-alive, close"], CLOSED),
    ("7.6.1 a word that only holds close", "1.1", ["Connection: closed"], KEPT),
    ("empty members", "1.1", ["Connection: TE,,Keep-Alive"], KEPT),
    ("nothing but commas", "1.1", ["Connection: ,,,"], KEPT),
    ("nothing", "1.1", ["Connection:"], KEPT),
    ("9.3 HTTP/1.0", "1.0", [], CLOSED),
    ("9.3 HTTP/1.0 keep-alive", "1.0", ["Connection: keep-alive"], KEPT),
    ("9.3 HTTP/1.0 Keep-Alive in any case", "1.0", ["Connection: Keep-Alive"], KEPT),
    ("9.3 HTTP/1.0 close", "1.0", ["Connection: close"], CLOSED),
)


class Site(TestCase):
    @classmethod
    def serve(cls):
        cls.small = tree.content(1024)
        cls.medium = tree.content(60000)
        cls.large = tree.content(3 * 1048576 + 1)
        tree.write(cls.root, "small.bin", cls.small)
        tree.write(cls.root, "medium.bin", cls.medium)
        tree.write(cls.root, "large.bin", cls.large)
        return Daemon(config=configuration(
            hosts=[host(cls.root, {"path": "/", "listing": True}, {"path": "/echo", "handler": "echo"})],
        ), env=NO_QUARANTINE)


@suite.cases(ROWS)
class Kept(Site):
    def check(self, _label, version, fields, kept):
        data = request("/small.bin", fields=fields, version=version)
        with Connection(self.address) as connection:
            for _ in range(3 if kept else 1):
                connection.send(data)
                response = connection.read_response()
                self.assertEqual(response.body, self.small)
                self.assertEqual(response.keeps_alive, kept)
                if version == "1.0" and kept:
                    self.assertIn("keep-alive", response.members("Connection"))
            if not kept:
                connection.expect_end()


class Pipelining(Site):
    def test_in_order_with_the_slower_first(self):
        """9.3.2: a large file, then what is answered at once."""
        data = request("/large.bin") + request("/none") + request("/small.bin") + request("/", "HEAD")
        with Connection(self.address) as connection:
            connection.send(data)
            self.assertTrue(connection.read_response().body == self.large)
            self.assertEqual(connection.read_response().status, 404)
            self.assertEqual(connection.read_response().body, self.small)
            self.assertEqual(connection.read_response("HEAD").status, 200)
            self.assertEqual(bytes(connection.buffer), b"")

    def test_many_at_once(self):
        with Connection(self.address) as connection:
            connection.send(request("/small.bin") * 200)
            for _ in range(200):
                self.assertEqual(connection.read_response().body, self.small)

    def test_mixed_with_bodies(self):
        data = b""
        for number in range(50):
            body = tree.content(number * 37, number)
            data += request("/echo", "POST", ["Content-Length: %d" % len(body)], body=body)
            data += request("/small.bin")
        with Connection(self.address) as connection:
            connection.send(data)
            for number in range(50):
                self.assertEqual(
                    connection.read_response("POST").body, tree.content(number * 37, number)
                )
                self.assertEqual(connection.read_response().body, self.small)

    def test_answers_before_a_broken_chunk(self):
        """9112 7.1: the broken request fails, those before it were answered."""
        head = request("/echo", "POST", ["Transfer-Encoding: chunked"])
        for chunk in (b"ZZ\r\n", b"FFFFFFFFF\r\n", b"5\r\nabcdefgh\r\n"):
            with Connection(self.address) as connection:
                connection.send(request("/small.bin") * 3 + head + b"5\r\nhello\r\n" + chunk)
                for _ in range(3):
                    self.assertEqual(connection.read_response().body, self.small)
                rest = connection.read_to_end()
                self.assertFalse(rest.endswith(b"0\r\n\r\n"), rest)

    def test_after_close_nothing_more_is_answered(self):
        """9.6: what follows a request with `close` is not looked at."""
        data = request("/small.bin", fields=["Connection: close"]) + request("/small.bin")
        with Connection(self.address) as connection:
            connection.send(data)
            self.assertEqual(connection.read_response().body, self.small)
            connection.expect_end()

    def test_what_follows_close_does_not_destroy_the_answer(self):
        """9.6: bytes that arrive while the answer leaves must not turn the end into a reset."""
        last = request("/small.bin", fields=["Connection: close"])
        for _ in range(100):
            with Connection(self.address) as connection:
                connection.send(last)
                connection.send(b"\r\n")
                self.assertEqual(connection.read_response().body, self.small)

    def test_what_follows_close_behind_a_full_socket(self):
        last = request("/medium.bin", fields=["Connection: close"])
        with Connection(self.address, receive_buffer=4096) as connection:
            connection.send(request("/medium.bin") * 199 + last)
            for number in range(200):
                if number == 50:
                    connection.send(b"\r\n")
                self.assertTrue(connection.read_response().body == self.medium, number)

    def test_split_at_every_border(self):
        """Two requests in two pieces, cut anywhere."""
        data = request("/small.bin") + request("/none")
        for cut in range(1, len(data)):
            with Connection(self.address) as connection:
                connection.send(data[:cut]).send(data[cut:])
                self.assertEqual(connection.read_response().body, self.small)
                self.assertEqual(connection.read_response().status, 404)

    def test_slow_writer(self):
        data = request("/small.bin") * 3
        with Connection(self.address) as connection:
            connection.send_slowly(data, pause=0.0005)
            for _ in range(3):
                self.assertEqual(connection.read_response().body, self.small)

    def test_many_requests_one_after_the_other(self):
        """No stuck state, however quickly they follow."""
        with Connection(self.address) as connection:
            for _ in range(2000):
                connection.send(request("/small.bin"))
                self.assertEqual(len(connection.read_response().body), 1024)

    def test_pipelined_while_nobody_reads(self):
        """Back-pressure: the daemon stops reading, and all is answered once the client reads."""
        count = 40
        with Connection(self.address, receive_buffer=4096) as connection:
            connection.send(request("/large.bin") * count)
            for _ in range(count):
                self.assertTrue(connection.read_response().body == self.large)


    def test_memory_while_requests_pour_in(self):
        """Whatever a client pipelines without reading, we stop reading, too."""
        pid = self.daemon.worker_pids[0]
        fetch(self.address, "/small.bin")
        before = memory_bytes(pid)
        with Connection(self.address, timeout=1, receive_buffer=4096) as connection:
            with self.assertRaises(WireError):
                for _ in range(1024):
                    connection.send(request("/large.bin") * 1600)
            self.assertLess(memory_bytes(pid) - before, 16 << 20)
        self.assertEqual(fetch(self.address, "/small.bin").body, self.small)

    def test_an_expectation_behind_other_requests(self):
        """10.1.1: the answers that are owed come first, then the 100, then the answer to it."""
        held_back = request("/echo", "POST", ["Content-Length: 5", "Expect: 100-continue"])
        with Connection(self.address) as connection:
            connection.send(request("/large.bin") + request("/none") + held_back)
            self.assertTrue(connection.read_response().body == self.large)
            self.assertEqual(connection.read_response().status, 404)
            self.assertEqual(connection.read_head("POST").status, 100)
            connection.send(b"hello" + request("/small.bin"))
            self.assertEqual(connection.read_response("POST").body, b"hello")
            self.assertEqual(connection.read_response().body, self.small)


class HalfClose(Site):
    def test_request_then_fin(self):
        with Connection(self.address) as connection:
            connection.send(request("/small.bin")).half_close()
            self.assertEqual(connection.read_response().body, self.small)
            connection.expect_end()

    def test_large_file_for_a_half_closed_client(self):
        with Connection(self.address) as connection:
            connection.send(request("/large.bin")).half_close()
            self.assertTrue(connection.read_response().body == self.large)
            connection.expect_end()

    def test_pipelined_then_fin(self):
        with Connection(self.address) as connection:
            connection.send(request("/large.bin") + request("/small.bin") * 5).half_close()
            self.assertTrue(connection.read_response().body == self.large)
            for _ in range(5):
                self.assertEqual(connection.read_response().body, self.small)
            connection.expect_end()

    def test_answers_before_a_body_that_stays_half(self):
        """What is owed for whole requests leaves, whatever came of the last one."""
        for count in (1, 4, 64):
            with Connection(self.address, receive_buffer=4096) as connection:
                connection.send(
                    request("/large.bin") + request("/small.bin") * count
                    + request("/echo", "POST", ["Content-Length: 100"])
                ).half_close()
                self.assertTrue(connection.read_response().body == self.large)
                for _ in range(count):
                    self.assertEqual(connection.read_response().body, self.small)

    def test_fin_within_a_head(self):
        """No request, so no answer but at most a 400; and the connection ends."""
        with Connection(self.address) as connection:
            connection.send(b"GET / HTTP/1.1\r\nHost: te").half_close()
            rest = connection.read_to_end()
            self.assertTrue(rest == b"" or rest.startswith(b"HTTP/1.1 400 "), rest)

    def test_fin_within_a_body(self):
        with Connection(self.address) as connection:
            connection.send(request("/echo", "POST", ["Content-Length: 100"], body=b"half")).half_close()
            rest = connection.read_to_end()
            self.assertNotIn(b"\r\n\r\nhalf" + b"\0", rest)

    def test_fin_at_once(self):
        with Connection(self.address) as connection:
            connection.half_close()
            connection.expect_end()


class OldVersion(Site):
    def test_no_chunks_to_http_1_0(self):
        """9112 6.1: what has no known length ends with the connection there."""
        for fields in ([], ["Connection: keep-alive"]):
            with Connection(self.address) as connection:
                connection.send(request("/", version="1.0", fields=fields))
                response = connection.read_response()
                self.assertEqual(response.status, 200)
                self.assertIsNone(response.get("Transfer-Encoding"))
                self.assertTrue(response.until_close)
                self.assertIn("close", response.members("Connection"))
                self.assertIn(b"large.bin", response.body)
        with Connection(self.address) as connection:
            connection.send(request("/"))
            self.assertEqual(connection.read_response().get("Transfer-Encoding"), "chunked")


class Abrupt(Site):
    def test_reset_at_every_stage(self):
        """Whatever the moment, the daemon frees the connection and goes on."""
        post = request("/echo", "POST", ["Content-Length: 100000"])
        for data in (b"", b"GET / HT", request("/small.bin"), request("/large.bin"),
                     request("/large.bin") * 5, post, post + b"x" * 50000):
            for read_first in (False, True):
                connection = Connection(self.address)
                connection.send(data)
                if read_first and data.startswith((b"GET /small", b"GET /large")):
                    connection.receive(100)
                connection.reset()
        self.assertEqual(fetch(self.address, "/small.bin").body, self.small)

    def test_client_that_leaves_within_a_large_file(self):
        for _ in range(20):
            with Connection(self.address, receive_buffer=4096) as connection:
                connection.send(request("/large.bin"))
                connection.receive(1000)
        self.assertEqual(fetch(self.address, "/small.bin").body, self.small)


class Exact(Site):
    def test_responses_hold_no_byte_too_many(self):
        for method, target, fields in (
            ("GET", "/small.bin", []), ("HEAD", "/small.bin", []), ("GET", "/none", []),
            ("HEAD", "/none", []), ("GET", "/", []), ("HEAD", "/", []), ("OPTIONS", "/", []),
            ("GET", "/small.bin", ["Range: bytes=5-6"]), ("GET", "/small.bin", ["Range: bytes=5000-"]),
            ("DELETE", "/small.bin", []), ("BREW", "/small.bin", []),
        ):
            exchange(self.address, request(target, method, fields), (method,))

    def test_limit_of_requests(self):
        """limits.requests_per_connection: the last answer says close, and it is."""
        with Daemon(config=configuration(
            hosts=[host(self.root, {"path": "/"})], limits={"requests_per_connection": 3},
        )) as daemon:
            with Connection(daemon.address) as connection:
                for number in (1, 2, 3):
                    connection.send(request("/small.bin"))
                    self.assertEqual(connection.read_response().keeps_alive, number < 3)
                connection.expect_end()

    def serve_with_status(self, **settings):
        return Daemon(config=configuration(
            hosts=[host(self.root, {"path": "/"}, {"path": "/echo", "handler": "echo"},
                        {"path": "/status", "handler": "status"})],
            **settings,
        ))

    def wait_until_sent(self, address):
        """What the client has not read waits in the kernel."""
        def is_sent():
            found = json.loads(fetch(address, "/status/json").body)
            return found["connections"]["sending"] == 0

        wait_until(is_sent, "the rest of the answer waits in the kernel")

    def test_what_follows_the_last_of_a_limit_does_not_destroy_it(self):
        """9.6: who has not read `close` yet may send another request, also when all is answered."""
        with self.serve_with_status(limits={"requests_per_connection": 1}) as daemon:
            with Connection(daemon.address, receive_buffer=4096) as connection:
                connection.send(request("/medium.bin"))
                connection.buffer += connection.receive(1)
                self.wait_until_sent(daemon.address)
                connection.send(request("/small.bin"))
                self.assertTrue(connection.read_response().body == self.medium)
                connection.expect_end()

    def test_what_follows_the_last_of_a_client_does_not_destroy_it(self):
        """9.6, 2.2: a client that said `close` may still send an empty line, or what it must not."""
        close = ["Connection: close"]
        part = ["Range: bytes=100-33755"]
        last_of = {
            "one answer": (request("/medium.bin", fields=close), [self.medium]),
            "a range": (request("/medium.bin", fields=close + part), [self.medium[100:33756]]),
            "HTTP/1.0": (request("/medium.bin", version="1.0"), [self.medium]),
            "small ones": (request("/small.bin") * 39 + request("/small.bin", fields=close),
                           [self.small] * 40),
            "a large file": (request("/large.bin", fields=close), [self.large]),
        }
        with self.serve_with_status() as daemon:
            for name, (data, contents) in last_of.items():
                for more in (b"\r\n", b"GET /small.bin HT", request("/small.bin")):
                    with self.subTest(name=name, more=more):
                        self.check_last(daemon.address, data, more, contents)

    def test_answer_in_small_pieces_is_not_destroyed_either(self):
        """An echo answers as its content comes: no piece is large, but all of them together are."""
        piece = b"%x\r\n%s\r\n" % (8000, b"e" * 8000)
        head = request("/echo", "POST", fields=["Connection: close", "Transfer-Encoding: chunked"])
        with self.serve_with_status() as daemon:
            with Connection(daemon.address, receive_buffer=4096) as connection:
                connection.send(head)
                for _ in range(8):
                    connection.send(piece)
                    fetch(daemon.address, "/status/json")  # it is answered after the piece
                connection.send(b"0\r\n\r\n")
                self.wait_until_sent(daemon.address)
                connection.send(b"\r\n").half_close()
                self.assertTrue(connection.read_response().body == b"e" * 64000)
                connection.expect_end()

    def check_last(self, address, data, more, contents):
        with Connection(address, receive_buffer=4096) as connection:
            connection.send(data)
            connection.buffer += connection.receive(1)
            if len(contents[0]) < 1 << 20:  # else it does not fit into the kernel
                self.wait_until_sent(address)
            connection.send(more).half_close()
            for content in contents:
                self.assertTrue(connection.read_response().body == content)
            connection.expect_end()


if __name__ == "__main__":
    suite.main()
