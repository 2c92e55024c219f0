# SPDX-License-Identifier: MIT
"""The strict client itself: what a daemon might get wrong has to be noticed by it."""

import email.utils
import socket
import threading
import unittest

import suite
from wire import Connection, WireError, exchange

DATE = "Date: %s\r\n" % email.utils.formatdate(usegmt=True)
OLD = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
OK = "HTTP/1.1 200 OK\r\n" + DATE
CLOSE = "Connection: close\r\n"

# label, what a server sends before it closes, what is wrong with it (None: nothing)
ROWS = (
    ("well", OK + CLOSE + "Content-Length: 2\r\n\r\nok", None),
    ("well, chunked", OK + CLOSE + "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", None),
    ("well, until close", OK + "\r\nok", None),
    ("well, after a 100", "HTTP/1.1 100 Continue\r\n\r\n" + OK + CLOSE + "Content-Length: 2\r\n\r\nok", None),
    ("nothing", "", "ended within"),
    ("content too short", OK + CLOSE + "Content-Length: 3\r\n\r\nok", "ended within"),
    ("content too long", OK + CLOSE + "Content-Length: 1\r\n\r\nok", "after the last"),
    ("kept, but content too long", OK + "Content-Length: 1\r\n\r\nok", "after the last|status line"),
    ("kept, then closed", OK + "Content-Length: 2\r\n\r\nok", "ended within|reset"),
    ("no Date", "HTTP/1.1 200 OK\r\n" + CLOSE + "Content-Length: 0\r\n\r\n", "Date"),
    ("a wrong Date", "HTTP/1.1 200 OK\r\n" + OLD + CLOSE + "Content-Length: 0\r\n\r\n", "from now"),
    ("two Dates", OK + DATE + CLOSE + "Content-Length: 0\r\n\r\n", "2 times"),
    ("two lengths", OK + CLOSE + "Content-Length: 2\r\nContent-Length: 2\r\n\r\nok", "2 times"),
    ("length and chunks", OK + CLOSE + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "beside"),
    ("length with a sign", OK + CLOSE + "Content-Length: +2\r\n\r\nok", "no number"),
    ("lone LF", OK + "X: y\n" + CLOSE + "\r\n", "CR LF"),
    ("bare CR", OK + "X: a\rb\r\n" + CLOSE + "\r\n", "CR LF"),
    ("fold", OK + "X: y\r\n z\r\n" + CLOSE + "\r\n", "field line"),
    ("space before the colon", OK + "X : y\r\n\r\n", "field line"),
    ("no version", "HTTP/2 200 OK\r\n\r\n", "status line"),
    ("no reason and no space", "HTTP/1.1 200\r\n\r\n", "status line"),
    ("chunk size in words", OK + "Transfer-Encoding: chunked\r\n\r\n0x2\r\nok\r\n0\r\n\r\n", "chunk size"),
    ("chunk without its end", OK + "Transfer-Encoding: chunked\r\n\r\n2\r\nokay\r\n0\r\n\r\n", "ended by"),
    ("no last chunk", OK + "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n", "ended within"),
    ("304 with chunks", "HTTP/1.1 304 Not Modified\r\n" + DATE + "Transfer-Encoding: chunked\r\n\r\n", "304"),
    ("204 with a length", "HTTP/1.1 204 No Content\r\n" + DATE + "Content-Length: 0\r\n\r\n", "204"),
    ("405 without Allow", "HTTP/1.1 405 No\r\n" + DATE + "Content-Length: 0\r\n\r\n", "Allow"),
    ("206 without Content-Range", "HTTP/1.1 206 Part\r\n" + DATE + "Content-Length: 0\r\n\r\n", "Content-Range"),
)


@suite.cases(ROWS)
class Strict(unittest.TestCase):
    def check(self, _label, answer, complaint):
        with socket.create_server(("127.0.0.1", 0)) as server:
            thread = threading.Thread(target=self.serve, args=(server, answer.encode()))
            thread.start()
            try:
                if complaint is None:
                    response, = exchange(server.getsockname(), b"GET / HTTP/1.1\r\n\r\n", timeout=2)
                    self.assertEqual((response.status, response.body), (200, b"ok"))
                else:
                    with self.assertRaisesRegex(WireError, complaint):
                        exchange(server.getsockname(), b"GET / HTTP/1.1\r\n\r\n", timeout=2)
            finally:
                thread.join()

    def serve(self, server, answer):
        peer, _ = server.accept()
        with peer:
            peer.recv(65536)
            peer.sendall(answer)
            peer.shutdown(socket.SHUT_WR)
            while peer.recv(65536):  # so that nothing unread turns the end into a reset
                pass


class Silence(unittest.TestCase):
    def test_bytes_and_the_end_are_no_silence(self):
        for answer in (b"x", b""):
            ours, theirs = socket.socketpair()
            connection = Connection.__new__(Connection)
            connection.socket, connection.timeout, connection.buffer = ours, 2, bytearray()
            if answer:
                theirs.sendall(answer)
            else:
                theirs.close()
            with self.assertRaises(WireError):
                connection.expect_silence(0.5)
            ours.close()
            theirs.close()


if __name__ == "__main__":
    suite.main()
