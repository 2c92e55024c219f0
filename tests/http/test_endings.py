# SPDX-License-Identifier: MIT
"""How connections end: no end destroys what the client has not taken in yet.

Most of these clients take nothing for a while, so that what was sent waits in the daemon's kernel,
where a reset destroys it. How much waits there the kernel tells (sock_diag).
"""

import fcntl
import json
import os
import re
import signal
import socket
import struct
import termios
import time

import suite
import tree
from evixd import Daemon, TestCase, configuration, host, wait_until
from wire import Connection, fetch, request

LARGE = 64 << 20
UNREAD = 4096  # SO_RCVBUF of a client that takes next to nothing in without reading


def asked_of_the_kernel(here, there):
    """sock_diag(7) for one socket, (address, port) of both its ends: its queues. None: no answer."""
    def address(end):
        return socket.inet_aton(end[0]) + bytes(12)

    no_cookie = struct.pack("=3I", 0, 0xFFFFFFFF, 0xFFFFFFFF)
    identity = struct.pack("!HH", here[1], there[1]) + address(here) + address(there) + no_cookie
    asked = struct.pack("=BBBBI", socket.AF_INET, socket.IPPROTO_TCP, 0, 0, 0xFFFFFFFF) + identity
    sock_diag, by_family, is_request = 4, 20, 1
    try:
        kernel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, sock_diag)
    except OSError as error:
        raise unittest.SkipTest("the kernel has no sock_diag: %s" % error) from None
    with kernel:
        kernel.send(struct.pack("=IHHII", 16 + len(asked), by_family, is_request, 1, 0) + asked)
        answer = kernel.recv(4096)
    if struct.unpack_from("=H", answer, 4)[0] != by_family:
        return None
    received, sent = struct.unpack_from("=2I", answer, 16 + 4 + 48 + 4)
    return (sent, received)


def queues(connection):
    """(bytes sent and not acknowledged, bytes received and not read) of the daemon's end."""
    here, there = connection.socket.getsockname(), connection.socket.getpeername()
    return asked_of_the_kernel(there, here) or (0, 0)


def when_still(look, what):
    """The value of look() when it has not changed for a while: nothing moves any more."""
    seen = []

    def is_still():
        seen.append(look())
        return len(seen) > 30 and len(set(seen[-30:])) == 1 and seen[-1]

    return wait_until(is_still, what + " stand still", timeout=30)


def when_full(connection):
    """How many bytes wait in the kernel of a daemon that cannot send more."""
    return when_still(lambda: queues(connection)[0], "the bytes that wait")


def split(data, length):
    """The content of the first answer, which is so long, and what follows it."""
    _head, _, rest = data.partition(b"\r\n\r\n")
    return rest[:length], rest[length:]


class Site(TestCase):
    SETTINGS = {}
    EXPECT = ()

    @classmethod
    def serve(cls):
        with open(tree.write(cls.root, "large.bin", b""), "r+b") as file:
            file.truncate(LARGE)
        tree.write(cls.root, "small.bin", b"small")
        cls.medium = tree.content(60000)
        tree.write(cls.root, "medium.bin", cls.medium)
        return cls.make()

    @classmethod
    def make(cls, **settings):
        settings = {**cls.SETTINGS, **settings}
        return Daemon(
            config=configuration(
                listen=[
                    {"address": "127.0.0.1:0"},
                    {"address": "127.0.0.1:0", "protocol": "echo"},
                    {"address": "unix:http.sock"},
                ],
                hosts=[host(
                    cls.root, {"path": "/"}, {"path": "/echo", "handler": "echo"},
                    {"path": "/status", "handler": "status"},
                )],
                **settings,
            ),
            listeners=3, expect=cls.EXPECT,
        )

    def running(self, **settings):
        daemon = self.make(**settings).start()
        self.addCleanup(daemon.kill)
        return daemon

    def connect(self, address, **options):
        connection = Connection(address, **options)
        self.addCleanup(connection.close)
        return connection

    def room(self, address):
        """What the daemon's kernel takes of an answer that nobody reads."""
        connection = self.connect(address, receive_buffer=UNREAD)
        connection.send(request("/large.bin"))
        full = when_full(connection)
        connection.reset()
        return full


