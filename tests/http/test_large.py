# SPDX-License-Identifier: MIT
"""Large files: nobody waits for them, and who reads slowly costs the kernel's buffers alone."""

import os
import socket

import suite
from evixd import Daemon, TestCase, configuration, host, memory_bytes, wait_until
from suite import TIME_SCALE
from wire import Connection, fetch, request

GIB = 1 << 30
SLOW_READERS = 200


class Large(TestCase):
    @classmethod
    def serve(cls):
        # Full of holes: no disk is slow enough to be in the way, and a test needs no room.
        for name, size in (("large.bin", GIB), ("small.bin", 1024)):
            with open(os.path.join(cls.root, name), "wb") as file:
                file.truncate(size)
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

    def test_slow_readers_cost_only_socket_buffers(self):
        """Of a file that the page cache has, as far as they get; else each holds what it waits for."""
        pid = self.daemon.worker_pids[0]
        with open(os.path.join(self.root, "large.bin"), "rb") as file:
            for _ in range(64):
                file.read(1 << 20)
        fetch(self.address, "/small.bin")
        clients = [Connection(self.address, receive_buffer=4096) for _ in range(SLOW_READERS)]
        for client in clients[:20]:
            client.send(request("/large.bin"))
            client.receive(100)
        before = memory_bytes(pid)
        for client in clients[20:]:
            client.send(request("/large.bin"))
            client.receive(100)
        grown = memory_bytes(pid) - before
        self.assertEqual(len(fetch(self.address, "/small.bin").body), 1024)
        for client in clients:
            client.reset()
        # An exchange and a body each. Who found the page cache emptied meanwhile, by whomever, holds
        # the 128 KiB that were read for it; nobody holds what it has not asked for yet.
        self.assertLess(grown / (SLOW_READERS - 20), 160 * 1024 * TIME_SCALE)
        wait_until(lambda: fetch(self.address, "/small.bin").status == 200, "it goes on")


if __name__ == "__main__":
    suite.main()
