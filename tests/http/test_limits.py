# SPDX-License-Identifier: MIT
"""When something runs out: descriptors, connections, the room of a cache."""

import os
import resource
import socket
import time

import suite
import tree
from evixd import (
    Daemon, TestCase, configuration, cpu_seconds, descriptors, host, memory_bytes, unless_poor,
    wait_until,
)
from suite import TIME_SCALE
from wire import Connection, WireError, exchange, fetch, request


def answers(connection):
    """Whether a request on it is served within a short time."""
    connection.socket.settimeout(0.3)
    try:
        connection.send(request("/small.bin"))
        return bool(connection.socket.recv(100))
    except (OSError, WireError):
        return False
    finally:
        connection.socket.settimeout(connection.timeout)


def is_served(client):
    """Whether a request on it is answered, whole, within a short time."""
    client.send(request("/small.bin"))
    client.socket.settimeout(TIME_SCALE)
    try:
        return client.socket.recv(1, socket.MSG_PEEK) and client.read_response().body == b"small"
    except socket.timeout:
        return False
    finally:
        client.socket.settimeout(client.timeout)


class Holds(TestCase):
    def hold(self, count):
        """So many connections, and how many of them the daemon takes."""
        clients, served = [], 0
        for _ in range(count):
            clients.append(Connection(self.address))
            self.addCleanup(clients[-1].close)
            if served == len(clients) - 1:
                served += is_served(clients[-1])
        return clients, served

    def assert_quiet(self, pid, client):
        before = cpu_seconds(pid)
        client.expect_silence(1)
        self.assertLess(cpu_seconds(pid) - before, 0.3, "spins")


class Descriptors(Holds):
    @classmethod
    def serve(cls):
        tree.write(cls.root, "small.bin", b"small")
        for number in range(300):
            tree.write(cls.root, "many/%d.bin" % number, tree.content(70000, number))
        return Daemon(
            config=configuration(
                hosts=[host(cls.root, {"path": "/"})],
                limits={"connections": 10000}, timeouts={"keep_alive": 30, "head": 30},
            ),
            descriptor_limit=64,
            expect=[r"limit of (open files|descriptors)", r"descriptors", r"accept", r"too many open files"],
        )

    def test_too_many_connections_do_not_spin(self):
        """CPU stays near 0, who was accepted is served, and it recovers by itself."""
        pid = self.daemon.worker_pids[0]
        clients, served = self.hold(200)
        self.assertGreater(served, 10)
        self.assertLess(served, 60)
        self.assert_quiet(pid, clients[-1])
        for number in range(100):  # with a descriptor for each file, in turn
            client = clients[number % served]
            client.send(request("/many/%d.bin" % number))
            response = client.read_response()
            self.assertEqual(response.status, 200, number)
            self.assertTrue(response.body == tree.content(70000, number), number)
        for client in clients:
            client.close()
        wait_until(lambda: fetches(self.address), "it recovers by itself")

    def test_files_of_all_connections_at_once(self):
        """Each connection is within a file of its own: the cache has to let go of every one."""
        clients, served = self.hold(30)
        for number, client in enumerate(clients[:served]):
            client.send(request("/many/%d.bin" % number))
        for number, client in enumerate(clients[:served]):
            self.assertEqual(client.read_response().status, 200, number)

    def test_cache_gives_descriptors_back(self):
        """Files that are kept open never stand in the way."""
        for number in range(300):
            response = fetch(self.address, "/many/%d.bin" % number)
            self.assertEqual(response.status, 200, number)
            self.assertTrue(response.body == tree.content(70000, number))


class Surprise(Holds):
    @classmethod
    def serve(cls):
        tree.write(cls.root, "small.bin", b"small")
        return Daemon(
            config=configuration(hosts=[host(cls.root, {"path": "/"})]), expect=[r"cannot accept"]
        )

    def test_none_left_by_surprise(self):
        """A limit that was lowered meanwhile: it pauses, says so once a while, and goes on."""
        pid = self.daemon.worker_pids[0]
        self.assertTrue(fetches(self.address))
        limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        used = set(map(int, os.listdir("/proc/%d/fd" % pid)))
        few = next(number for number in range(3, 10000) if number not in used) + 3
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (few, limits[1]))
        try:
            clients, served = self.hold(20)
            self.assertLess(served, 20)
            self.daemon.log.wait(r"cannot accept")
            self.assert_quiet(pid, clients[-1])
        finally:
            resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)
        wait_until(lambda: fetches(self.address), "it recovers by itself")
        lines = [line for line in self.daemon.log.lines if "cannot accept" in line]
        self.assertLess(len(lines), 5, "one line an interval, not one a try")


