# SPDX-License-Identifier: MIT
"""Request content that nobody wants, that is too large, or that is held back: draining, lingering
close, Expect (RFC 9110 10.1.1, RFC 9112 9.3)."""


import suite
import tree
from evixd import Daemon, TestCase, configuration, descriptors, host, wait_until
from wire import Connection, exchange, fetch, request


class Site(TestCase):
    @classmethod
    def serve(cls):
        cls.page = b"<p>page\n"
        tree.write(cls.root, "index.html", cls.page)
        return Daemon(config=configuration(
            hosts=[host(
                cls.root, {"path": "/"}, {"path": "/echo", "handler": "echo"},
                {"path": "/old/", "redirect": {"status": 302, "to": "/new/"}},
            )],
            limits={"body": "256K"}, timeouts={"linger": 1, "body": 5},
        ))


def sized(target, method, body, fields=()):
    return request(target, method, ["Content-Length: %d" % len(body), *fields], body=body)


def chunked(target, method, body, size=1000):
    data = request(target, method, ["Transfer-Encoding: chunked"])
    for start in range(0, len(body), size):
        piece = body[start : start + size]
        data += b"%x\r\n%s\r\n" % (len(piece), piece)
    return data + b"0\r\n\r\n"


# label, bytes of the first request, its method, its statuses
UNWANTED = (
    ("POST to a file", sized("/", "POST", b"x" * 10240), "POST", (405,)),
    ("chunked POST to a file", chunked("/", "POST", b"x" * 10240), "POST", (405,)),
    ("GET with a body that looks like a request", sized("/", "GET", request("/none")), "GET", (200,)),
    ("redirect with a body that looks like a request", sized("/old/x", "GET", request("/none")), "GET", (302,)),
    ("chunked body that looks like a request", chunked("/", "GET", request("/none")), "GET", (200,)),
    ("404 with a body", sized("/none", "POST", b"GET / HTTP/1.1\r\n\r\n"), "POST", (404, 405)),
    ("HEAD with a body", sized("/", "HEAD", b"x" * 100), "HEAD", (200,)),
    ("501 with a body", sized("/", "BREW", b"x" * 100), "BREW", (501,)),
    ("OPTIONS with a body", sized("/", "OPTIONS", b"x" * 100), "OPTIONS", (200, 204)),
    ("echo of GET with a body", sized("/echo", "GET", request("/none")), "GET", (200,)),
)


@suite.cases(UNWANTED)
class Unwanted(Site):
    """The body is drained and the next request answered, or the connection ends cleanly."""

    def check(self, _label, data, method, statuses):
        for slowly in (0, 997):
            with Connection(self.address) as connection:
                whole = data + request("/", fields=["Connection: close"])
                if slowly:
                    connection.send_slowly(whole, slowly, 0)
                else:
                    connection.send(whole)
                first = connection.read_response(method)
                self.assertIn(first.status, statuses)
                if first.keeps_alive:
                    self.assertEqual(connection.read_response().body, self.page)
                connection.expect_end()


class TooLarge(Site):
    def test_announced(self):
        """9110 15.5.14: refused by its length, before a byte of it came."""
        for target in ("/", "/echo"):
            with Connection(self.address) as connection:
                connection.send(request(target, "POST", ["Content-Length: 300000"]))
                response = connection.read_response("POST")
                self.assertIn(response.status, (413,) if target == "/echo" else (413, 405))
                self.assertFalse(response.keeps_alive)

    def test_chunked(self):
        """The limit holds for chunks too."""
        with Connection(self.address) as connection:
            connection.send(request("/", "POST", ["Transfer-Encoding: chunked"]))
            try:
                for _ in range(100):
                    connection.send(b"2000\r\n" + b"x" * 8192 + b"\r\n")
            except OSError:
                pass
            response = connection.read_response("POST")
            self.assertIn(response.status, (413, 405))
            self.assertFalse(response.keeps_alive and response.status == 413)

    def test_chunked_to_echo(self):
        """The answer has begun by then, so all that is left is to cut it short."""
        with Connection(self.address) as connection:
            connection.send(request("/echo", "POST", ["Transfer-Encoding: chunked"]))
            received = bytearray()
            try:
                for _ in range(40):
                    connection.send(b"2000\r\n" + b"x" * 8192 + b"\r\n")
                    connection.socket.settimeout(0.01)
                    try:
                        received += connection.socket.recv(65536)
                    except TimeoutError:
                        pass
            except OSError:
                pass
            connection.socket.settimeout(connection.timeout)
            try:
                received += connection.read_to_end()
            except AssertionError:
                pass  # a reset: input was left unread
            self.assertFalse(received.endswith(b"0\r\n\r\n"), "passed off as whole")

    def test_one_chunk_that_is_too_large(self):
        with Connection(self.address) as connection:
            connection.send(request("/echo", "POST", ["Transfer-Encoding: chunked"]) + b"fffffff\r\n")
            response = connection.read_response("POST")
            self.assertEqual(response.status, 413)

    def test_at_the_limit(self):
        body = tree.content(256 * 1024)
        self.assertEqual(exchange(self.address, sized("/echo", "POST", body), ("POST",))[0].body, body)

    def test_the_answer_arrives_although_the_client_goes_on_sending(self):
        """Closed with input unread, a reset would destroy the answer on its way."""
        for _ in range(20):
            with Connection(self.address) as connection:
                connection.send(request("/echo", "POST", ["Content-Length: 10000000"]))
                try:
                    connection.send(b"x" * 100000)
                except OSError:
                    pass
                self.assertEqual(connection.read_response("POST").status, 413)


