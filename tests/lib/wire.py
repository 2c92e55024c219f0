# SPDX-License-Identifier: MIT
"""A raw-socket HTTP/1 client that forgives nothing.

It sends the bytes that it is given and reads responses to the letter of RFC 9112: one byte too
many, one too few, a bare LF or two lengths are a WireError, never repaired.
"""

import email.utils
import re
import socket
import struct
import time

from suite import TIME_SCALE

TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
STATUS_LINE = re.compile(rb"HTTP/1\.1 ([1-5][0-9][0-9]) ([\t \x21-\x7e\x80-\xff]*)\Z")
DATE = re.compile(
    r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-3]\d "
    r"(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} [0-2]\d:[0-5]\d:[0-6]\d GMT\Z"
)
# Fields that may be sent once only (RFC 9110 5.3: they are no lists).
SINGLE = {
    "content-type", "content-length", "content-range", "date", "etag", "last-modified", "location",
    "retry-after", "server", "transfer-encoding", "x-content-type-options",
}
# What a 304 may carry of the representation (RFC 9110 15.4.5) and what it must not.
BODILESS = (204, 304)


class WireError(AssertionError):
    """The peer broke the protocol, or did not answer in time."""


class Response:
    """One final response: status, fields, content, and the interim responses before it."""

    def __init__(self, status, reason, fields, head):
        self.status = status
        self.reason = reason
        self.fields = fields
        self.head = head  # the raw bytes, up to and with the empty line
        self.body = b""
        self.interim = []
        self.until_close = False

    def all(self, name):
        return [value for key, value in self.fields if key == name.lower()]

    def get(self, name):
        """The value of a field that is there at most once; None if it is not there."""
        values = self.all(name)
        if len(values) > 1:
            raise WireError("%s is there %d times: %r" % (name, len(values), values))
        return values[0] if values else None

    def members(self, name):
        """The members of a list field, in lower case."""
        return [
            member.strip().lower()
            for value in self.all(name)
            for member in value.split(",")
            if member.strip()
        ]

    @property
    def keeps_alive(self):
        return "close" not in self.members("connection") and not self.until_close

    def __repr__(self):
        return "<%d %s, %d bytes, %r>" % (self.status, self.reason, len(self.body), self.fields)


class Connection:
    """One connection to the daemon. `address` is (host, port) or the path of a unix socket; `source`
    is the host that it comes from."""

    date_tolerance = 5 * TIME_SCALE  # more for a client that lets answers wait

    def __init__(self, address, timeout=10, receive_buffer=None, source=None):
        self.timeout = timeout * TIME_SCALE
        if isinstance(address, str):
            self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        else:
            family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
            self.socket = socket.socket(family, socket.SOCK_STREAM)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(self.timeout)
        try:
            if source:
                self.socket.bind((source, 0))
            self.socket.connect(address)
        except OSError:
            self.socket.close()
            raise
        self.buffer = bytearray()

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.close()

    # What goes out.

    def fileno(self):
        return self.socket.fileno()

    def send(self, data):
        try:
            self.socket.sendall(data)
        except socket.timeout:
            raise WireError("the daemon took no more bytes for %.1f s" % self.timeout) from None
        return self

    def send_slowly(self, data, step=1, pause=0.001):
        """Each piece is a segment of its own, so the daemon meets every split of the bytes."""
        for start in range(0, len(data), step):
            self.send(data[start : start + step])
            time.sleep(pause)
        return self

    def half_close(self):
        self.socket.shutdown(socket.SHUT_WR)
        return self

    def reset(self):
        """Closes with an RST instead of a FIN."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def close(self):
        self.socket.close()

    # What comes in.

    def receive(self, size=65536):
        """Some bytes, or b"" at the end."""
        try:
            return self.socket.recv(size)
        except socket.timeout:
            raise WireError(
                "no answer for %.1f s; unread so far: %r" % (self.timeout, bytes(self.buffer[:200]))
            ) from None
        except ConnectionResetError:
            raise WireError("connection reset; unread so far: %r" % bytes(self.buffer[:200])) from None

    def _more(self):
        data = self.receive()
        if not data:
            raise WireError("the connection ended within a response: %r" % bytes(self.buffer[:200]))
        self.buffer += data

    def take(self, size):
        while len(self.buffer) < size:
            self._more()
        data = bytes(self.buffer[:size])
        del self.buffer[:size]
        return data

    def _line(self):
        while True:
            end = self.buffer.find(b"\n")
            if end >= 0:
                break
            if len(self.buffer) > 65536:
                raise WireError("a line without end: %r" % bytes(self.buffer[:200]))
            self._more()
        line = self.take(end + 1)
        if not line.endswith(b"\r\n") or b"\r" in line[:-2] or b"\0" in line:
            raise WireError("a line is not ended by CR LF alone: %r" % line)
        return line[:-2]

    def _head(self):
        raw = self._line()
        match = STATUS_LINE.match(raw)
        if not match:
            raise WireError("no status line: %r" % raw[:200])
        head, fields = raw + b"\r\n", []
        while True:
            raw = self._line()
            head += raw + b"\r\n"
            if not raw:
                break
            name, colon, value = raw.partition(b":")
            if not colon or not TOKEN.match(name):
                raise WireError("no field line: %r" % raw)
            fields.append((name.decode().lower(), value.strip(b" \t").decode("latin-1")))
        return Response(int(match[1]), match[2].decode("latin-1"), fields, head)

    def _chunks(self):
        body = bytearray()
        while True:
            line = self._line()
            if not re.match(rb"[0-9a-fA-F]{1,16}\Z", line):
                raise WireError("no chunk size: %r" % line)
            size = int(line, 16)
            if size == 0:
                if self._line():
                    raise WireError("trailer fields where none are expected")
                return bytes(body)
            body += self.take(size)
            if self.take(2) != b"\r\n":
                raise WireError("a chunk is not ended by CR LF")

    def read_head(self, method="GET"):
        """The next head, interim ones included, checked; content is left unread."""
        response = self._head()
        if response.status >= 200:
            check(response, method, self.date_tolerance)
        return response

    def read_response(self, method="GET"):
        """The next final response, with its content (RFC 9112 6.3)."""
        interim = []
        response = self.read_head(method)
        while response.status < 200:
            interim.append(response)
            response = self.read_head(method)
        response.interim = interim
        coding, length = response.get("Transfer-Encoding"), response.get("Content-Length")
        if method == "HEAD" or response.status in BODILESS:
            pass
        elif coding is not None:
            response.body = self._chunks()
        elif length is not None:
            response.body = self.take(int(length))
        else:
            response.until_close = True
            response.body = self.read_to_end()
        return response

    def read_to_end(self):
        """All bytes up to the peer's FIN."""
        while True:
            data = self.receive()
            if not data:
                break
            self.buffer += data
        data = bytes(self.buffer)
        self.buffer.clear()
        return data

    def expect_end(self):
        """The peer closes (FIN, no reset), and not one byte more comes before."""
        rest = self.read_to_end()
        if rest:
            raise WireError("bytes after the last response: %r" % rest[:200])

    def expect_silence(self, seconds):
        """Nothing comes for so long, and the connection stays open."""
        self.socket.settimeout(seconds)
        try:
            data = bytes(self.buffer) or self.socket.recv(65536)
        except socket.timeout:
            return
        finally:
            self.socket.settimeout(self.timeout)
        raise WireError("expected silence, got %r" % data[:200])