class Connections(TestCase):
    @classmethod
    def serve(cls):
        tree.write(cls.root, "small.bin", b"small")
        return Daemon(
            config=configuration(
                hosts=[host(cls.root, {"path": "/"})], limits={"connections": 10},
                timeouts={"keep_alive": 30},
            ),
            expect=[r"connections"],
        )

    def test_waits_and_resumes(self):
        """The rest waits in the queue without cost, and is served when others leave."""
        pid = self.daemon.worker_pids[0]
        first = [Connection(self.address) for _ in range(10)]
        for client in first:
            self.assertTrue(answers(client))
        second = [Connection(self.address) for _ in range(10)]
        before = cpu_seconds(pid)
        second[0].send(request("/small.bin"))
        second[0].expect_silence(1)
        self.assertLess(cpu_seconds(pid) - before, 0.3, "spins")
        for client in first + second[5:]:
            client.close()
        self.assertEqual(second[0].read_response().body, b"small")
        for client in second[1:5]:
            client.send(request("/small.bin"))
            self.assertEqual(client.read_response().body, b"small")
        for client in second:
            client.close()

    def test_many_come_and_go(self):
        for _ in range(300):
            with Connection(self.address) as client:
                client.send(request("/small.bin"))
                self.assertEqual(client.read_response().body, b"small")


class PerAddress(TestCase):
    @classmethod
    def serve(cls):
        tree.write(cls.root, "small.bin", b"small")
        return Daemon(config=configuration(
            hosts=[host(cls.root, {"path": "/"})], limits={"connections_per_address": 5},
        ), expect=[r"too many connections"])

    def test_one_client_cannot_take_all(self):
        clients = [Connection(self.address) for _ in range(5)]
        for client in clients:
            client.send(request("/small.bin"))
            self.assertEqual(client.read_response().body, b"small")
        with Connection(self.address) as sixth:
            try:
                sixth.send(request("/small.bin"))
                data = sixth.read_to_end()
                self.assertNotIn(b"200 OK", data)
            except (OSError, WireError):
                pass  # reset
        for client in clients:
            client.close()
        wait_until(lambda: fetches(self.address), "the address may come back")


def fetches(address):
    try:
        return fetch(address, "/small.bin").body == b"small"
    except (OSError, WireError):
        return False


class Memory(TestCase):
    @classmethod
    def serve(cls):
        tree.write(cls.root, "small.bin", b"s" * 1024)
        tree.write(cls.root, "large.bin", tree.content(32 << 20))
        return Daemon(config=configuration(
            hosts=[host(cls.root, {"path": "/", "listing": True})], files={"memory": "4M"},
        ))

    def test_slow_readers_cost_little(self):
        """Back-pressure: 50 readers that stop hold no file in memory."""
        pid = self.daemon.worker_pids[0]
        fetch(self.address, "/small.bin")
        before = memory_bytes(pid)
        clients = [Connection(self.address, receive_buffer=4096) for _ in range(50)]
        for client in clients:
            client.send(request("/large.bin") * 20)
            client.receive(1000)
        grown = memory_bytes(pid) - before
        for client in clients:
            client.close()
        self.assertLess(grown, (16 << 20) * TIME_SCALE)

    @unless_poor("there are not descriptors enough for the connections")
    def test_many_idle_connections(self):
        pid = self.daemon.worker_pids[0]
        clients = []
        for _ in range(100):  # the allocator's first steps do not count
            clients.append(Connection(self.address))
            clients[-1].send(request("/small.bin"))
            clients[-1].read_response()
        before = memory_bytes(pid)
        for _ in range(900):
            clients.append(Connection(self.address))
            clients[-1].send(request("/small.bin"))
            clients[-1].read_response()
        grown = memory_bytes(pid) - before
        for client in clients:
            client.close()
        if TIME_SCALE == 1:  # sanitizers have an allocator of their own
            self.assertLess(grown / 900, 4096)

    def test_heads_of_all_sizes_in_pieces(self):
        """The rest of a head is kept, and given back when it is whole."""
        for size in (1000, 8000, 20000, 31000):
            data = request("/small.bin", fields=["X: " + "a" * size])
            with Connection(self.address) as client:
                for start in range(0, len(data), 999):
                    client.send(data[start : start + 999])
                self.assertEqual(len(client.read_response().body), 1024)


class Scans(TestCase):
    @classmethod
    def serve(cls):
        for number in range(2000):
            tree.write(cls.root, "%d.txt" % number, "file %d" % number)
        return Daemon(config=configuration(
            hosts=[host(cls.root, {"path": "/"})], files={"entries": 50, "memory": "64K"},
        ))

    def test_far_more_files_than_entries(self):
        """Each answer is that file's, however often entries are thrown out."""
        with Connection(self.address) as connection:
            for _ in range(2):
                for start in range(0, 2000, 50):
                    numbers = range(start, start + 50)
                    connection.send(b"".join(request("/%d.txt" % n) for n in numbers))
                    for number in numbers:
                        self.assertEqual(connection.read_response().body, b"file %d" % number)

    def test_far_more_missing_names_than_entries(self):
        with Connection(self.address) as connection:
            for start in range(0, 2000, 50):
                connection.send(b"".join(request("/none-%d" % n) for n in range(start, start + 50)))
                for _ in range(50):
                    self.assertEqual(connection.read_response().status, 404)


if __name__ == "__main__":
    suite.main(limit=90)
