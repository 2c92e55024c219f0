# SPDX-License-Identifier: MIT
"""Slow clients: each deadline, the minimum rate, and clients that keep to neither.

Time-outs are short here, and what is waited for is the end of the connection, never a sleep.
"""

import json
import os
import signal
import threading
import time

import suite
import tree
from evixd import Daemon, TestCase, configuration, cpu_seconds, descriptors, host, wait_until
from pace import in_time
from suite import TIME_SCALE
from wire import Connection, WireError, fetch, request


class Site(TestCase):
    SETTINGS = {}
    EXPECT = ()
    LISTENERS = 1

    @classmethod
    def serve(cls):
        cls.large = tree.content(8 * 1048576)
        tree.write(cls.root, "small.bin", b"small")
        tree.write(cls.root, "large.bin", cls.large)
        return Daemon(
            config=configuration(
                hosts=[host(cls.root, {"path": "/"}, {"path": "/echo", "handler": "echo"})],
                **cls.SETTINGS,
            ),
            expect=cls.EXPECT, listeners=cls.LISTENERS,
        )

    def ends_after(self, least, connection, started):
        """Reads up to the connection's end, which comes before wire.py gives up; returns what came.
        `started`: a moment before the deadline began."""
        try:
            data = connection.read_to_end()
        except WireError as error:
            if "reset" not in str(error):
                raise
            data = b""
        self.assertGreaterEqual(time.monotonic() - started, least)
        return data


class Deadlines(Site):
    SETTINGS = {
        "timeouts": {"head": 0.5, "body": 0.5, "send": 0.5, "keep_alive": 0.7, "linger": 0.3},
        "limits": {"min_rate": 0},
    }

    def test_nothing_is_ever_sent(self):
        """From accept on; nothing was asked, so nothing is answered."""
        started = time.monotonic()
        with Connection(self.address) as connection:
            data = self.ends_after(0.2, connection, started)
            self.assertTrue(data == b"" or data.startswith(b"HTTP/1.1 408 "), data)

    def test_head_that_stops(self):
        """9110 15.5.9: 408 may be said; the connection ends."""
        started = time.monotonic()
        with Connection(self.address) as connection:
            connection.send(b"GET / HTTP/1.1\r\nHost: te")
            data = self.ends_after(0.3, connection, started)
            self.assertTrue(data == b"" or data.startswith(b"HTTP/1.1 408 "), data)
            self.assertNotIn(b"200 OK", data)

    def test_head_that_trickles(self):
        """A byte now and then does not buy more time: the deadline is for the whole head."""
        with Connection(self.address) as connection:
            started = time.monotonic()
            stop = threading.Event()

            def trickle():
                connection_data = b"GET / HTTP/1.1\r\nHost: test\r\nX: " + b"a" * 1000
                for byte in connection_data:
                    if stop.wait(0.05):
                        return
                    try:
                        connection.socket.send(bytes([byte]))
                    except OSError:
                        return

            writer = threading.Thread(target=trickle)
            writer.start()
            try:
                self.ends_after(0, connection, started)
            finally:
                stop.set()
                writer.join()

    def test_body_that_stops(self):
        started = time.monotonic()
        with Connection(self.address) as connection:
            connection.send(request("/echo", "POST", ["Content-Length: 100"], body=b"half"))
            data = self.ends_after(0.3, connection, started)
            self.assertFalse(data.endswith(b"half" + b"\0" * 96))

    def test_idle_between_requests(self):
        """Keep_alive: closed silently, without a 408 that the next request would take for its own
        answer."""
        with Connection(self.address) as connection:
            started = time.monotonic()
            connection.send(request("/small.bin"))
            self.assertEqual(connection.read_response().body, b"small")
            self.assertEqual(self.ends_after(0.4, connection, started), b"")

    @in_time(0.1)
    def test_use_keeps_it_alive(self):
        with Connection(self.address) as connection:
            for _ in range(5):
                connection.send(request("/small.bin"))
                self.assertEqual(connection.read_response().body, b"small")
                connection.expect_silence(0.3)

    def test_reader_that_stops(self):
        """A response that nobody takes is cut off, and its descriptors are freed."""
        pid = self.daemon.worker_pids[0]
        fetch(self.address, "/large.bin")
        wait_until(lambda: descriptors(pid) < 40, "calm")
        before = descriptors(pid)
        clients = [Connection(self.address, receive_buffer=4096) for _ in range(25)]
        for client in clients:
            client.send(request("/large.bin"))
        self.assertEqual(fetch(self.address, "/small.bin").body, b"small", "others go on")
        wait_until(lambda: descriptors(pid) >= before + 20, "25 downloads", timeout=5)
        wait_until(lambda: descriptors(pid) <= before + 2, "the descriptors are freed", timeout=8)
        for client in clients:
            client.close()

    @in_time(0.1)
    def test_slow_reader_that_makes_progress_is_served(self):
        """The deadline moves with progress."""
        with Connection(self.address, receive_buffer=65536) as connection:
            connection.send(request("/large.bin", fields=["Connection: close"]))
            connection.read_head()
            received = len(connection.buffer)
            started = time.monotonic()
            while received < len(self.large):
                time.sleep(0.005)  # the slowness is what is tested
                data = connection.receive(65536)
                self.assertTrue(data, "cut off after %d bytes" % received)
                received += len(data)
            self.assertEqual(received, len(self.large))
            self.assertGreater(time.monotonic() - started, 0.5)

    def test_linger_is_bounded(self):
        """A client that neither reads nor stops cannot hold the connection."""
        with Connection(self.address) as connection:
            connection.send(request("/", "POST", ["Content-Length: 100000000"]))
            started = time.monotonic()
            with self.assertRaises(OSError):
                while time.monotonic() - started < 20 * TIME_SCALE:
                    connection.socket.send(b"x" * 1000)
                    time.sleep(0.01)


