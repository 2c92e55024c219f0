# SPDX-License-Identifier: MIT
"""Very many connections: 10,000 with one worker, or as many as one asks for, over several.

    EVIXD_CONNECTIONS=100000 make check TESTS=tests/http/test_many-io_uring.test

Each process may have so many descriptors, and each pair of addresses so many ports: clients are
processes of up to 8,000 connections, each from an address of its own, and a worker gets 12,000.
"""

import json
import multiprocessing
import os
import random
import resource
import socket
import unittest

import suite
import tree
from evixd import BACKEND, Daemon, TestCase, configuration, host, memory_bytes, unless_poor, wait_until
from suite import TIME_SCALE
from wire import Connection, fetch, request

CONNECTIONS = int(os.environ.get("EVIXD_CONNECTIONS", 10000))
OF_A_CLIENT, OF_A_WORKER = 8000, 12000
WORKERS = -(-CONNECTIONS // OF_A_WORKER)
CLIENTS = -(-CONNECTIONS // OF_A_CLIENT)
SMALL = b"s" * 1024
IDLE_BYTES = 400  # what an idle connection may cost the process

# Thousands of connections at once are what poll(2) is not for.
needs_more_than_poll = unittest.skipIf(BACKEND == "poll", "poll looks at each descriptor each time")


def raise_limit(needed):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < needed:
        raise unittest.SkipTest("%d descriptors are needed, %d are allowed" % (needed, hard))
    if soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def connect(address, number):
    """From an address of its own for each client process."""
    connection = Connection.__new__(Connection)
    connection.timeout = 60 * TIME_SCALE
    connection.buffer = bytearray()
    connection.socket = socket.socket()
    connection.socket.settimeout(connection.timeout)
    connection.socket.bind(("127.0.1.%d" % (number + 1), 0))
    connection.socket.connect(address)
    return connection


def ask(connections, step):
    """A request on each of some, all on their way at once, before the first answer is read."""
    for start in range(0, len(connections), step):
        some = connections[start : start + step]
        for connection in some:
            connection.send(request("/small.bin"))
        for connection in some:
            if connection.read_response().body != SMALL:
                raise AssertionError("another body")


def client(address, number, count, pipe):
    """Opens its connections, then does what it is told; says what went wrong, or nothing."""
    connections = []
    while True:
        word = pipe.recv()
        try:
            if word == "open":
                for _ in range(count):
                    connections.append(connect(address, number))
                    if len(connections) % 100 == 0:
                        ask(connections[-100:], 100)
            elif word == "some":
                ask(random.sample(connections, min(500, count)), 50)
            elif word == "close":
                for connection in connections:
                    connection.reset()
        except (OSError, AssertionError) as error:
            pipe.send("client %d, %s: %s" % (number, word, error))
            return
        pipe.send("")
        if word == "close":
            return


@needs_more_than_poll
@unless_poor("256 descriptors are not enough for thousands of connections")
class Many(TestCase):
    @classmethod
    def serve(cls):
        raise_limit(OF_A_WORKER + 1000)
        tree.write(cls.root, "small.bin", SMALL)
        return Daemon(
            config=configuration(
                error_log={"target": "stderr", "level": "notice"},
                limits={"connections": OF_A_WORKER}, timeouts={"keep_alive": 600},
                hosts=[host(cls.root, {"path": "/"}, {"path": "/status", "handler": "status"})],
            ),
            workers=WORKERS,
        )

    def tell(self, word):
        for pipe in self.pipes:
            pipe.send(word)
        for pipe in self.pipes:
            self.assertEqual(pipe.recv(), "")

    def start_clients(self):
        fork = multiprocessing.get_context("fork")
        self.pipes = []
        for number in range(CLIENTS):
            ours, theirs = fork.Pipe()
            count = min(OF_A_CLIENT, CONNECTIONS - number * OF_A_CLIENT)
            process = fork.Process(
                target=client, args=(self.address, number, count, theirs), daemon=True
            )
            process.start()
            theirs.close()
            self.addCleanup(process.join, 60)
            self.addCleanup(process.terminate)
            self.pipes.append(ours)

    def open_connections(self):
        return json.loads(fetch(self.address, "/status/json").body)["connections"]["open"]

    def test_all_are_served(self):
        pids = self.daemon.worker_pids
        self.start_clients()
        before = sum(map(memory_bytes, pids))
        self.tell("open")
        grown = sum(map(memory_bytes, pids)) - before
        print("%d connections, %d workers: %d bytes each" % (CONNECTIONS, WORKERS, grown / CONNECTIONS))
        wait_until(lambda: self.open_connections() == CONNECTIONS + 1, "they are counted")
        for _ in range(3):
            self.tell("some")
        self.tell("close")
        wait_until(lambda: self.open_connections() == 1, "all are closed", 30)
        self.assertEqual(self.daemon.worker_pids, pids)


@needs_more_than_poll
@unless_poor("256 descriptors are not enough for thousands of connections")
class Idle(TestCase):
    @classmethod
    def serve(cls):
        raise_limit(8000)
        tree.write(cls.root, "small.bin", SMALL)
        return Daemon(config=configuration(hosts=[host(cls.root, {"path": "/"})]))

    @unittest.skipIf(TIME_SCALE != 1, "sanitizers have an allocator of their own")
    def test_memory(self):
        """The first ones touch what all use in turn: lent buffers, pools, the allocator's steps."""
        pid, = self.daemon.worker_pids
        connections = [Connection(self.address) for _ in range(400)]
        self.addCleanup(lambda: [connection.reset() for connection in connections])
        ask(connections, 400)
        before = memory_bytes(pid)
        for _ in range(40):
            some = [Connection(self.address) for _ in range(100)]
            connections.extend(some)
            ask(some, 100)
        self.assertLessEqual((memory_bytes(pid) - before) / 4000, IDLE_BYTES)


if __name__ == "__main__":
    suite.main(limit=60 + CONNECTIONS // 200)
