# SPDX-License-Identifier: MIT
"""Kills connections in every state that one can be in, at random moments, a great many times.

Some dozens of connections are open at a time; in each round a few of them, taken at random, go a step
further, and one is killed: by a reset, a close, or half a close and a reset. In the end the
daemon must have as many descriptors open as in the beginning and no connection, serve more clients
at once than it has receive buffers, be the same process, and have no complaint of a sanitizer.

    EVIXD_HUNT_ROUNDS=1000000 make check TESTS=tests/http/test_teardown-io_uring.test
"""

import json
import os
import random
import shutil
import socket
import struct
import tempfile
import unittest

import suite
import tree
from evixd import Daemon, configuration, descriptors, host, require_backend, wait_until
from wire import Connection, fetch, request

ROUNDS = int(os.environ.get("EVIXD_HUNT_ROUNDS", 3000))
OPEN = 60  # connections at a time
STEPS = 4  # of any of them, before one is killed
LARGE = 8 << 20
RESET = struct.pack("ii", 1, 0)


def post(target, length):
    return request(target, "POST", ["Content-Length: %d" % length])


CHUNKED = request("/echo", "POST", ["Transfer-Encoding: chunked"])
BROKEN = b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"
PARTS = request("/large.bin", fields=["Range: bytes=0-99999,200000-4000000,7000000-"])
CLOSE = ["Connection: close"]

# What a connection does, step by step: bytes are sent, a number is so many bytes to be read if
# they are there. Between any two steps, and within them, it may be killed.
LIVES = {
    "queued": [],
    "head": [b"GET /sma", b"ll.bin HTTP/1.1\r\nHo", b"st: test\r\n"],
    "small": [request("/small.bin")],
    "idle": [request("/small.bin"), 4096, request("/small.bin"), 4096],
    "closing": [request("/small.bin", fields=CLOSE), 4096],
    "pipelined": [request("/small.bin") * 50, 100, request("/small.bin") * 50, 100000],
    "body": [post("/echo", 1000), b"x" * 400, b"x" * 100],
    "chunks": [CHUNKED, b"5\r\nhello\r\n", b"ffff\r\n", b"x" * 5000],
    "unwanted": [post("/small.bin", 5000), b"x" * 1000, 4096],
    "echo": [post("/echo", 4 << 20)] + [b"x" * 50000] * 20,
    "echoed": [post("/echo", 4 << 20)] + [b"x" * 50000, 50000] * 10,
    "file": [request("/large.bin"), 1000, 100000, 100000],
    "last file": [request("/large.bin", fields=CLOSE), 1000, 100000],
    "files": [request("/large.bin") * 3, 1000, 1000],
    "parts": [PARTS, 1000, 100000],
    "cold": ["cold", request("/cold.bin"), 1000, 100000],
    "cold parts": ["cold", PARTS.replace(b"large", b"cold"), 1000],
    "absent": [request("/none"), 4096, request("/none")],
    "listing": [request("/many/"), 100, 100000],
    "refused": [BROKEN, b"x" * 5000, 4096, b"x" * 5000],
    "half closed": [request("/large.bin"), "end", 1000, 100000],
    "half a request": [b"GET / HT", "end"],
    "expecting": [request("/echo", "POST", ["Content-Length: 9", "Expect: 100-continue"]), 25, b"x"],
    "tcp echo": [b"x" * 1000, 1000, b"x" * 200000, b"x" * 200000],
}
NAMES = sorted(LIVES)


class Victim:
    def __init__(self, hunt):
        self.name = hunt.random.choice(NAMES)
        self.steps = list(LIVES[self.name])
        self.hunt = hunt
        self.socket = socket.socket()
        if hunt.random.random() < 0.3:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.connect(hunt.echo if self.name == "tcp echo" else hunt.http)
        self.socket.setblocking(False)

    def step(self):
        if not self.steps:
            return
        step = self.steps.pop(0)
        try:
            if step == "cold":
                os.posix_fadvise(self.hunt.cold, 0, 0, os.POSIX_FADV_DONTNEED)
            elif step == "end":
                self.socket.shutdown(socket.SHUT_WR)
            elif isinstance(step, int):
                self.socket.recv(step)
            elif self.hunt.random.random() < 0.2:
                cut = self.hunt.random.randrange(len(step))
                self.socket.send(step[:cut])
                self.steps.insert(0, step[cut:])
            else:
                self.socket.send(step)
        except OSError:
            pass  # it would block, or the daemon has ended it

    def kill(self):
        way = self.hunt.random.random()
        try:
            if way < 0.1:
                self.socket.shutdown(socket.SHUT_WR)
            if way < 0.95:  # a close leaves a port behind that has to rest for a minute
                self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        except OSError:
            pass
        self.socket.close()


