# SPDX-License-Identifier: MIT
"""Workers that die: they are replaced, with back-off, and nothing queued is lost."""

import os
import re
import resource
import signal
import socket
import struct

import suite
import tree
from evixd import Daemon, TestCase, children, configuration, cpu_seconds, host, wait_until
from wire import Connection, WireError, fetch, request

DIED = [r"worker \d+ .*(signal|killed|SIG)", r"successor starts"]


def retransmits(client):
    """Segments that were sent once more, by tcp_info of the kernel: tcpi_total_retrans."""
    info = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    return struct.unpack_from("I", info, 100)[0]


class Site(TestCase):
    @classmethod
    def serve(cls):
        tree.write(cls.root, "small.bin", b"small")
        return cls.make()

    @classmethod
    def make(cls, workers=1):
        return Daemon(
            config=configuration(hosts=[host(cls.root, {"path": "/"})]), workers=workers, expect=DIED
        )

    def kill_worker(self, daemon, pid):
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: pid not in children(daemon.process.pid), "%d is reaped" % pid)


class Respawn(Site):
    def test_killed_worker_is_replaced(self):
        pid, = self.daemon.worker_pids
        self.kill_worker(self.daemon, pid)
        successor, = self.daemon.worker_pids
        self.assertNotEqual(successor, pid)
        self.assertEqual(fetch(self.daemon.address, "/small.bin").body, b"small")
        self.daemon.log.wait(r"worker 0 .*%d" % pid)

    def test_connections_wait_for_the_successor(self):
        """The master keeps the socket open: who connects meanwhile is served, not refused."""
        with self.make() as daemon:
            pid, = daemon.worker_pids
            self.kill_worker(daemon, pid)
            clients = [Connection(daemon.address) for _ in range(20)]
            for client in clients:
                client.send(request("/small.bin"))
            for client in clients:
                self.assertEqual(client.read_response().body, b"small")
                client.close()

    def test_queued_connections_outlive_their_worker(self):
        """Made while the worker slept, before it died: not one of them is reset."""
        with self.make() as daemon:
            pid, = daemon.worker_pids
            os.kill(pid, signal.SIGSTOP)
            clients = [Connection(daemon.address).send(request("/small.bin")) for _ in range(50)]
            self.kill_worker(daemon, pid)
            for client in clients:
                self.assertEqual(client.read_response().body, b"small")
                client.close()

    def test_a_burst_fits_into_the_queue(self):
        """Not one is asked to try again a second later, which is seen as a long wait now and then."""
        with self.make() as daemon:
            pid, = daemon.worker_pids
            os.kill(pid, signal.SIGSTOP)
            clients = [Connection(daemon.address) for _ in range(400)]
            again = [client for client in clients if retransmits(client.socket)]
            for client in clients:
                self.addCleanup(client.close)
                client.send(request("/small.bin"))
            os.kill(pid, signal.SIGCONT)
            for client in clients:
                self.assertEqual(client.read_response().body, b"small")
            self.assertEqual(again, [])

    def test_the_others_go_on(self):
        with self.make(workers=3) as daemon:
            workers = daemon.worker_pids
            with_each = [Connection(daemon.address) for _ in range(60)]
            for client in with_each:
                client.send(request("/small.bin"))
                client.read_response()
            self.kill_worker(daemon, workers[0])
            served = 0
            for client in with_each:
                try:
                    client.send(request("/small.bin"))
                    served += client.read_response().body == b"small"
                except (OSError, WireError):
                    pass
                client.close()
            self.assertGreater(served, 20)
            self.assertEqual(len(wait_until(
                lambda: len(children(daemon.process.pid)) == 3 and children(daemon.process.pid),
                "three again",
            )), 3)

    def test_back_off(self):
        """One that dies again and again costs the machine nothing: each wait is twice as long.

        Only one that has lived for 10 seconds is replaced as soon as the first one again.
        """
        with self.make() as daemon:
            for _ in range(4):
                pid, = daemon.worker_pids
                self.kill_worker(daemon, pid)
            waits = [int(m[1]) for m in daemon.log.wait(r"successor starts in (\d+) ms", 4)]
            for before, wait in zip([0, *waits], waits):
                self.assertIn(wait, (100, 2 * before))
            self.assertLess(cpu_seconds(daemon.process.pid), 0.5 * suite.TIME_SCALE)
            self.assertEqual(fetch(daemon.address, "/small.bin").body, b"small")

    def test_stop_during_a_back_off(self):
        with self.make() as daemon:
            for _ in range(3):
                pid, = daemon.worker_pids
                self.kill_worker(daemon, pid)
        self.assertNotIn("worker 0 could not start", daemon.log.text())


