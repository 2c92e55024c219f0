# SPDX-License-Identifier: MIT
"""The echo handler, and RFC 862 over TCP."""

import json
import os
import random
import threading

import suite
import tree
from evixd import Daemon, TestCase, configuration, host, memory_bytes
from wire import Connection, WireError, exchange, fetch, request

# What the daemon may grow by while 48 MiB and more pass through it: io_uring's receive buffers, which
# all connections share and which are touched here for the first time, are 4 MiB.
A_LITTLE = 16 << 20
# A sanitizer keeps what was freed, to notice its use; here memory is what is measured.
NO_QUARANTINE = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"}
# What streams through in `make check`; `make check-large` makes it 1 GiB.
LARGE = int(os.environ.get("ECHO_BYTES", 48 << 20))
SIZES = (0, 1, 100, 4095, 4096, 4097, 65535, 65536, 65537, 1048577)


class Site(TestCase):
    ENV = None

    @classmethod
    def serve(cls):
        return Daemon(
            config=configuration(
                listen=[
                    {"address": "127.0.0.1:0"},
                    {"address": "127.0.0.1:0", "protocol": "echo"},
                ],
                hosts=[host(cls.root, {"path": "/"}, {"path": "/echo", "handler": "echo"})],
                limits={"body": "4G"},
            ),
            listeners=2, env=cls.ENV,
        )


@suite.cases(
    [("%s %d bytes%s" % (method, size, " chunked" if chunks else ""), method, size, chunks)
     for method in ("POST", "PUT", "PATCH") for size in SIZES for chunks in (False, True)]
)
class Content(Site):
    def check(self, _label, method, size, chunks):
        body = tree.content(size)
        if chunks:
            data = request("/echo", method, ["Transfer-Encoding: chunked", "Content-Type: a/b; c=d"])
            for start in range(0, size, 30011):
                piece = body[start : start + 30011]
                data += b"%X\r\n%s\r\n" % (len(piece), piece)
            data += b"0\r\n\r\n"
        else:
            data = request("/echo", method, ["Content-Length: %d" % size, "Content-Type: a/b; c=d"], body=body)
        response, = self.talk(data, method)
        self.assertEqual(response.status, 200)
        self.assertTrue(response.body == body)
        self.assertEqual(response.get("Content-Type"), "a/b; c=d")
        if chunks and size:
            self.assertEqual(response.get("Transfer-Encoding"), "chunked")
        elif not chunks:
            self.assertEqual(response.get("Content-Length"), str(size))

    def talk(self, data, method):
        """Sends from a thread: the echo comes back while the rest still goes out."""
        with Connection(self.address) as connection:
            sender = threading.Thread(target=connection.send, args=(data + request("/echo/last"),))
            sender.start()
            response = connection.read_response(method)
            self.assertEqual(connection.read_response().status, 200)
            sender.join()
            return [response]


class Mirrored(Site):
    def test_get_shows_the_request_as_a_message(self):
        """RFC 9112 10.1: what was received, byte for byte."""
        data = b"GET /echo/a%20b?x=%26 HTTP/1.1\r\nHost: test\r\nX-Odd:   spaced  \r\nx-odd: again\r\n\r\n"
        response, = exchange(self.address, data)
        self.assertEqual(response.status, 200)
        self.assertTrue(response.get("Content-Type").startswith("message/http"))
        self.assertEqual(response.body, data)

    def test_head_tells_the_same_fields(self):
        data = request("/echo/x", "HEAD")
        response, = exchange(self.address, data, ("HEAD",))
        self.assertEqual(response.status, 200)
        self.assertEqual(response.body, b"")
        self.assertTrue(response.get("Content-Type").startswith("message/http"))

    def test_json_for_who_asks(self):
        for accept in ("application/json", "text/html;q=0.2, application/json", "application/*"):
            response = fetch(self.address, "/echo/a?b=c", fields=["Accept: " + accept, 'X-Odd: "q\\'])
            self.assertTrue(response.get("Content-Type").startswith("application/json"), accept)
            seen = json.loads(response.body.decode("utf-8"))
            self.assertEqual(seen["method"], "GET")
            self.assertEqual(seen["target"], "/echo/a?b=c")
            self.assertIn('"q\\', json.dumps(seen).replace('\\"', '"').replace("\\\\", "\\"))

    def test_json_is_valid_whatever_the_bytes(self):
        """0xFF in a value, quotes, tabs."""
        data = b'GET /echo HTTP/1.1\r\nHost: test\r\nAccept: application/json\r\nX: \xff\t"\xc3\xa4\r\n\r\n'
        response, = exchange(self.address, data)
        json.loads(response.body.decode("utf-8"))

    def test_message_for_who_refuses_json(self):
        response = fetch(self.address, "/echo", fields=["Accept: application/json;q=0, */*"])
        self.assertTrue(response.get("Content-Type").startswith("message/http"))

    def test_other_methods(self):
        self.assertEqual(fetch(self.address, "/echo", "DELETE").status, 405)
        self.assertIn(fetch(self.address, "/echo", "OPTIONS").status, (200, 204))

    def test_content_range_is_ignored(self):
        """14.4: it has no meaning for what is stored nowhere."""
        data = request("/echo", "PUT", ["Content-Length: 2", "Content-Range: bytes 5-6/100"], body=b"ok")
        response, = exchange(self.address, data, ("PUT",))
        self.assertEqual((response.status, response.body), (200, b"ok"))

    def test_segment_borders(self):
        self.assertEqual(fetch(self.address, "/echo/below").status, 200)
        self.assertEqual(fetch(self.address, "/echoes").status, 404)

    def test_the_type_is_not_a_way_in(self):
        """A repeated or odd Content-Type comes back as one line or not at all."""
        response, = exchange(
            self.address,
            request("/echo", "POST", ["Content-Length: 1", "Content-Type: text/html", "Content-Type: a/b"], body=b"x"),
            ("POST",),
        )
        self.assertIn(response.status, (200, 400))
        response.get("Content-Type")


