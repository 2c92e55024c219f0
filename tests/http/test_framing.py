# SPDX-License-Identifier: MIT
"""The framing guard: what is no request gets its status, and the next client never notices."""

import suite
import tree
from evixd import Daemon, TestCase, configuration, host
from wire import Connection, WireError, exchange, fetch, request

# What an answer to a refused request has to do with the connection.
CLOSE, EITHER = "close", "either"

HEAD = b"GET / HTTP/1.1\r\nHost: test\r\n"
POST = b"POST /echo HTTP/1.1\r\nHost: test\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"

# label, bytes, statuses that are right, what happens to the connection
ROWS = (
    # The request line.
    ("9112 2.2 lone LF after the request line", b"GET / HTTP/1.1\nHost: test\r\n\r\n", 400, CLOSE),
    ("9112 2.2 lone LF everywhere", b"GET / HTTP/1.1\nHost: test\n\n", 400, CLOSE),
    ("9112 2.2 bare CR in the request line", b"GET /\rx HTTP/1.1\r\nHost: test\r\n\r\n", 400, CLOSE),
    ("9112 3 two spaces before the target", b"GET  / HTTP/1.1\r\nHost: test\r\n\r\n", 400, CLOSE),
    ("9112 3 two spaces after the target", b"GET /  HTTP/1.1\r\nHost: test\r\n\r\n", 400, CLOSE),
    ("9112 3 tab as a separator", b"GET\t/\tHTTP/1.1\r\nHost: test\r\n\r\n", 400, CLOSE),
    ("9112 3 space at the line's start", b" GET / HTTP/1.1\r\nHost: test\r\n\r\n", 400, CLOSE),
    ("9112 3 space at the line's end", b"GET / HTTP/1.1 \r\nHost: test\r\n\r\n", 400, CLOSE),
    ("9112 3 HTTP/0.9", b"GET /\r\n\r\n", (400, 505), CLOSE),
    ("9112 3 no target", b"GET HTTP/1.1\r\nHost: test\r\n\r\n", 400, CLOSE),
    ("9112 3.2 target without a slash", b"GET index.html HTTP/1.1\r\nHost: test\r\n\r\n", 400, CLOSE),
    ("9112 3.2 space within the target", b"GET /a b HTTP/1.1\r\nHost: test\r\n\r\n", 400, CLOSE),
    ("9112 3.2.4 asterisk with GET", b"GET * HTTP/1.1\r\nHost: test\r\n\r\n", 400, CLOSE),
    ("9112 3.2.3 authority with GET", b"GET test:80 HTTP/1.1\r\nHost: test\r\n\r\n", 400, CLOSE),
    ("3986 2 byte above 0x7F in the target", b"GET /\xc3\xa4 HTTP/1.1\r\nHost: test\r\n\r\n", 400, CLOSE),
    ("3986 2 DEL in the target", b"GET /\x7f HTTP/1.1\r\nHost: test\r\n\r\n", 400, CLOSE),
    ("raw NUL in the target", b"GET /\0 HTTP/1.1\r\nHost: test\r\n\r\n", 400, CLOSE),
    ("9112 3.1 NUL in the method", b"G\0T / HTTP/1.1\r\nHost: test\r\n\r\n", 400, CLOSE),
    ("9110 5.6.2 method that is no token", b"GE(T / HTTP/1.1\r\nHost: test\r\n\r\n", 400, CLOSE),
    ("9112 2.2 five empty lines are too many", b"\r\n" * 5 + HEAD + b"\r\n", 400, CLOSE),
    ("TLS hello on a plain port", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 64, 400, CLOSE),
    ("HTTP/2 preface", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", (400, 505), CLOSE),
    # Versions.
    ("HTTP/2.0", b"GET / HTTP/2.0\r\nHost: test\r\n\r\n", 505, CLOSE),
    ("HTTP/3.1", b"GET / HTTP/3.1\r\nHost: test\r\n\r\n", 505, CLOSE),
    ("HTTP/0.9 in words", b"GET / HTTP/0.9\r\nHost: test\r\n\r\n", 505, CLOSE),
    ("HTTP/1.32", b"GET / HTTP/1.32\r\nHost: test\r\n\r\n", (400, 505), CLOSE),
    ("overflow", b"GET / HTTP/4294967297.1\r\nHost: test\r\n\r\n", (400, 505), CLOSE),
    ("lower case", b"GET / http/1.1\r\nHost: test\r\n\r\n", (400, 505), CLOSE),
    ("9112 2.3 no minor version", b"GET / HTTP/1\r\nHost: test\r\n\r\n", (400, 505), CLOSE),
    ("9112 2.3 signed version", b"GET / HTTP/+1.1\r\nHost: test\r\n\r\n", (400, 505), CLOSE),
    ("9112 2.3 another protocol", b"GET / RTSP/1.0\r\nHost: test\r\n\r\n", (400, 505), CLOSE),
    # Methods.
    ("M-SEARCH", b"M-SEARCH / HTTP/1.1\r\nHost: test\r\n\r\n", 501, EITHER),
    ("BREW", b"BREW / HTTP/1.1\r\nHost: test\r\n\r\n", 501, EITHER),
    ("9110 9.1 get in lower case is another method", b"get / HTTP/1.1\r\nHost: test\r\n\r\n", 501, EITHER),
    ("9110 9.1 longer than a known one", b"GETS / HTTP/1.1\r\nHost: test\r\n\r\n", 501, EITHER),
    ("9110 15.6.2 WebDAV", b"PROPFIND / HTTP/1.1\r\nHost: test\r\n\r\n", 501, EITHER),
    ("9110 15.5.6 DELETE of a file", b"DELETE / HTTP/1.1\r\nHost: test\r\n\r\n", 405, EITHER),
    ("9110 15.5.6 TRACE of a file", b"TRACE / HTTP/1.1\r\nHost: test\r\n\r\n", 405, EITHER),
    ("9110 9.3.6 CONNECT", b"CONNECT test:80 HTTP/1.1\r\nHost: test:80\r\n\r\n", (400, 405, 501), EITHER),
    ("POST to a directory", b"POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 0\r\n\r\n", 405, EITHER),
    # Field lines.
    ("9112 5.1 space before the colon", HEAD + b"X : y\r\n\r\n", 400, CLOSE),
    ("9112 5.1 tab before the colon", HEAD + b"X\t: y\r\n\r\n", 400, CLOSE),
    ("empty name", HEAD + b": x\r\n\r\n", 400, CLOSE),
    ("no colon", HEAD + b"Content-Length 10\r\n\r\n", 400, CLOSE),
    ("fold", HEAD + b"X: a\r\n b\r\n\r\n", 400, CLOSE),
    ("fold with a tab", HEAD + b"X: a\r\n\tb\r\n\r\n", 400, CLOSE),
    ("the first field is indented", b"GET / HTTP/1.1\r\n\tHost: test\r\n\r\n", 400, CLOSE),
    ("white space alone", HEAD + b" \r\n\r\n", 400, CLOSE),
    ("9110 5.6.2 name that is no token", HEAD + b"X(y): z\r\n\r\n", 400, CLOSE),
    ("9110 5.6.2 byte above 0x7F in a name", HEAD + b"X\xe4: z\r\n\r\n", 400, CLOSE),
    ("9110 5.5 NUL in a value", HEAD + b"X: a\0b\r\n\r\n", 400, CLOSE),
    ("9112 2.2 bare CR in a value", HEAD + b"X: a\rb\r\n\r\n", 400, CLOSE),
    ("9112 2.2 CR CR LF, and nothing more", HEAD + b"\r\r\n", 400, CLOSE),
    ("9112 2.2 LF CR", HEAD + b"X: a\n\r\n\r\n", 400, CLOSE),
    ("9110 5.5 control byte in a value", HEAD + b"X: a\x01b\r\n\r\n", 400, CLOSE),
    ("9110 5.5 DEL in a value", HEAD + b"X: a\x7fb\r\n\r\n", 400, CLOSE),
    ("9112 2.2 lone LF after a field", b"GET / HTTP/1.1\r\nHost: test\nX: y\r\n\r\n", 400, CLOSE),
    ("9112 2.2 lone LF as the last line", HEAD + b"\n", 400, CLOSE),
    # Host.
    ("9112 3.2 no Host", b"GET / HTTP/1.1\r\n\r\n", 400, CLOSE),
    ("9112 3.2 two Hosts", HEAD + b"Host: test\r\n\r\n", 400, CLOSE),
    ("9112 3.2 two different Hosts", HEAD + b"Host: other\r\n\r\n", 400, CLOSE),
    ("Host with a slash", b"GET / HTTP/1.1\r\nHost: a/../b\r\n\r\n", 400, CLOSE),
    ("9112 3.2 Host with a space", b"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400, CLOSE),
    ("9112 3.2 Host with user information", b"GET / HTTP/1.1\r\nHost: me@test\r\n\r\n", 400, CLOSE),
    ("9112 3.2 Host with a malformed port", b"GET / HTTP/1.1\r\nHost: test:8x\r\n\r\n", 400, CLOSE),
    ("9112 3.2 Host as a list", b"GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", 400, CLOSE),
    ("3986 3.2.2 Host with an open bracket", b"GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", 400, CLOSE),
    ("9112 3.2.2 absolute form with an invalid Host", b"GET http://test/ HTTP/1.1\r\nHost: a b\r\n\r\n", 400, CLOSE),
    ("9112 3.2.2 absolute form with two Hosts", b"GET http://test/ HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400, CLOSE),
    ("9112 3.2.2 absolute form without a host", b"GET http:///x HTTP/1.1\r\nHost: test\r\n\r\n", 400, CLOSE),
    ("9110 4.2.4 absolute form with user information", b"GET http://me@test/ HTTP/1.1\r\nHost: test\r\n\r\n", 400, CLOSE),
    ("9112 3.2.2 absolute form of another scheme", b"GET ftp://test/ HTTP/1.1\r\nHost: test\r\n\r\n", 400, CLOSE),
    ("9110 7.4 an https target on a plain connection", b"GET https://test/ HTTP/1.1\r\nHost: test\r\n\r\n", 421, CLOSE),
    ("9112 3.2 empty Host", b"GET / HTTP/1.1\r\nHost:\r\n\r\n", 400, CLOSE),
    ("9112 3.2 Host that is dots", b"GET / HTTP/1.1\r\nHost: ..\r\n\r\n", 400, CLOSE),
    ("9112 3.2 Host with a port beyond 65535", b"GET / HTTP/1.1\r\nHost: test:65536\r\n\r\n", 400, CLOSE),
    ("9112 3.2 invalid Host in HTTP/1.0", b"GET / HTTP/1.0\r\nHost: a b\r\n\r\n", 400, CLOSE),
    ("3986 3.2.2 Host as an invalid IPv6 literal", b"GET / HTTP/1.1\r\nHost: [::g]\r\n\r\n", 400, CLOSE),
    ("3986 3.2.2 Host as an IPv6 address without brackets", b"GET / HTTP/1.1\r\nHost: ::1\r\n\r\n", 400, CLOSE),
    ("9112 3.2 absolute form needs a Host too", b"GET http://test/ HTTP/1.1\r\n\r\n", 400, CLOSE),
    # Lengths.
    ("length and coding", POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" + END, 400, CLOSE),
    ("coding and length", POST + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n" + END, 400, CLOSE),
    ("chunked is not last", POST + b"Transfer-Encoding: chunked, identity\r\n\r\n" + END, 400, CLOSE),
    ("xchunked", POST + b"Transfer-Encoding: xchunked\r\n\r\n" + END, (400, 501), CLOSE),
    ("gzip alone", POST + b"Transfer-Encoding: gzip\r\n\r\n" + END, (400, 501), CLOSE),
    ("9112 7 gzip, chunked is not decoded", POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + END, (400, 501), CLOSE),
    ("9112 6.1 empty coding", POST + b"Transfer-Encoding:\r\n\r\n" + END, 400, CLOSE),
    ("9112 6.1 coding with parameters", POST + b"Transfer-Encoding: chunked;x=y\r\n\r\n" + END, (400, 501), CLOSE),
    ("9112 6.1 quoted coding", POST + b'Transfer-Encoding: "chunked"\r\n\r\n' + END, (400, 501), CLOSE),
    ("9112 6.1 vertical tab around chunked", POST + b"Transfer-Encoding: \x0bchunked\r\n\r\n" + END, 400, CLOSE),
    ("two chunked lines", POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + END, 400, CLOSE),
    ("chunked twice in a line", POST + b"Transfer-Encoding: chunked, chunked\r\n\r\n" + END, 400, CLOSE),
    ("9112 6.1 coding in HTTP/1.0", b"POST /echo HTTP/1.0\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n" + END, 400, CLOSE),
    ("empty length", POST + b"Content-Length:\r\n\r\n", 400, CLOSE),
    ("9112 6.3 signed length", POST + b"Content-Length: +4\r\n\r\nabcd", 400, CLOSE),
    ("9112 6.3 negative length", POST + b"Content-Length: -1\r\n\r\n", 400, CLOSE),
    ("9112 6.3 length in hex", POST + b"Content-Length: 0x4\r\n\r\nabcd", 400, CLOSE),
    ("9112 6.3 length with a fraction", POST + b"Content-Length: 4.0\r\n\r\nabcd", 400, CLOSE),
    ("9112 6.3 length with a space inside", POST + b"Content-Length: 4 4\r\n\r\nabcd", 400, CLOSE),
    ("9112 6.3 differing lengths", POST + b"Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcd", 400, CLOSE),
    ("9112 6.3 differing lengths in a list", POST + b"Content-Length: 4, 5\r\n\r\nabcd", 400, CLOSE),
    ("9112 6.3 length beyond 64 bits", POST + b"Content-Length: 18446744073709551617\r\n\r\n", (400, 413), CLOSE),
    ("9110 15.5.14 length above the limit", POST + b"Content-Length: 9000000000000000000\r\n\r\n", 413, CLOSE),
    # Chunks.
    ("hex prefix", CHUNKED + b"0x5\r\nhello\r\n" + END, 400, CLOSE),
    ("plus", CHUNKED + b"+5\r\nhello\r\n" + END, 400, CLOSE),
    ("minus", CHUNKED + b"-5\r\nhello\r\n" + END, 400, CLOSE),
    ("underscore", CHUNKED + b"5_0\r\nhello\r\n" + END, 400, CLOSE),
    ("empty size", CHUNKED + b"\r\nhello\r\n" + END, 400, CLOSE),
    ("size beyond 64 bits", CHUNKED + b"10000000000000005\r\nhello\r\n" + END, (400, 413), CLOSE),
    ("lone LF after the size", CHUNKED + b"5\nhello\r\n" + END, 400, CLOSE),
    ("CR within the size line", CHUNKED + b"5\r;a\r\nhello\r\n" + END, 400, CLOSE),
    ("9112 7.1 space before the size", CHUNKED + b" 5\r\nhello\r\n" + END, 400, CLOSE),
    ("9112 7.1 space behind the size", CHUNKED + b"5 \r\nhello\r\n" + END, 400, CLOSE),
    ("9112 7.1.1 control byte in an extension", CHUNKED + b"5;a=\x01\r\nhello\r\n" + END, 400, CLOSE),
    ("9112 7.1.1 extensions without end", CHUNKED + b"5;" + b"a" * 17000 + b"\r\nhello\r\n" + END, 400, CLOSE),
    ("9112 7.1.2 trailers without end", CHUNKED + b"0\r\n" + b"X: y\r\n" * 5000 + b"\r\n", 431, CLOSE),
    # Sizes.
    ("9110 15.5.15 target too long", b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: test\r\n\r\n", 414, CLOSE),
    ("9110 15.5.15 target without end", b"GET /" + b"a" * 40000, 414, CLOSE),
    ("6585 5 field too long", HEAD + b"X: " + b"a" * 33000 + b"\r\n\r\n", 431, CLOSE),
    ("6585 5 field without end", HEAD + b"X: " + b"a" * 40000, 431, CLOSE),
    ("6585 5 too many fields", HEAD + b"X: y\r\n" * 101 + b"\r\n", 431, CLOSE),
    # Expect.
    ("unknown expectation", HEAD + b"Expect: teapot\r\n\r\n", 417, EITHER),
)

# label, bytes: what breaks the rules comes after content that the echo may have answered already.
# Before its head has left that is a 400; afterwards only a response cut short can tell (9112 8).
BROKEN_LATER = (
    ("lone LF after the data", b"5\r\nhello\n" + END),
    ("9112 7.1 chunk longer than its size", b"5\r\nhello!\r\n" + END),
    ("second size with a sign", b"5\r\nhello\r\n+5\r\nhello\r\n" + END),
    ("second size ended by a lone LF", b"5\r\nhello\r\n5\nhello\r\n" + END),
    ("9112 7.1.2 folded trailer", b"5\r\nhello\r\n0\r\nX: a\r\n b\r\n\r\n"),
    ("9112 7.1.2 trailer without a colon", b"5\r\nhello\r\n0\r\nnonsense\r\n\r\n"),
    ("9112 7.1.2 trailer with a space before the colon", b"5\r\nhello\r\n0\r\nX : y\r\n\r\n"),
)

# label, bytes, statuses, methods: legal, however odd.
LEGAL = (
    ("9112 2.2 empty lines first", b"\r\n\r\n" + HEAD + b"\r\n", (200,), ("GET",)),
    ("9112 3.2.2 absolute form", b"GET http://test/ HTTP/1.1\r\nHost: test\r\n\r\n", (200,), ("GET",)),
    ("9112 3.2.2 absolute form, upper case", b"GET HTTP://TEST/ HTTP/1.1\r\nHost: test\r\n\r\n", (200,), ("GET",)),
    ("9112 3.2.2 absolute form without a path", b"GET http://test HTTP/1.1\r\nHost: test\r\n\r\n", (200,), ("GET",)),
    ("9110 7.2 Host in upper case", b"GET / HTTP/1.1\r\nHost: TEST\r\n\r\n", (200,), ("GET",)),
    ("9110 7.2 Host with a port", b"GET / HTTP/1.1\r\nHost: test:8080\r\n\r\n", (200,), ("GET",)),
    ("9112 3.2.2 absolute form with another Host", b"GET http://test/ HTTP/1.1\r\nHost: other\r\n\r\n", (200,), ("GET",)),
    ("9112 3.2.2 absolute form with an empty Host", b"GET http://test/ HTTP/1.1\r\nHost:\r\n\r\n", (200,), ("GET",)),
    ("9112 3.2.4 OPTIONS of the server with an empty Host", b"OPTIONS * HTTP/1.1\r\nHost:\r\n\r\n", (200, 204), ("OPTIONS",)),
    ("9110 7.2 Host with an empty port", b"GET / HTTP/1.1\r\nHost: test:\r\n\r\n", (200,), ("GET",)),
    ("9110 7.2 Host with a dot at its end", b"GET / HTTP/1.1\r\nHost: test.\r\n\r\n", (200,), ("GET",)),
    ("9110 7.2 Host as an IPv6 literal", b"GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", (200,), ("GET",)),
    ("9112 3.2 HTTP/1.0 without Host", b"GET / HTTP/1.0\r\n\r\n", (200,), ("GET",)),
    ("9110 5.1 names in any case", b"GET / HTTP/1.1\r\nhOsT: test\r\n\r\n", (200,), ("GET",)),
    ("9112 5 no space after the colon", b"GET / HTTP/1.1\r\nHost:test\r\n\r\n", (200,), ("GET",)),
    ("9112 5 much space around a value", b"GET / HTTP/1.1\r\nHost: \t test \t \r\n\r\n", (200,), ("GET",)),
    ("9110 5.5 tab within a value", HEAD + b"X: a\tb\r\n\r\n", (200,), ("GET",)),
    ("9110 5.5 byte above 0x7F in a value", HEAD + b"X: \xe4\r\n\r\n", (200,), ("GET",)),
    ("9110 5.5 empty value", HEAD + b"X:\r\n\r\n", (200,), ("GET",)),
    ("9112 2.3 HTTP/1.9 is answered as 1.1", b"GET / HTTP/1.9\r\nHost: test\r\n\r\n", (200,), ("GET",)),
    ("9110 9.3.1 GET with a body", HEAD + b"Content-Length: 3\r\n\r\nabc", (200,), ("GET",)),
    ("9110 5.6.1 a hundred fields", HEAD + b"X: y\r\n" * 98 + b"\r\n", (200,), ("GET",)),
    ("OPTIONS asterisk", b"OPTIONS * HTTP/1.1\r\nHost: test\r\n\r\n", (200, 204), ("OPTIONS",)),
    ("OPTIONS of a missing path", b"OPTIONS /none HTTP/1.1\r\nHost: test\r\n\r\n", (200, 204, 404), ("OPTIONS",)),
    ("Expect in any case", POST + b"Expect: 100-CONTINUE\r\nContent-Length: 2\r\n\r\nok", (200,), ("POST",)),
    ("9110 10.1.1 Expect in HTTP/1.0 is ignored", b"POST /echo HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nok", (200,), ("POST",)),
    ("9112 7.1 sizes in upper case with zeros", CHUNKED + b"00A\r\n0123456789\r\n" + END, (200,), ("POST",)),
    ("9112 7.1.1 chunk extensions are ignored", CHUNKED + b'5;a=b;c="d"\r\nhello\r\n0;e\r\n\r\n', (200,), ("POST",)),
    ("9112 7.1.2 trailers are read", CHUNKED + b"5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n", (200,), ("POST",)),
    ("9112 7.1.2 a trailer is no field", CHUNKED + b"5\r\nhello\r\n0\r\nContent-Length: 1\r\nHost: evil\r\nTransfer-Encoding: x\r\n\r\n", (200,), ("POST",)),
    ("9112 6.1 chunked in any case", POST + b"Transfer-Encoding: ChUnKeD\r\n\r\n" + END, (200,), ("POST",)),
    ("9112 6.3 the same length twice", POST + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\nok", (200, 400), ("POST",)),
)


class Site(TestCase):
    @classmethod
    def serve(cls):
        tree.write(cls.root, "index.html", "<p>home\n")
        return Daemon(config=configuration(
            hosts=[host(cls.root, {"path": "/"}, {"path": "/echo", "handler": "echo"})],
            limits={"target": "8K", "head": "32K", "fields": 100, "body": "1M"},
        ))

    def still_serves(self):
        self.assertEqual(fetch(self.address).body, b"<p>home\n")


@suite.cases(ROWS)
class Refused(Site):
    def check(self, _label, data, statuses, connection):
        if isinstance(statuses, int):
            statuses = (statuses,)
        # A client that was already connected must not notice either.
        with Connection(self.address) as neighbour:
            response, = exchange(self.address, data)
            self.assertIn(response.status, statuses)
            if connection == CLOSE:
                self.assertFalse(response.keeps_alive, "the framing is lost: it has to close")
            self.assertNotIn("etag", dict(response.fields))
            neighbour.send(request())
            self.assertEqual(neighbour.read_response().body, b"<p>home\n")


@suite.cases(LEGAL)
class Accepted(Site):
    def check(self, _label, data, statuses, methods):
        response, = exchange(self.address, data, methods)
        self.assertIn(response.status, statuses)


@suite.cases([row for row in ROWS + LEGAL if len(row[1]) < 400])
class BytewiseTheSame(Site):
    """Whatever the pieces in which the bytes come, the answer is the same."""

    def check(self, _label, data, statuses, what):
        if isinstance(statuses, int):
            statuses = (statuses,)
        methods = what if isinstance(what, tuple) else ("GET",)
        with Connection(self.address) as connection:
            try:
                connection.send_slowly(data, pause=0)
            except OSError:
                pass  # refused before the last byte, rightly
            self.assertIn(connection.read_response(methods[0]).status, statuses)


@suite.cases(BROKEN_LATER)
class BrokenLater(Site):
    def check(self, _label, chunks):
        self.check_at_once(chunks)
        self.check_slowly(chunks)

    def check_at_once(self, chunks):
        """What came together is judged together: nothing was answered yet, so it is a 400."""
        with Connection(self.address) as connection:
            connection.send(POST + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + request("/"))
            response = connection.read_response("POST")
            self.assertEqual(response.status, 400)
            self.assertFalse(response.keeps_alive)
            connection.expect_end()

    def check_slowly(self, chunks):
        for size in (1, 7):
            with Connection(self.address) as connection:
                head = POST + b"Transfer-Encoding: chunked\r\n\r\n"
                try:
                    connection.send(head).send_slowly(chunks, size, 0.001)
                    connection.send(request("/"))
                except OSError:
                    pass  # closed before the last byte, rightly
                try:
                    answer = connection.read_to_end()
                except WireError as error:
                    self.assertIn("reset", str(error))
                    answer = b""
            self.assertFalse(answer.endswith(b"0\r\n\r\n"), "passed off as whole")
            self.assertNotIn(b"<p>home", answer, "what followed was taken for a request")
            if not answer.startswith(b"HTTP/1.1 200 "):
                self.assertTrue(answer == b"" or answer.startswith(b"HTTP/1.1 400 "), answer)
            self.still_serves()

    def test_extensions_of_many_chunks(self):
        """7.1.1: they are bounded over the whole body, so that a client can't make us read them for
        ever."""
        with Connection(self.address) as connection:
            data = CHUNKED + (b"1;" + b"a" * 200 + b"\r\nx\r\n") * 200
            try:
                connection.send(data + END)
                answer = connection.read_to_end()
            except (OSError, WireError):
                answer = b""
        self.assertFalse(answer.endswith(END), "passed off as whole")
        self.still_serves()

    def test_of_content_that_nobody_wants(self):
        """2.2: what came with its head is judged with it, before anything is answered."""
        for _label, chunks in BROKEN_LATER:
            for method in ("GET", "POST"):
                data = method.encode() + b" / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n"
                with Connection(self.address) as connection:
                    connection.send(request("/") + data + chunks + request("/"))
                    self.assertEqual(connection.read_response().body, b"<p>home\n")
                    response = connection.read_response(method)
                    self.assertEqual((response.status, response.keeps_alive), (400, False))
                    connection.expect_end()

    def test_of_content_that_nobody_wants_and_that_comes_later(self):
        """The answer has gone before, whole: it ends the connection, and nothing more is answered."""
        for _label, chunks in BROKEN_LATER:
            data = b"POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n"
            with Connection(self.address) as connection:
                connection.send(data)
                self.assertEqual(connection.read_response("POST").status, 405)
                connection.send(chunks + request("/"))
                self.assertNotIn(b"<p>home", connection.read_to_end())

    def test_more_than_is_accepted_at_once(self):
        """9110 15.5.14: the limit is that of all content, also where nobody wants it."""
        data = b"GET / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n"
        response, = exchange(self.address, data)
        self.assertEqual((response.status, response.keeps_alive), (413, False))


class Smuggling(Site):
    def test_nothing_after_a_refusal_is_answered(self):
        """9112 11.2: what follows a request whose framing is lost is never taken for another."""
        data = POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + request("/")
        response, = exchange(self.address, data)
        self.assertEqual(response.status, 400)
        self.assertFalse(response.keeps_alive)

    def test_bytes_after_content_are_a_request_of_their_own(self):
        data = POST + b"Content-Length: 2\r\n\r\nok" + request("/")
        first, second = exchange(self.address, data, ("POST", "GET"))
        self.assertEqual((first.body, second.body), (b"ok", b"<p>home\n"))

    def test_head_split_at_every_byte(self):
        """Each of two pieces of a request, cut anywhere, gives the one right answer."""
        data = HEAD + b"X: y\r\n\r\n"
        for cut in range(1, len(data)):
            with Connection(self.address) as connection:
                connection.send(data[:cut])
                connection.send(data[cut:])
                self.assertEqual(connection.read_response().body, b"<p>home\n")

    def test_garbage_of_all_lengths(self):
        """Bytes that are nothing at all are refused or end the connection; the daemon goes on."""
        for size in (1, 10, 100, 1000, 10000, 100000):
            with Connection(self.address) as connection:
                try:
                    connection.send(tree.content(size, 7))
                    connection.half_close()
                    connection.read_to_end()
                except (OSError, AssertionError):
                    pass
            self.still_serves()


if __name__ == "__main__":
    suite.main(limit=120)