class Descriptors(Site):
    """Of a shell's, or a service's, few: the limit is raised to what the configuration needs."""

    def limits(self, connections):
        with open(self.daemon.config_path, encoding="utf-8") as file:
            text = file.read()
        return text + "limits = { connections = %d; };\n" % connections

    def soft(self, daemon):
        """The lowest of its workers."""
        return min(resource.prlimit(pid, resource.RLIMIT_NOFILE)[0] for pid in daemon.worker_pids)

    def setUp(self):
        soft, self.hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if self.hard < 4000:
            self.skipTest("too few descriptors are allowed here")
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, self.hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, self.hard))

    def test_a_socket_and_a_file_for_each(self):
        with Daemon(config=self.limits(500), workers=2) as daemon:
            self.assertGreaterEqual(self.soft(daemon), 1000)
            with open(daemon.config_path, "w", encoding="utf-8") as file:
                file.write(self.limits(1500))
            before = daemon.worker_pids
            daemon.send_signal(signal.SIGHUP)
            daemon.log.wait("in force")
            wait_until(lambda: not set(before) & set(daemon.worker_pids), "the new workers")
            self.assertGreaterEqual(self.soft(daemon), 3000)

    def test_hard_limit_that_is_too_low_is_said(self):
        daemon = Daemon(
            config=self.limits(2000), descriptor_limit=600, expect=["limits.connections = 2000 needs"]
        )
        with daemon:
            self.assertEqual(fetch(daemon.address, "/small.bin").body, b"small")
            if self.soft(daemon) == 600:
                daemon.log.wait(r"hard limit is 600 \(ulimit -Hn, or LimitNOFILE= of the unit\)")
            else:  # root may have more
                self.assertGreaterEqual(self.soft(daemon), 4000)


class Affinity(Site):
    def cpus(self, pid):
        with open("/proc/%d/status" % pid, encoding="ascii") as file:
            return re.search(r"^Cpus_allowed_list:\s*(.*)$", file.read(), re.MULTILINE).group(1)

    def test_each_worker_has_its_cpu(self):
        """Those that evixd may use, one after the other; a successor has the same."""
        allowed = sorted(os.sched_getaffinity(0))
        text = configuration(hosts=[host(self.root, {"path": "/"})], cpu_affinity=True)
        with Daemon(config=text, workers=3, expect=DIED) as daemon:
            pids = daemon.worker_pids
            wanted = sorted(str(allowed[i % len(allowed)]) for i in range(3))
            self.assertEqual(sorted(map(self.cpus, pids)), wanted)
            self.kill_worker(daemon, pids[0])
            wait_until(
                lambda: sorted(map(self.cpus, daemon.worker_pids)) == wanted, "three, each bound"
            )
            self.assertEqual(fetch(daemon.address, "/small.bin").body, b"small")

    def test_any_by_default(self):
        pid, = self.daemon.worker_pids
        self.assertEqual(self.cpus(pid), self.cpus(os.getpid()))


class Master(Site):
    def test_holds_no_connection(self):
        """It does no I/O for clients."""
        with Connection(self.daemon.address) as client:
            client.send(request("/small.bin"))
            client.read_response()
            local = client.socket.getsockname()[1]
            with open("/proc/%d/net/tcp" % self.daemon.process.pid, encoding="ascii") as file:
                inodes = [line.split()[9] for line in file if ":%04X " % local in line]
            held = [
                os.readlink(path)
                for path in map(
                    ("/proc/%d/fd/" % self.daemon.process.pid).__add__,
                    os.listdir("/proc/%d/fd" % self.daemon.process.pid),
                )
            ]
            for inode in inodes:
                self.assertNotIn("socket:[%s]" % inode, held)

    def test_descriptors_are_not_inherited_from_a_shell(self):
        read_end, write_end = os.pipe()
        os.set_inheritable(write_end, True)
        try:
            with self.make() as daemon:
                self.assertEqual(fetch(daemon.address, "/small.bin").body, b"small")
        finally:
            os.close(read_end)
            os.close(write_end)


if __name__ == "__main__":
    suite.main()
