# SPDX-License-Identifier: MIT
"""Workers that do not turn, or die again and again: the others get their share of new connections,
and what waits in their queues is answered.

STUCK_FIGURES = 1 also prints how many of 100 connections, spread over the 2 s for which a worker is
stopped, are answered at once, and how many within 2 s.
"""

import json
import os
import re
import select
import shutil
import signal
import tempfile
import threading
import time

import suite
import tree
from evixd import BACKEND, Daemon, TestCase, children, configuration, host, wait_until
from wire import Connection, WireError, fetch, request

STUCK = [r"worker \d+ .*has not responded for a second", r"worker \d+ .*is stuck: killed",
         r"worker \d+ .*ended by signal 9"]
AWAY, BACK = r"worker \d+ \(%d\) is away", r"worker \d+ \(%d\) is back"
# Of as many connections it is certain enough that each of two workers gets one: 2^-39.
MANY = 40


def state(pid):
    """The letter of a process: proc(5)."""
    with open("/proc/%d/stat" % pid, encoding="utf-8") as file:
        return file.read().rpartition(")")[2].split()[0]


class Site(TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        tree.write(cls.root, "small.bin", b"small")

    @classmethod
    def serve(cls):
        return cls.make()

    @classmethod
    def make(cls, workers=2, **settings):
        locations = [{"path": "/"}, {"path": "/status", "handler": "status"}]
        text = configuration(
            workers=workers, backend=BACKEND, hosts=[host(cls.root, *locations)], **settings)
        daemon = Daemon(config=text, workers=None, expect=STUCK)
        daemon.workers = workers
        return daemon

    def running(self, **options):
        daemon = self.make(**options).start()
        self.addCleanup(daemon.kill)
        return daemon

    def hold(self, daemon):
        """Stops a worker until the end of the test at most; its process id."""
        pid = daemon.worker_pids[-1]
        os.kill(pid, signal.SIGSTOP)
        self.addCleanup(self.let_go, pid)
        return pid

    @staticmethod
    def let_go(pid):
        try:
            os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            pass

    def asking(self, daemon, count=MANY):
        """Connections that have sent a request."""
        clients = [Connection(daemon.address, timeout=60) for _ in range(count)]
        for client in clients:
            self.addCleanup(client.close)
            client.send(request("/small.bin"))
        return clients

    def answered(self, clients):
        for client in clients:
            self.assertEqual(client.read_response().body, b"small")

    def status(self, daemon):
        return json.loads(fetch(daemon.address, "/status/json").body)

    def away(self, daemon):
        """The processes that the status, in both its forms for people and programs, has as such."""
        page = fetch(daemon.address, "/status?refresh=0", fields=["Accept: text/html"])
        rows = {int(pid) for pid in re.findall(r"<td>(\d+), away</td>", page.body.decode())}
        workers = {w["pid"] for w in self.status(daemon)["workers"] if w["away"]}
        self.assertEqual(rows, workers)
        return rows

    def requests_of(self, daemon, pid):
        return {worker["pid"]: worker["requests"] for worker in self.status(daemon)["workers"]}[pid]


class Stopped(Site):
    def check(self, workers):
        """The others serve all that comes; what came before is answered later; the share returns."""
        daemon = self.running(workers=workers)
        pid = self.hold(daemon)
        waiting = self.asking(daemon, MANY * workers // 2)
        daemon.log.wait(AWAY % pid)
        self.answered(self.asking(daemon))
        self.assertEqual(self.status(daemon)["away"], 1)
        self.assertEqual(self.away(daemon), {pid})
        # It is stopped still, so there are some that it has yet to answer.
        unanswered = len(waiting) - len(select.select([c.socket for c in waiting], [], [], 0)[0])
        self.assertGreater(unanswered, 0)
        os.kill(pid, signal.SIGCONT)
        self.answered(waiting)
        daemon.log.wait(BACK % pid)
        self.assertEqual(self.status(daemon)["away"], 0)
        self.assertEqual(self.away(daemon), set())
        before = self.requests_of(daemon, pid)
        wait_until(lambda: fetch(daemon.address, "/small.bin").status == 200
                   and self.requests_of(daemon, pid) > before, "it gets its share")
        daemon.stop()

    def test_one_of_two(self):
        self.check(2)

    def test_one_of_four(self):
        self.check(4)

    def test_all_but_one_and_all(self):
        """Somebody has to have the connections: where nobody turns, everybody has his share."""
        daemon = self.running(workers=3)
        held = []
        for pid in daemon.worker_pids:
            os.kill(pid, signal.SIGSTOP)
            self.addCleanup(self.let_go, pid)
            held.append((pid, self.asking(daemon, 2 * MANY)))
            daemon.log.wait(AWAY % pid)
            if len(held) == 2:
                self.answered(self.asking(daemon))
        held.append((None, self.asking(daemon)))
        for pid in [pid for pid, _clients in held if pid]:
            os.kill(pid, signal.SIGCONT)
        for _pid, clients in held:
            self.answered(clients)
        daemon.stop()

    def test_it_is_replaced_in_time(self):
        for workers in (1, 2):
            daemon = self.running(workers=workers, timeouts={"stuck": 1})
            pid = self.hold(daemon)
            waiting = self.asking(daemon)
            daemon.log.wait(r"worker \d+ \(%d\) is stuck: killed" % pid)
            self.answered(waiting)
            wait_until(lambda: pid not in daemon.worker_pids, "its successor")
            daemon.stop()

    def test_an_idle_one_is_left_alone(self):
        """Who sleeps because there is nothing to do answers when it is asked."""
        daemon = self.running(timeouts={"stuck": 1})
        pids = set(daemon.worker_pids)
        client = self.asking(daemon, 1)[0]
        client.read_response()
        client.expect_silence(6)
        self.assertEqual(set(daemon.worker_pids), pids)
        self.assertNotIn("is stuck", daemon.log.text())
        client.send(request("/small.bin"))
        self.answered([client])
        daemon.stop()

    def test_one_that_is_full_is_left_alone(self):
        """Connections wait in its queue, but its loop turns."""
        daemon = self.running(workers=1, limits={"connections": 2}, timeouts={"stuck": 1})
        full = self.asking(daemon, 2)
        self.answered(full)
        pid, = daemon.worker_pids
        waiting = self.asking(daemon, 3)
        full[0].expect_silence(1)
        for client in full:
            client.close()
        for client in waiting:
            self.answered([client])
            client.close()
        self.assertEqual(daemon.worker_pids, [pid])
        self.assertNotIn("is away", daemon.log.text())
        daemon.stop()


class WithoutAQueueOfItsOwn(Site):
    """Sockets that all workers share: what waits there is nobody's in particular."""

    def running_at_path(self, **options):
        folder = tempfile.mkdtemp(prefix="evixd-stuck-")
        self.addCleanup(shutil.rmtree, folder, True)
        path = os.path.join(folder, "s")
        return self.running(listen=[{"address": "unix:" + path}], timeouts={"stuck": 1},
                            **options), path

    def check_connection(self, daemon, address):
        """One whose clients have nothing to say, while nobody new comes."""
        client = Connection(address, timeout=60)
        self.addCleanup(client.close)
        client.send(request("/small.bin"))
        self.answered([client])
        pid, = daemon.worker_pids
        # One that is stopped in the midst of a callback is known by that.
        wait_until(lambda: state(pid) == "S", "its loop waits")
        os.kill(pid, signal.SIGSTOP)
        self.addCleanup(self.let_go, pid)
        daemon.log.wait(r"worker \d+ \(%d\) is stuck: killed" % pid)
        client.expect_end()
        self.assertEqual(fetch(address, "/small.bin").body, b"small")
        self.assertNotEqual(daemon.worker_pids, [pid])
        daemon.stop()

    def test_connection_at_a_path(self):
        self.check_connection(*self.running_at_path(workers=1))

    def test_connection(self):
        daemon = self.running(workers=1, timeouts={"stuck": 1})
        self.check_connection(daemon, daemon.address)

    def test_what_waits_at_a_path(self):
        """All workers are stopped, and none has a client."""
        daemon, path = self.running_at_path(workers=2)
        for pid in daemon.worker_pids:
            os.kill(pid, signal.SIGSTOP)
            self.addCleanup(self.let_go, pid)
        with Connection(path, timeout=60) as client:
            client.send(request("/small.bin"))
            self.answered([client])
        daemon.log.wait("is stuck: killed")
        daemon.stop()


class Orders(Site):
    """What may come while one is stuck."""

    def stuck(self, **options):
        daemon = self.running(**options)
        pid = self.hold(daemon)
        waiting = self.asking(daemon)
        daemon.log.wait(AWAY % pid)
        return daemon, pid, waiting

    def test_stop_and_it_goes_on(self):
        daemon, pid, waiting = self.stuck()
        daemon.send_signal(signal.SIGTERM)
        daemon.log.wait("stopping")
        os.kill(pid, signal.SIGCONT)
        self.answered(waiting)
        daemon.stop()

    def test_stop_and_it_does_not(self):
        """It holds the stop up for timeouts.stuck, not for timeouts.shutdown."""
        daemon, pid, _waiting = self.stuck(timeouts={"stuck": 2, "shutdown": 600})
        daemon.send_signal(signal.SIGTERM)
        daemon.log.wait(r"\(%d\) is stuck: killed" % pid)
        daemon.stop()

    def test_reload(self):
        """The next worker answers what waits, whatever the former one does."""
        daemon, pid, waiting = self.stuck()
        daemon.send_signal(signal.SIGHUP)
        self.answered(waiting)
        self.answered(self.asking(daemon))
        os.kill(pid, signal.SIGCONT)
        daemon.log.wait("in force")
        wait_until(lambda: pid not in children(daemon.process.pid), "it goes")
        daemon.stop()

    def test_reload_that_it_does_not_hold_up(self):
        daemon, pid, waiting = self.stuck(timeouts={"stuck": 1, "shutdown": 600})
        daemon.send_signal(signal.SIGHUP)
        self.answered(waiting)
        daemon.log.wait(r"\(%d\) is stuck: killed" % pid)
        daemon.log.wait("in force")
        daemon.stop()


class DeathAfterDeath(Site):
    def die(self, daemon, deaths):
        """One of two workers, again and again; the other one's process id."""
        stays, dies = daemon.worker_pids
        for number in range(1, deaths + 1):
            os.kill(dies, signal.SIGKILL)
            daemon.log.wait("successor starts", number)
            if number < deaths:
                dies, = wait_until(lambda: [p for p in children(daemon.process.pid) if p != stays],
                                   "its successor", timeout=60)
        return stays

    def make_daemon(self, **settings):
        daemon = self.running(**settings)
        daemon.expect += ["successor starts"]
        return daemon

    def test_its_share_goes_to_the_others(self):
        daemon = self.make_daemon()
        stays = self.die(daemon, 5)  # so its next life begins after 1.6 s
        daemon.log.wait("is away until its successor serves")
        answered = 0
        while children(daemon.process.pid) == [stays]:
            self.assertEqual(fetch(daemon.address, "/small.bin").body, b"small")
            answered += children(daemon.process.pid) == [stays]
        self.assertGreater(answered, 12)  # 2^-12 that each was in the right queue by chance
        successor, = [p for p in children(daemon.process.pid) if p != stays]
        daemon.log.wait(BACK % successor)
        wait_until(lambda: fetch(daemon.address, "/small.bin").status == 200
                   and self.requests_of(daemon, successor) > 0, "it gets its share")
        daemon.stop()

    def test_stop_while_a_successor_is_due_or_starts(self):
        """What waits in the queue of the one that died is answered before all end."""
        for pause in (0, 0, 0.1, 0.11, 0.12, 0.13, 0.15):
            daemon = self.make_daemon()
            self.die(daemon, 1)
            waiting = self.asking(daemon)
            time.sleep(pause)
            daemon.send_signal(signal.SIGTERM)
            self.answered(waiting)
            daemon.stop()

    def test_fewer_workers_while_a_successor_is_due(self):
        """The socket of the one that died goes, and is emptied before."""
        daemon = self.make_daemon()
        stays, dies = daemon.worker_pids
        os.kill(dies, signal.SIGKILL)
        daemon.log.wait("successor starts")
        waiting = self.asking(daemon)
        with open(daemon.config_path, encoding="utf-8") as file:
            text = file.read()
        with open(daemon.config_path, "w", encoding="utf-8") as file:
            file.write(text.replace("workers = 2", "workers = 1"))
        daemon.send_signal(signal.SIGHUP)
        self.answered(waiting)
        daemon.log.wait("in force, with 1 worker")
        wait_until(lambda: len(children(daemon.process.pid)) == 1
                   and stays not in children(daemon.process.pid), "the former ones go", timeout=30)
        daemon.stop()


# What takes a quiet machine is no test for all of them.
if os.environ.get("STUCK_FIGURES"):
    class Figures(Site):
        def ask(self, daemon, times):
            began = time.monotonic()
            try:
                with Connection(daemon.address, timeout=60) as client:
                    client.send(request("/small.bin"))
                    if client.read_response().body == b"small":
                        times.append(time.monotonic() - began)
            except (OSError, WireError):
                pass

        def measure(self, workers):
            daemon = self.running(workers=workers)
            pid = self.hold(daemon)
            times, threads = [], []
            for _ in range(100):
                threads.append(threading.Thread(target=self.ask, args=(daemon, times)))
                threads[-1].start()
                time.sleep(0.02)
            os.kill(pid, signal.SIGCONT)
            for thread in threads:
                thread.join()
            daemon.stop()
            return [sum(t < limit for t in times) for limit in (0.2, 2, 60)]

        def test_of_100_connections(self):
            for workers in (2, 4, 8):
                at_once, within_2_s, ever = self.measure(workers)
                print("%s, %d workers: of 100 new connections %d within 0.2 s, %d within 2 s, %d at all"
                      % (BACKEND, workers, at_once, within_2_s, ever))
                self.assertEqual(ever, 100)
                self.assertGreaterEqual(at_once, 90)


if __name__ == "__main__":
    suite.main(limit=180)
