# SPDX-License-Identifier: MIT
"""The fuzzer itself: what a daemon might do wrong has to be noticed by it, and nothing else."""

import email.utils
import io
import os
import shutil
import socket
import struct
import tempfile
import threading
import time
import unittest
import zlib

import suite
from fuzzing.client import Client
from fuzzing.journal import History, Journal
from fuzzing.ledger import Ledger
from fuzzing.orders import Files
from fuzzing.pool import Pool
from fuzzing.site import FIXED, Site

RESET = struct.pack("ii", 1, 0)


class Server:
    """A small file server that does one thing wrong: `fault`, or nothing."""

    def __init__(self, root, fault):
        self.root, self.fault = root, fault
        self.first = {}  # the contents that were read first
        self.held = None  # an answer that should have left already
        self.count = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = self.listener.getsockname()
        self.threads = [threading.Thread(target=self.accept)]
        self.threads[0].start()

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join()
        self.listener.close()

    def accept(self):
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self.serve, args=(peer,))
            self.threads.append(thread)
            thread.start()

    def serve(self, peer):
        data = b""
        with peer:
            try:
                while True:
                    piece = peer.recv(65536)
                    data += piece
                    while b"\r\n\r\n" in data:
                        head, _, data = data.partition(b"\r\n\r\n")
                        if not self.answer(peer, head):
                            peer.shutdown(socket.SHUT_WR)
                            while peer.recv(65536):
                                pass
                            return
                    if not piece:
                        return
            except OSError:
                pass

    def read(self, path):
        try:
            with open(self.root + path, "rb") as file:
                content = file.read()
        except FileNotFoundError:
            return None
        first = self.first.setdefault(path, content)
        if self.fault == "stale":
            return first
        if self.fault == "mixed" and len(first) == len(content) > 1:
            return first[: len(first) // 2] + content[len(first) // 2 :]
        if self.fault == "mixed":
            half = min(len(first), len(content)) // 2
            return first[:half] + content[half:]
        if self.fault == "one byte":
            return content[:-1] + bytes([content[-1] ^ 1]) if content else content
        if self.fault == "another file":
            return self.first[sorted(self.first)[0]]
        return content

    def tag(self, content):
        return '"same"' if self.fault == "one tag" else '"%x"' % zlib.crc32(content)

    def answer(self, peer, head):
        """False: it was the last one."""
        self.count += 1
        is_odd = self.count % 5 == 0  # where it would be noticed too easily
        text = head.decode("latin-1")
        method, target, _version = text.split("\r\n")[0].split(" ")
        is_last = "connection: close" in text.lower()
        content = self.read(target.partition("?")[0])
        fields = "Date: %s\r\n" % email.utils.formatdate(usegmt=True)
        if content is None:
            status, content = "404 Not Found", b"not here"
        else:
            status = "200 OK"
            fields += "ETag: %s\r\n" % self.tag(content)
        length = len(content)
        if self.fault == "length" and is_odd:
            length -= min(length, 1)
        if self.fault == "closes for no reason" and is_odd:
            is_last = True
        if is_last and self.fault != "says no close":
            fields += "Connection: close\r\n"
        if self.fault == "interim" and is_odd:
            peer.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        answer = ("HTTP/1.1 %s\r\n%sContent-Length: %d\r\n\r\n" % (status, fields, length)).encode()
        body = b"" if method == "HEAD" and self.fault != "content for HEAD" else content
        if self.fault == "swapped":
            if self.held is None and not is_last:
                self.held = answer + body
                return True
            answer, self.held = answer + body + (self.held or b""), None
            body = b""
        if self.fault in ("end", "reset") and is_odd and len(body) > 100:
            peer.sendall(answer + body[: len(body) // 2])
            if self.fault == "reset":
                peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                peer.close()
            return False
        peer.sendall(answer + body)
        if self.fault == "behind the last" and is_last:
            peer.sendall(b"x")
        return not is_last


# what the server does wrong, what the client has to say of it (None: nothing)
ROWS = (
    ("nothing", None),
    ("stale", "no answer that"),
    ("mixed", "no answer that"),
    ("one byte", "the first other byte"),
    ("another file", "no answer that"),
    ("one tag", "one strong tag"),
    ("length", "no answer that|status line"),
    ("end", "cut off: end"),
    ("reset", "cut off: (reset|end)"),  # a send that fails has taken the error before a receive
    ("swapped", "no answer that|no status line|cut off"),
    ("interim", "interim"),
    ("content for HEAD", "status line|CR LF|behind the last"),
    ("closes for no reason", "for no reason"),
    ("says no close", "goes on after"),
    ("behind the last", "behind the last"),
)


class Fuzzed(unittest.TestCase):
    """A client, a journal, and files that change meanwhile."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="evixd-fuzzing-")
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.site = Site(self.folder)
        self.pool = Pool("test")
        self.site.make(self.pool)
        self.journal = Journal(self.site.journal)
        self.addCleanup(self.journal.close)
        self.files = Files(self.site, self.pool, self.journal, "test")
        self.files.begin()

    def run_client(self, address, connections, kinds):
        out = io.StringIO()
        client = Client({
            "address": address, "echo": None, "journal": self.site.journal, "seed": "test", "number": 0,
            "until": time.monotonic() + 60, "connections": connections, "kinds": kinds,
            "ledger": os.path.join(self.folder, "ledger"), "scale": suite.TIME_SCALE,
        }, out)
        stop = threading.Event()
        thread = threading.Thread(target=self.change, args=(stop,))
        thread.start()
        try:
            client.run()
        finally:
            stop.set()
            thread.join()
            client.close()
        return client, out.getvalue()

    def change(self, stop):
        while not stop.wait(0.005):
            self.files.change()


@suite.cases([(fault, fault, complaint) for fault, complaint in ROWS])
class Noticed(Fuzzed):
    def check(self, _label, fault, complaint):
        server = Server(self.site.root + "/", fault)
        self.addCleanup(server.close)
        client, said = self.run_client(server.address, 200 if complaint else 60,
                                       ["whole", "head", "live"])
        if complaint is None:
            self.assertEqual((client.faults, said), (0, ""))
            self.assertGreater(client.counts["answers"], 100)
        else:
            self.assertGreater(client.faults, 0, "not noticed")
            self.assertRegex(said.split("\n")[1], complaint)
            self.assertIn("seed test, client 0, connection ", said)
            self.assertRegex(said, r"\d > \d+ bytes b'")


class Excused(Fuzzed):
    def test_reset_of_a_worker_that_was_killed(self):
        """Only the connections that it had."""
        history = History(self.site.journal, FIXED)
        self.addCleanup(history.close)
        before = time.monotonic_ns()
        self.journal.done(self.journal.begin(order="KILL", ports=[4711]))
        history.refresh()
        after = time.monotonic_ns()
        self.assertTrue(history.was_killed(4711, before, after))
        self.assertFalse(history.was_killed(4712, before, after))
        self.assertFalse(history.was_killed(4711, after, after), "it was opened later")

    def test_states_between_request_and_answer(self):
        """What was done before is the least, what began before the answer is the most."""
        history = History(self.site.journal, FIXED)
        self.addCleanup(history.close)
        times = [time.monotonic_ns()]
        for _ in range(3):
            self.files.replace("live/0.bin")
            times.append(time.monotonic_ns())
        history.refresh()

        def versions(sent, received):
            return [state.version for state in history.possible("live/0.bin", sent, received)]

        self.assertEqual(versions(times[0], times[0]), [1])
        self.assertEqual(versions(times[1], times[2]), [2, 3])
        self.assertEqual(versions(times[0], times[3]), [1, 2, 3, 4])
        self.assertEqual(versions(times[3], times[3]), [4])


LINE = '%s - - [01/Dec/2026:02:58:20 +0000] "GET /x?id=%s HTTP/1.1" %d %s "-" "-"\n'
RIGHT = LINE % ("127.0.0.1", "0-1-2", 200, "10")
ANSWER = "A 0-1-2 200 10 %d\n"

# label, what stands in the log, what the client says, what is wrong (None: nothing)
ENTRIES = (
    ("right", RIGHT, ANSWER, None),
    ("no content", LINE % ("127.0.0.1", "0-1-2", 304, "-"), "A 0-1-2 304 0 %d\n", None),
    ("of an answer that was not taken", RIGHT, "U 0-1-2\n", None),
    ("no line of one without an answer", "", "U 0-1-2\n", None),
    ("missing", "", ANSWER, "no line for 0-1-2"),
    ("twice", RIGHT * 2, ANSWER, "a second line"),
    ("twice, of an answer that was not taken", RIGHT * 2, "U 0-1-2\n", "a second line"),
    ("torn", RIGHT + RIGHT[:30], ANSWER, "torn"),
    ("malformed", RIGHT[5:40] + "\n" + RIGHT, ANSWER, "malformed"),
    ("glued", RIGHT[:-1] + RIGHT, ANSWER, "malformed"),
    ("another status", LINE % ("127.0.0.1", "0-1-2", 206, "10"), ANSWER, "answered with status 200"),
    ("another length", LINE % ("127.0.0.1", "0-1-2", 200, "11"), ANSWER, "and 10 bytes"),
    ("another client", LINE % ("unix:", "0-1-2", 200, "10"), ANSWER, "unix:"),
    ("of nobody", RIGHT, "", "no client has said"),
)


@suite.cases(ENTRIES)
class Audited(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="evixd-fuzzing-")
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.log = os.path.join(self.folder, "log")
        with open(self.log, "wb"):
            pass
        self.ledger = Ledger(self.log)
        self.addCleanup(self.ledger.close)
        self.ledger.add_client(os.path.join(self.folder, "client"))

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "a", encoding="ascii") as file:
            file.write(text)

    def check(self, _label, log, record, complaint):
        at = time.monotonic_ns()
        self.write("client", record.replace("%d", str(at)))
        self.ledger.look()
        self.write("log", log)
        self.ledger.finish()
        if complaint is None:
            self.assertEqual(self.ledger.faults, [])
        else:
            self.assertRegex("\n".join(self.ledger.faults), complaint)

    def test_lost_with_a_worker(self):
        self.ledger.kill(time.monotonic_ns())
        self.write("client", ANSWER % time.monotonic_ns())
        self.ledger.finish()
        self.assertEqual(self.ledger.faults, [])
        self.assertEqual(self.ledger.counts["lost with a worker"], 1)

    def test_rotated(self):
        """A line may still come into the former file."""
        self.ledger.rotate()
        self.write("log", "")
        self.ledger.follow()
        self.write("log.1", RIGHT)
        self.write("client", ANSWER % time.monotonic_ns())
        self.ledger.finish()
        self.assertEqual((self.ledger.faults, self.ledger.counts["matched"]), ([], 1))


if __name__ == "__main__":
    suite.main(limit=240)