class Failing(Site):
    EXPECT = ("ended early",)

    def test_an_answer_that_fails_leaves_those_before_it_whole(self):
        """9112 8: a file that is truncated while it is sent, behind another one in the pipeline."""
        room = self.room(self.address)
        first = tree.content(room * 7 // 8)
        tree.write(self.root, "first.bin", first)
        cut = tree.write(self.root, "cut.bin", b"")
        os.truncate(cut, LARGE)
        connection = self.connect(self.address, receive_buffer=UNREAD)
        connection.send(request("/first.bin") + request("/cut.bin"))
        wait_until(lambda: queues(connection)[0] > len(first) + 1000, "the second one has begun")
        when_full(connection)
        os.truncate(cut, 0)
        # The kernel asks for more when a third of its room is free; then the file's end is seen.
        while len(connection.buffer) < len(first) * 7 // 8:
            connection.buffer += connection.receive()
        self.daemon.log.wait("ended early")
        self.assertLess(len(connection.buffer), len(first))
        body, second = split(connection.read_to_end(), len(first))
        self.assertTrue(body == first)
        self.assertRegex(second, rb"\AHTTP/1.1 200 (.*\r\n)+Content-Length: %d\r\n" % LARGE)
        self.assertLess(len(second), LARGE)

    def test_the_bytes_of_an_answer_that_is_cut_off_are_counted(self):
        """One that is sent from memory: what the kernel took before the client went."""
        mine = [0]

        def total():
            """Without the answers that say it."""
            response = fetch(self.address, "/status/metrics")
            found = int(re.search(rb"^evixd_sent_bytes_total (\d+)", response.body, re.M)[1]) - mine[0]
            mine[0] += len(response.head) + len(response.body)
            return found

        def unread():
            return struct.unpack("i", fcntl.ioctl(client.socket, termios.FIONREAD, b"1234"))[0]

        before = total()
        client = self.connect(self.daemon.addresses[2])
        client.send(request("/medium.bin") * 10)
        taken = when_still(unread, "the bytes that the kernel took")
        self.assertGreater(taken, 100000)
        client.close()
        wait_until(lambda: total() - before == taken, "%d bytes are counted" % taken)

    def test_a_client_that_has_gone_has_no_address(self):
        """It is no client of a unix socket for that."""
        log = os.path.join(self.folder(), "access.log")
        daemon = self.running(access_log={"target": log, "format": "common"})
        worker, = daemon.worker_pids
        os.kill(worker, signal.SIGSTOP)
        client = self.connect(daemon.address)
        client.send(request("/small.bin?gone"))
        client.reset()
        os.kill(worker, signal.SIGCONT)
        fetch(daemon.addresses[2], "/small.bin?unix")

        def lines():
            with open(log, encoding="ascii") as file:
                found = file.read().splitlines()
            return found if len(found) >= 2 else None

        named = {re.search(r"\?(\w+)", line)[1]: line.split()[0] for line in wait_until(lines, "two lines")}
        self.assertEqual(named, {"gone": "-", "unix": "unix:"})


class Untaken(Site):
    """Answers are with the daemon's kernel, whole; the client has not taken them, and sends more."""

    LINGER = 0.3

    def check_that_they_come(self, data, expected, number=None, **settings):
        """Of the deadlines below, those that matter have passed thrice before the client goes on."""
        timeouts = {"linger": self.LINGER, "shutdown": 60, **settings.pop("timeouts", {})}
        first = tree.content(200000)
        tree.write(self.root, "first.bin", first)
        daemon = self.running(timeouts=timeouts, **settings)
        client = self.connect(daemon.address, receive_buffer=UNREAD)
        client.send(request("/first.bin") + data)
        self.assertGreater(when_full(client), len(first) // 2)
        if number is not None:
            daemon.send_signal(number)
            daemon.log.wait("stopping" if number == signal.SIGTERM else "in force")
        time.sleep(1.5)  # past deadlines: this is what is tested
        client.send(b"x")
        body, rest = split(client.read_to_end(), len(first))
        self.assertTrue(body == first)
        self.assertEqual([int(status) for status in re.findall(rb"HTTP/1.1 (\d+)", rest)], expected)

    def test_the_last_answer_of_a_limit(self):
        self.check_that_they_come(b"", [], limits={"requests_per_connection": 1})

    def test_idle_between_two_requests(self):
        self.check_that_they_come(b"", [], timeouts={"keep_alive": 0.4})

    def test_a_server_that_stops(self):
        self.check_that_they_come(b"", [], signal.SIGTERM)

    def test_content_that_does_not_come(self):
        """It is not wanted, and the answers are given: the rest of it is given up."""
        self.check_that_they_come(
            request("/small.bin", "POST", ["Content-Length: 9"], body=b"part"), [405],
            timeouts={"body": 0.3})

    def test_a_client_that_takes_nothing_does_not_hold_up_a_stop_for_ever(self):
        daemon = self.running(timeouts={"shutdown": 0.5})
        client = self.connect(daemon.address, receive_buffer=UNREAD)
        client.send(request("/medium.bin"))
        when_full(client)
        daemon.stop()

    def test_no_linger(self):
        """Timeouts.linger = 0: the daemon reads on for no time at all, not for ever."""
        daemon = self.running(timeouts={"linger": 0}, limits={"requests_per_connection": 1})
        client = self.connect(daemon.address)
        client.send(request("/small.bin"))
        self.assertEqual(client.read_response().body, b"small")
        client.expect_end()
        idle = lambda: json.loads(fetch(daemon.address, "/status/json").body)["connections"]
        wait_until(lambda: idle()["lingering"] == 0, "the connection is closed")


class UntakenEcho(Site):
    """RFC 862: what was received when the order to stop comes is owed, and sent back."""

    def owed(self, most):
        """A client whose bytes the daemon has sent back to its kernel, all or as many as it takes."""
        daemon = self.running(timeouts={"shutdown": 60, "linger": 0.3})
        sent = tree.content(most)
        client = self.connect(daemon.addresses[1], receive_buffer=32768)
        client.socket.setblocking(False)
        count = 0
        while count < len(sent):
            try:
                count += client.socket.send(sent[count:])
            except BlockingIOError:
                if when_still(lambda: queues(client), "both queues")[1] > 0:
                    break
        client.socket.settimeout(client.timeout)
        when_still(lambda: queues(client), "both queues")
        return daemon, client, sent[:count]

    def test_one_byte_more_does_not_destroy_them(self):
        for order in ("Tb", "bT"):
            with self.subTest(order=order):
                daemon, client, sent = self.owed(400000)
                if order == "bT":
                    client.send(b"b")
                daemon.send_signal(signal.SIGTERM)
                daemon.log.wait("stopping")
                if order == "Tb":
                    time.sleep(1.5)  # past the deadlines of an end: this is what is tested
                    client.send(b"b")
                received = client.read_to_end()
                self.assertTrue(received in (sent, sent + b"b"), len(received))
                daemon.stop()

    def test_a_client_that_streams(self):
        """It has always sent more than was received."""
        daemon, client, sent = self.owed(16 << 20)
        waiting = queues(client)[0]
        daemon.send_signal(signal.SIGTERM)
        daemon.log.wait("stopping")
        received = client.read_to_end()
        self.assertTrue(sent.startswith(received))
        self.assertGreaterEqual(len(received), waiting)
        daemon.stop()


if __name__ == "__main__":
    suite.main(limit=120)
