# SPDX-License-Identifier: MIT
"""Heads that are no requests: each is answered with its status, and ends the connection."""

from fuzzing.services import Answer

LINE = b"GET %s HTTP/1.1\r\n"
HEAD = LINE + b"Host: test\r\n"
POST = b"POST %s HTTP/1.1\r\nHost: test\r\n"
END = b"0\r\n\r\n"

# label, bytes with a place for the target, statuses that are right
ROWS = (
    ("lone LF", LINE.replace(b"\r", b"") + b"Host: test\r\n\r\n", (400,)),
    ("bare CR in a value", HEAD + b"X: a\rb\r\n\r\n", (400,)),
    ("NUL in a value", HEAD + b"X: a\0b\r\n\r\n", (400,)),
    ("two spaces", b"GET  %s HTTP/1.1\r\nHost: test\r\n\r\n", (400,)),
    ("HTTP/0.9", b"GET %s\r\n\r\n", (400, 505)),
    ("HTTP/2.0", b"GET %s HTTP/2.0\r\nHost: test\r\n\r\n", (505,)),
    ("another protocol", b"GET %s RTSP/1.0\r\nHost: test\r\n\r\n", (400, 505)),
    ("no token for a method", b"GE(T %s HTTP/1.1\r\nHost: test\r\n\r\n", (400,)),
    ("space before the colon", HEAD + b"X : y\r\n\r\n", (400,)),
    ("empty name", HEAD + b": y\r\n\r\n", (400,)),
    ("no colon", HEAD + b"Nonsense\r\n\r\n", (400,)),
    ("fold", HEAD + b"X: a\r\n b\r\n\r\n", (400,)),
    ("no Host", LINE + b"\r\n", (400,)),
    ("two Hosts", HEAD + b"Host: other\r\n\r\n", (400,)),
    ("Host with a slash", LINE + b"Host: a/b\r\n\r\n", (400,)),
    ("length and coding", POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" + END, (400,)),
    ("chunked twice", POST + b"Transfer-Encoding: chunked, chunked\r\n\r\n" + END, (400,)),
    ("unknown coding", POST + b"Transfer-Encoding: xchunked\r\n\r\n" + END, (400, 501)),
    ("signed length", POST + b"Content-Length: +4\r\n\r\nabcd", (400,)),
    ("two lengths", POST + b"Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcde", (400,)),
    ("length beyond the limit", POST + b"Content-Length: 9000000000000000\r\n\r\n", (413,)),
    ("chunk size with a prefix", POST.replace(b"%s", b"/echo?%s") + b"Transfer-Encoding: chunked\r\n\r\n0x5\r\n", (400,)),
    ("field too long", HEAD + b"X: " + b"a" * 33000 + b"\r\n\r\n", (431,)),
    ("too many fields", HEAD + b"X: y\r\n" * 101 + b"\r\n", (431,)),
    ("target too long", LINE.replace(b"%s", b"%s" + b"a" * 9000) + b"Host: test\r\n\r\n", (414,)),
)


def malformed(random, ident, _tags):
    label, data, statuses = random.choice(ROWS)
    request = Answer("GET", "/", "", statuses=statuses)
    request.head = data.replace(b"%s", b"/fixed/100.bin?id=" + ident.encode())
    request.ident, request.is_logged = ident, True
    request.label = label
    request.closes = True
    return request