def check(response, method, date_tolerance):
    """What holds for every final response, whatever was asked."""
    for name in SINGLE:
        response.get(name)
    date = response.get("Date")
    if date is None or not DATE.match(date):
        raise WireError("Date is missing or malformed (RFC 9110 6.6.1): %r" % date)
    drift = abs(email.utils.parsedate_to_datetime(date).timestamp() - time.time())
    if drift > date_tolerance:
        raise WireError("Date is %d s from now: %r" % (drift, date))
    length, coding = response.get("Content-Length"), response.get("Transfer-Encoding")
    if length is not None and not re.match(r"\d+\Z", length):
        raise WireError("Content-Length is no number: %r" % length)
    if length is not None and coding is not None:
        raise WireError("Content-Length beside Transfer-Encoding (RFC 9112 6.2)")
    if coding is not None and coding != "chunked":
        raise WireError("unexpected Transfer-Encoding: %r" % coding)
    if response.status in BODILESS and coding is not None:
        raise WireError("a %d with Transfer-Encoding" % response.status)
    if response.status == 204 and length is not None:
        raise WireError("a 204 with Content-Length (RFC 9110 8.6)")
    if response.status == 405 and not response.all("Allow"):
        raise WireError("a 405 without Allow (RFC 9110 15.5.6)")
    if response.status in (206, 416) and method != "HEAD" and not response.all("Content-Range"):
        if not (response.get("Content-Type") or "").startswith("multipart/byteranges"):
            raise WireError("a %d without Content-Range" % response.status)


def request(target="/", method="GET", fields=(), host="test", version="1.1", body=b""):
    """The bytes of a plain request; `fields` are raw lines without CR LF, as text or bytes."""
    lines = ["%s %s HTTP/%s" % (method, target, version)]
    if host is not None:
        lines.append("Host: " + host)
    lines += [f if isinstance(f, str) else f.decode("latin-1") for f in fields]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def exchange(address, data, methods=("GET",), timeout=10, slowly=0, path="/"):
    """Sends the bytes, reads one response for each method, and proves that the framing was exact:
    the connection is either at its end, or answers one more request, `path`, and is then."""
    with Connection(address, timeout) as connection:
        if slowly:
            connection.send_slowly(data, slowly)
        else:
            connection.send(data)
        responses = [connection.read_response(method) for method in methods]
        if responses[-1].keeps_alive:
            if connection.buffer:
                raise WireError("bytes after the last response: %r" % bytes(connection.buffer[:200]))
            connection.send(request(path, method="OPTIONS", fields=["Connection: close"]))
            last = connection.read_response("OPTIONS")
            if last.keeps_alive:
                raise WireError("Connection: close was not heeded (RFC 9112 9.6)")
        connection.expect_end()
        return responses


def fetch(address, target="/", method="GET", fields=(), timeout=10, host="test"):
    """One request with Connection: close, one response, and the end."""
    data = request(target, method, list(fields) + ["Connection: close"], host)
    return exchange(address, data, (method,), timeout)[0]