class Expectation(Site):
    def test_continue_comes_first(self):
        """100, then the content, then the answer."""
        with Connection(self.address) as connection:
            connection.send(request("/echo", "POST", ["Content-Length: 5", "Expect: 100-continue"]))
            interim = connection.read_head("POST")
            self.assertEqual((interim.status, interim.fields), (100, []))
            connection.send(b"hello")
            response = connection.read_response("POST")
            self.assertEqual((response.status, response.body), (200, b"hello"))

    def test_chunked(self):
        with Connection(self.address) as connection:
            connection.send(request("/echo", "PUT", ["Transfer-Encoding: chunked", "Expect: 100-continue"]))
            self.assertEqual(connection.read_head("PUT").status, 100)
            connection.send(b"5\r\nhello\r\n0\r\n\r\n")
            self.assertEqual(connection.read_response("PUT").body, b"hello")

    def test_content_that_is_there_already(self):
        """10.1.1: a 100 may be left out then, and is: also where but a part has come."""
        for cut in (1, 4, 5):
            with Connection(self.address) as connection:
                head = request("/echo", "POST", ["Content-Length: 5", "Expect: 100-continue"])
                connection.send(head + b"hello"[:cut])
                response = connection.read_head("POST")
                self.assertEqual((response.status, connection.take(cut)), (200, b"hello"[:cut]))
                connection.send(b"hello"[cut:])
                self.assertEqual(connection.take(5 - cut), b"hello"[cut:])

    def test_none_to_http_1_0(self):
        data = request("/echo", "POST", ["Content-Length: 5", "Expect: 100-continue"], version="1.0")
        with Connection(self.address) as connection:
            connection.send(data)
            connection.expect_silence(0.1)
            connection.send(b"hello")
            response = connection.read_response("POST")
            self.assertEqual((response.body, response.interim), (b"hello", []))

    def test_none_without_content(self):
        response = fetch(self.address, "/", fields=["Expect: 100-continue"])
        self.assertEqual((response.status, response.interim), (200, []))

    def test_final_answer_at_once_where_content_is_not_wanted(self):
        """405 and close; the content, held back, is not waited for."""
        for fields in (["Content-Length: 100000"], ["Transfer-Encoding: chunked"]):
            with Connection(self.address) as connection:
                connection.send(request("/", "POST", fields + ["Expect: 100-continue"]))
                response = connection.read_response("POST")
                self.assertEqual((response.status, response.interim), (405, []))
                self.assertFalse(response.keeps_alive)

    def test_too_large_is_refused_before_it_is_sent(self):
        with Connection(self.address) as connection:
            connection.send(request("/echo", "POST", ["Content-Length: 9999999", "Expect: 100-continue"]))
            response = connection.read_response("POST")
            self.assertEqual((response.status, response.interim), (413, []))
            self.assertFalse(response.keeps_alive)

    def test_unknown_expectation(self):
        response = fetch(self.address, "/", fields=["Expect: 200-maybe"])
        self.assertEqual(response.status, 417)


class Gone(Site):
    def test_client_that_leaves_within_an_unwanted_body(self):
        """Noticed at once, not after the timeout."""
        pid = self.daemon.worker_pids[0]
        fetch(self.address, "/")
        before = wait_until(lambda: descriptors(pid), "descriptors")
        for _ in range(10):
            with Connection(self.address) as connection:
                connection.send(request("/", "POST", ["Content-Length: 200000"], body=b"x" * 1000))
                connection.read_response("POST")
        wait_until(lambda: descriptors(pid) <= before, "the connections are freed", timeout=4)


if __name__ == "__main__":
    suite.main()