class Unlimited(Site):
    SETTINGS = {
        "timeouts": {"head": 0, "body": 0, "send": 0, "keep_alive": 0, "linger": 1},
        "limits": {"min_rate": 0},
    }

    def test_off_means_off(self):
        """0 switches off, and does not spin."""
        pid = self.daemon.worker_pids[0]
        with Connection(self.address) as idle, Connection(self.address) as half:
            idle.send(request("/small.bin"))
            idle.read_response()
            half.send(b"GET /small.bin HTTP/1.1\r\nHo")
            before = cpu_seconds(pid)
            idle.expect_silence(1)
            half.expect_silence(0.2)
            self.assertLess(cpu_seconds(pid) - before, 0.3)
            half.send(b"st: test\r\n\r\n")
            self.assertEqual(half.read_response().body, b"small")


class MinimumRate(Site):
    SETTINGS = {
        "timeouts": {"head": 10, "body": 1, "send": 1, "keep_alive": 10, "linger": 0.3},
        "limits": {"min_rate": 4096},
    }

    @classmethod
    def serve(cls):
        cls.log = os.path.join(cls.root, "access.log")
        cls.SETTINGS = dict(
            cls.SETTINGS, error_log={"level": "info"},
            access_log={"target": cls.log, "format": "json"},
        )
        return super().serve()

    def expect_reason(self, target, reason, event):
        """The program's log and the line of the request say why it was cut off."""
        def reasons():
            with open(self.log, encoding="ascii") as file:
                lines = [json.loads(line) for line in file]
            return [line["reason"] for line in lines if line["target"] == target and line["aborted"]]

        wait_until(lambda: reasons() == [reason], "a line of %s with its reason" % target)
        self.daemon.log.wait(r"127\.0\.0\.1 %s: cut off" % event)

    def test_body_that_trickles(self):
        """Each byte is progress, and yet the client is far too slow."""
        with Connection(self.address) as connection:
            connection.send(request("/echo", "POST", ["Content-Length: 100000"]))
            started = time.monotonic()
            with self.assertRaises((OSError, AssertionError)):
                while time.monotonic() - started < 20 * TIME_SCALE:
                    connection.socket.send(b"x")
                    connection.socket.settimeout(0.02)
                    try:
                        if not connection.socket.recv(65536):
                            raise WireError("closed")
                    except TimeoutError:
                        pass
                    time.sleep(0.02)  # 50 bytes a second, at most
        self.expect_reason("/echo", "the client sends its content too slowly",
                           "sends its content too slowly")

    def test_reader_that_trickles(self):
        with Connection(self.address, receive_buffer=2048) as connection:
            connection.send(request("/large.bin"))
            started = time.monotonic()
            received = 0
            while time.monotonic() - started < 20 * TIME_SCALE:
                try:
                    data = connection.socket.recv(50)
                except ConnectionResetError:
                    break
                if not data:
                    break
                received += len(data)
                time.sleep(0.02)
            else:
                self.fail("was never cut off")
            self.assertLess(received, len(self.large))
        self.expect_reason("/large.bin", "the client takes its response too slowly",
                           "takes its response too slowly")

    def test_fast_clients_do_not_notice(self):
        for _ in range(3):
            self.assertTrue(fetch(self.address, "/large.bin").body == self.large)


