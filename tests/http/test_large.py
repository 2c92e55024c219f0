# SPDX-License-Identifier: MIT
"""Large files: nobody waits for them, and who reads slowly costs the kernel's buffers alone."""

import contextlib
import os
import socket
import time

import suite
import tree
from evixd import Daemon, TestCase, configuration, host, memory_bytes, unless_poor, wait_until
from suite import TIME_SCALE
from wire import Connection, fetch, request

GIB = 1 << 30
SLOW_READERS = 200
SLOW_BYTES = 16384 * TIME_SCALE  # of memory for each; a chunk has 128 KiB


def can_tell_what_is_in_memory(file):
    """As evixd asks: without it, what is not known to be there is read into memory of its own."""
    try:
        return os.preadv(file.fileno(), [bytearray(1)], 0, os.RWF_NOWAIT) == 1
    except OSError:
        return False


class Large(TestCase):
    @classmethod
    def serve(cls):
        # Full of holes: no disk is slow enough to be in the way, and a test needs no room.
        for name, size in (("large.bin", GIB), ("small.bin", 1024)):
            with open(os.path.join(cls.root, name), "wb") as file:
                file.truncate(size)
        with open(os.path.join(cls.root, "real.bin"), "wb") as file:
            file.write(tree.content(16 << 20))
            file.flush()
            os.fsync(file.fileno())
        return Daemon(config=configuration(
            hosts=[host(cls.root, {"path": "/"})], timeouts={"send": 600},
        ))

    def read_past(self, download, client):
        """Reads a download until another client's answer has come; how much that was."""
        taken = 0
        while True:
            try:
                client.socket.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
                return taken
            except BlockingIOError:
                taken += len(download.receive(1 << 20))

    def test_small_answers_come_between_the_pieces_of_a_download(self):
        """One worker: before each answer the reader of the file gets what buffers hold, and a
        few pieces more; not the file."""
        with Connection(self.address) as download, Connection(self.address) as client:
            download.send(request("/large.bin"))
            head = download.receive(1000)
            self.assertIn(b"200 OK", head)
            total = 0
            for number in range(40):
                client.send(request("/small.bin"))
                taken = self.read_past(download, client)
                total += taken
                self.assertLess(taken, 48 << 20, "answer %d" % number)
                self.assertEqual(len(client.read_response().body), 1024)
            self.assertLess(total, GIB, "it was still under way")
            download.reset()

    def test_two_downloads_go_on_side_by_side(self):
        """Neither ends before the other has got a good part of its own."""
        with Connection(self.address) as one, Connection(self.address) as other:
            clients = {one.socket: 0, other.socket: 0}
            for client in (one, other):
                client.send(request("/large.bin", fields=["Range: bytes=0-%d" % (200 << 20)]))
                client.socket.setblocking(False)
            while max(clients.values()) < 150 << 20:
                for client in clients:
                    try:
                        clients[client] += len(client.recv(256 << 10))
                    except BlockingIOError:
                        pass
            self.assertGreater(min(clients.values()), 30 << 20)
            one.reset()
            other.reset()

    def cost_of_slow_readers(self, prepare):
        """Bytes of memory for each, the first ones aside: they touch what all use in turn. The last of
        them may still have a chunk that is on its way when their first bytes arrive.
        """
        pid = self.daemon.worker_pids[0]
        fetch(self.address, "/small.bin")
        clients = [Connection(self.address, receive_buffer=4096) for _ in range(SLOW_READERS + 60)]
        for client in clients:
            prepare()
            client.send(request("/large.bin"))
            client.receive(100)
            if client is clients[60]:
                before = memory_bytes(pid)
        with contextlib.suppress(AssertionError):  # then the caller says what it is
            wait_until(lambda: (memory_bytes(pid) - before) / SLOW_READERS < SLOW_BYTES, "chunks")
        grown = memory_bytes(pid) - before
        self.assertEqual(len(fetch(self.address, "/small.bin").body), 1024)
        for client in clients:
            client.reset()
        wait_until(lambda: fetch(self.address, "/small.bin").status == 200, "it goes on")
        return grown / SLOW_READERS

    @unless_poor("there are not descriptors enough for the readers")
    def test_slow_readers_cost_only_socket_buffers(self):
        """An exchange and a body each, whether the page cache has the file or not."""
        path = os.path.join(self.root, "large.bin")
        with open(path, "rb") as file:
            for _ in range(64):
                file.read(1 << 20)
            if not can_tell_what_is_in_memory(file):
                self.skipTest("the kernel can't tell what is in memory, so a chunk is held")
            self.assertLess(self.cost_of_slow_readers(lambda: None), SLOW_BYTES)

            def drop():
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

            self.assertLess(self.cost_of_slow_readers(drop), SLOW_BYTES)

    def test_who_pauses_gets_every_byte(self):
        """What was in memory when a piece was begun may be gone when there is room for more."""
        ranges = [(1, 6000000), (7000000, 15000000), (5, 9)]
        parts = request("/real.bin", fields=[
            "Range: bytes=" + ",".join("%d-%d" % each for each in ranges)])
        with open(os.path.join(self.root, "real.bin"), "rb") as file:
            content = file.read()
            for ask in (request("/real.bin"), parts):
                with Connection(self.address, receive_buffer=65536) as client:
                    client.send(ask)
                    for _ in range(4):
                        self.assertTrue(client.socket.recv(1, socket.MSG_PEEK))
                        time.sleep(0.12)  # longer than anything is believed to be in memory
                        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                        client.buffer += client.receive(1 << 20)
                    body = client.read_response().body
                if ask is parts:
                    for first, last in ranges:
                        self.assertIn(content[first : last + 1], body)
                else:
                    self.assertTrue(body == content)


if __name__ == "__main__":
    suite.main()