class Bounded(Site):
    ENV = NO_QUARANTINE

    def test_memory_while_nobody_reads(self):
        """Back-pressure: 64 MiB go in, nothing is read; the daemon holds but a little of it."""
        pid = self.daemon.worker_pids[0]
        fetch(self.address, "/echo")
        before = memory_bytes(pid)
        with Connection(self.address, timeout=1, receive_buffer=4096) as connection:
            connection.send(request("/echo", "POST", ["Content-Length: 67108864"]))
            sent = 0
            try:
                for _ in range(1024):
                    connection.send(b"x" * 65536)
                    sent += 65536
            except WireError:
                pass
            self.assertLess(sent, 67108864, "all was taken although nothing was read")
            self.assertLess(memory_bytes(pid) - before, A_LITTLE)

    def stream(self, fields, pieces, read):
        """Sends LARGE bytes in a thread, and compares what comes back with `read(connection, size)`
        while they are sent: every byte the same, and the daemon no larger than before."""
        pid = self.daemon.worker_pids[0]
        fetch(self.address, "/echo")
        before = memory_bytes(pid, "VmHWM")
        block = tree.content(1 << 20)
        with Connection(self.address) as connection:
            def send():
                connection.send(request("/echo", "POST", fields))
                for _ in range(LARGE // len(block)):
                    pieces(connection, block)
                pieces(connection, b"")

            sender = threading.Thread(target=send)
            sender.start()
            self.assertEqual(connection.read_head("POST").status, 200)
            for number in range(LARGE // len(block)):
                self.assertTrue(read(connection, len(block)) == block, number)
            self.assertEqual(read(connection, 0), b"")
            sender.join()
            connection.send(request("/echo"))
            self.assertEqual(connection.read_response().status, 200)
        self.assertLess(memory_bytes(pid, "VmHWM") - before, A_LITTLE)

    def test_large_content_streams(self):
        self.stream(["Content-Length: %d" % LARGE], Connection.send, Connection.take)

    def test_large_chunked_content_streams(self):
        """Chunks of all sizes go in; what comes back may be cut otherwise, but holds the same."""
        chance = random.Random(1)
        left = bytearray()

        def send(connection, block):
            if not block:
                connection.send(b"0\r\n\r\n")
                return
            at, data = 0, bytearray()
            while at < len(block):
                piece = block[at : at + chance.choice((1, 17, 4096, 65536, 300000))]
                data += b"%x\r\n%s\r\n" % (len(piece), piece)
                at += len(piece)
            connection.send(data)

        def read(connection, size):
            while len(left) < size or size == 0:
                length = int(connection._line(), 16)
                left.extend(connection.take(length))
                self.assertEqual(connection.take(2), b"\r\n")
                if length == 0:
                    break
            data = bytes(left[:size])
            del left[:size]
            self.assertTrue(size or not left, "more than was sent")
            return data

        self.stream(["Transfer-Encoding: chunked"], send, read)

    def test_many_posts_in_one_write(self):
        """Pipelined, counted and chunked in turn, of sizes around those of the buffers."""
        sizes = [0, 1, 5, 1023, 1024, 1025, 4096, 65535, 65536, 65537, 3, 70000] * 5
        data = bytearray()
        for number, size in enumerate(sizes):
            body = tree.content(size, number)
            if number % 2:
                chunk = b"%x\r\n%s\r\n" % (size, body) if size else b""
                data += request("/echo", "PUT", ["Transfer-Encoding: chunked"], body=chunk + b"0\r\n\r\n")
            else:
                data += request("/echo", "POST", ["Content-Length: %d" % size], body=body)
        with Connection(self.address) as connection:
            sender = threading.Thread(target=connection.send, args=(data,))
            sender.start()
            for number, size in enumerate(sizes):
                body = connection.read_response("POST").body
                self.assertTrue(body == tree.content(size, number), (number, size))
            sender.join()

    def test_slow_writer(self):
        """A byte at a time, chunk framing included; each comes back when it has come."""
        body = tree.content(40)
        with Connection(self.address) as connection:
            connection.send(request("/echo", "POST", ["Content-Length: 40"]))
            for number in range(40):
                connection.send(body[number : number + 1])
                if number == 0:
                    self.assertEqual(connection.read_head("POST").status, 200)
                self.assertEqual(connection.take(1), body[number : number + 1])
            connection.send_slowly(
                request("/echo", "POST", ["Transfer-Encoding: chunked"], body=b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nA: b\r\n\r\n"),
                pause=0,
            )
            self.assertEqual(connection.read_response("POST").body, b"abcde")

    def test_slow_reader(self):
        """What the kernel's buffers can't hold waits for the client, and loses nothing."""
        body = tree.content(12 << 20)
        with Connection(self.address, receive_buffer=4096) as connection:
            sender = threading.Thread(target=connection.send, args=(
                request("/echo", "POST", ["Content-Length: %d" % len(body)], body=body),))
            sender.start()
            self.assertEqual(connection.read_head("POST").status, 200)
            for start in range(0, len(body), 1 << 20):
                self.assertTrue(connection.take(1 << 20) == body[start : start + (1 << 20)])
            sender.join()

    def test_first_bytes_come_back_before_the_last_are_sent(self):
        with Connection(self.address) as connection:
            connection.send(request("/echo", "POST", ["Content-Length: 10"], body=b"first"))
            self.assertEqual(connection.read_head("POST").status, 200)
            self.assertEqual(connection.take(5), b"first")
            connection.send(b"after")
            self.assertEqual(connection.take(5), b"after")

    def test_a_bad_chunk_after_good_ones(self):
        """9112 8: what has come back is known to be incomplete, since the last chunk is missing; and
        it is no reset, which could destroy it on its way."""
        for bad in (b"xyz\r\n", b"5\r\nhello!\r\n", b"0\r\nno field\r\n\r\n", b"5\n"):
            with Connection(self.address) as connection:
                connection.send(request("/echo", "POST", ["Transfer-Encoding: chunked"]) + b"4\r\ngood\r\n")
                self.assertEqual(connection.read_head("POST").status, 200)
                self.assertEqual(connection.take(9), b"4\r\ngood\r\n")
                connection.send(bad + request("/"))
                rest = connection.read_to_end()
                self.assertNotIn(b"\r\n0\r\n", b"\r\n" + rest, bad)
                self.assertNotIn(b"HTTP/", rest, bad)

    def test_a_bad_chunk_at_once(self):
        """Nothing has come back yet: so it can be refused."""
        with Connection(self.address) as connection:
            connection.send(request("/echo", "POST", ["Transfer-Encoding: chunked"]) + b"4\r\ngood\r\nxyz\r\n")
            response = connection.read_response("POST")
            self.assertEqual((response.status, response.keeps_alive), (400, False))

    def test_body_cut_short_is_not_passed_off_as_whole(self):
        with Connection(self.address) as connection:
            connection.send(request("/echo", "POST", ["Transfer-Encoding: chunked"]) + b"5\r\nhello\r\n")
            connection.half_close()
            self.assertFalse(connection.read_to_end().endswith(b"0\r\n\r\n"))


class Rfc862(Site):
    ENV = NO_QUARANTINE

    def connect(self, **options):
        return Connection(self.daemon.addresses[1], **options)

    def test_bytes_come_back(self):
        with self.connect() as connection:
            for size in SIZES[1:]:
                data = tree.content(size)
                sender = threading.Thread(target=connection.send, args=(data,))
                sender.start()
                self.assertTrue(connection.take(size) == data)
                sender.join()

    def test_half_close_brings_the_rest_and_the_end(self):
        with self.connect() as connection:
            connection.send(b"last words").half_close()
            self.assertEqual(connection.read_to_end(), b"last words")

    def test_http_is_but_bytes_here(self):
        with self.connect() as connection:
            connection.send(request("/")).half_close()
            self.assertEqual(connection.read_to_end(), request("/"))

    def test_many_clients(self):
        clients = [self.connect() for _ in range(50)]
        for number, client in enumerate(clients):
            client.send(b"client %d" % number)
        for number, client in enumerate(clients):
            expected = b"client %d" % number
            self.assertEqual(client.take(len(expected)), expected)
            client.close()

    def test_back_pressure(self):
        pid = self.daemon.worker_pids[0]
        before = memory_bytes(pid)
        with self.connect(timeout=1, receive_buffer=4096) as connection:
            with self.assertRaises(WireError):
                for _ in range(1024):
                    connection.send(b"x" * 65536)
            self.assertLess(memory_bytes(pid) - before, A_LITTLE)

    def test_reset(self):
        for _ in range(10):
            connection = self.connect()
            connection.send(b"x" * 1000)
            connection.reset()
        with self.connect() as connection:
            connection.send(b"alive").half_close()
            self.assertEqual(connection.read_to_end(), b"alive")


if __name__ == "__main__":
    suite.main(limit=60 + (LARGE >> 24))