class Bursts(Site):
    """What moves in steps that take longer than a timeout, and is fast enough all the same."""

    SETTINGS = {
        "timeouts": {"head": 10, "body": 2, "send": 0.5, "keep_alive": 0.5, "linger": 0.3},
        "limits": {"min_rate": 4096},
        "listen": [{"address": "127.0.0.1:0"}, {"address": "unix:http.sock"},
                   {"address": "127.0.0.1:0", "protocol": "echo"}],
    }
    LISTENERS = 3

    def take_slowly(self, connection, size):
        """64 KB a second: a kernel acknowledges that in steps of a second and a half, or longer."""
        received = 0
        while received < size:
            time.sleep(0.025)  # the slowness is what is tested
            data = connection.receive(1600)
            self.assertTrue(data, "cut off after %d bytes" % received)
            received += len(data)

    def test_reader(self):
        with Connection(self.address) as connection:
            connection.send(request("/large.bin"))
            self.take_slowly(connection, 350000)

    def test_reader_of_a_unix_socket(self):
        with Connection(self.daemon.addresses[1]) as connection:
            connection.send(request("/large.bin"))
            self.take_slowly(connection, 450000)

    def send_all_at_once(self, connection, data):
        """From a thread, since it is more than the daemon takes while nothing is read."""
        def send():
            try:
                connection.socket.sendall(data)
            except OSError:
                pass  # cut off: seen by the reader

        sender = threading.Thread(target=send, daemon=True)
        sender.start()
        self.addCleanup(sender.join)
        self.addCleanup(connection.reset)

    def test_reader_of_an_echo(self):
        """What is not taken holds up the content that it is made of."""
        connection = Connection(self.address)
        self.send_all_at_once(
            connection, request("/echo", "POST", ["Content-Length: 8388608"], body=self.large))
        self.take_slowly(connection, 350000)

    def test_reader_of_rfc_862(self):
        connection = Connection(self.daemon.addresses[2])
        self.send_all_at_once(connection, self.large)
        self.take_slowly(connection, 350000)

    def test_sender(self):
        """Much at first, then a little now and then."""
        with Connection(self.address) as connection:
            connection.send(request("/echo", "POST", ["Content-Length: 100000"], body=b"x" * 65536))
            connection.read_head("POST")
            connection.take(65536)
            started = time.monotonic()
            while time.monotonic() - started < 6:
                connection.send(b"y")
                self.assertEqual(connection.take(1), b"y")
                time.sleep(0.1)


class Standstill(Site):
    """A worker that is stopped for a while: by a debugger, a frozen container, a sleeping machine."""

    SETTINGS = {"timeouts": {"head": 2.5, "keep_alive": 2.5, "body": 2.5}}

    def sleep_through(self, pid, while_stopped):
        os.kill(pid, signal.SIGSTOP)
        try:
            while_stopped()
            time.sleep(6)  # past all deadlines: this is what is tested
        finally:
            os.kill(pid, signal.SIGCONT)

    def test_requests_of_that_time_and_soon_after_are_answered(self):
        connections = [Connection(self.address) for _ in range(8)]
        upload, half = Connection(self.address), Connection(self.address)
        every = [*connections, upload, half]
        for connection in every:
            self.addCleanup(connection.close)
            connection.send(request("/small.bin"))
        for connection in every:
            self.assertEqual(connection.read_response().body, b"small")
        upload.send(b"POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 5\r\n\r\nhe")
        self.assertEqual(upload.read_head("POST").status, 200)
        self.assertEqual(upload.take(2), b"he")
        half.send(request("/small.bin")[:-2])

        def send():
            for connection in connections:
                connection.send(request("/small.bin"))
            upload.send(b"llo")
            half.send(request("/small.bin")[-2:])

        late = connections.pop()
        self.sleep_through(self.daemon.worker_pids[0], send)
        late.send(request("/small.bin"))
        for connection in [*connections, half, late]:
            self.assertEqual(connection.read_response().body, b"small")
        self.assertEqual(upload.take(3), b"llo")

if __name__ == "__main__":
    suite.main(limit=90)