class Hunt:
    def __init__(self, rounds, seed):
        self.rounds = rounds
        self.random = random.Random(seed)
        self.root = tempfile.mkdtemp(prefix="evixd-hunt-")
        self.killed = {name: 0 for name in NAMES}

    def serve(self):
        tree.write(self.root, "small.bin", b"s" * 1024)
        tree.write(self.root, "large.bin", tree.content(LARGE))
        tree.write(self.root, "cold.bin", tree.content(LARGE, 1))
        for number in range(200):
            tree.write(self.root, "many/%d.txt" % number, b"")
        self.cold = os.open(os.path.join(self.root, "cold.bin"), os.O_RDWR)
        os.fsync(self.cold)
        return Daemon(
            config=configuration(
                listen=[{"address": "127.0.0.1:0"}, {"address": "127.0.0.1:0", "protocol": "echo"}],
                error_log={"target": "stderr", "level": "notice"},
                timeouts={"linger": 1},
                hosts=[host(
                    self.root, {"path": "/", "listing": True}, {"path": "/echo", "handler": "echo"},
                    {"path": "/status", "handler": "status"},
                )],
            ),
            listeners=2,
        )

    def hunt(self):
        victims = []
        for _ in range(self.rounds):
            while len(victims) < OPEN:
                victims.append(Victim(self))
            for _ in range(STEPS):
                self.random.choice(victims).step()
            index = self.random.randrange(OPEN)
            victim, victims[index] = victims[index], victims[-1]
            victims.pop()
            self.killed[victim.name] += 1
            victim.kill()
        for victim in victims:
            victim.kill()

    def warm_up(self):
        for target in ("/small.bin", "/large.bin", "/cold.bin", "/many/", "/none", "/status/json"):
            fetch(self.http, target)
        clients = [Connection(self.http) for _ in range(OPEN)]
        for client in clients:
            client.send(request("/large.bin"))
        for client in clients:
            client.reset()

    def settled(self, pid, before):
        """As many descriptors as before, but for our own connection that asks."""
        return descriptors(pid) <= before and self.connections() == 1

    def connections(self):
        return json.loads(fetch(self.http, "/status/json").body)["connections"]["open"]

    def assert_buffers(self):
        """More clients at once than there are buffers lent: none of those was lost."""
        clients = [Connection(self.http).send(request("/small.bin")) for _ in range(400)]
        for client in clients:
            assert len(client.read_response().body) == 1024
            client.close()

    def run(self):
        try:
            with self.serve() as daemon:
                self.http, self.echo = daemon.addresses
                pid, = daemon.worker_pids
                self.warm_up()
                wait_until(lambda: self.connections() == 1, "all that was opened is closed")
                before = descriptors(pid)
                self.hunt()
                wait_until(lambda: self.settled(pid, before), "every descriptor is given back", 20)
                self.assert_buffers()
                assert daemon.worker_pids == [pid], "the worker has died"
        finally:
            os.close(self.cold)
            shutil.rmtree(self.root, ignore_errors=True)


class Teardown(unittest.TestCase):
    def test_killed_in_every_state(self):
        require_backend()
        seed = random.randrange(1 << 32)
        hunt = Hunt(ROUNDS, seed)
        with self.subTest(seed=seed):
            hunt.run()
            self.assertGreater(min(hunt.killed.values()), 0)
        print("%d killed, in each state at least %d" % (hunt.rounds, min(hunt.killed.values())))


if __name__ == "__main__":
    suite.main(limit=60 + ROUNDS // 200)
