# SPDX-License-Identifier: MIT
"""A fuzz of the running daemon, with a model of what each answer may be.

Clients send requests of all kinds, well formed or not, one or many at once, in any pieces, fast and
slowly; meanwhile files are replaced, removed, renamed and truncated, the configuration is put in
force anew, logs are rotated, workers are killed. Each answer must be one that a state of its file
allows that was there between the request and the answer, to the byte; connections end when they
may, and no sooner; and each answer has its line in the access log.

    EVIXD_FUZZ_SECONDS=3600 EVIXD_FUZZ_SEED=7 make check TESTS=tests/http/fuzz_daemon-io_uring.test

What a client does follows from the seed, its number and the connection's; so do the mode of the cache
and, but on io_uring, how files are read. EVIXD_FUZZ_CLIENTS says how many clients there are,
EVIXD_FUZZ_FOLDER where the site, the journal and the logs are left.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import suite
from evixd import BACKEND, Daemon, children, descriptors, features, memory_bytes, require_backend, run, wait_until
from fuzzing.journal import Journal
from fuzzing.ledger import Ledger
from fuzzing.orders import Files, Orders, seconds_between
from fuzzing.pool import Pool
from fuzzing.site import Site
from suite import TIME_SCALE

SECONDS = float(os.environ.get("EVIXD_FUZZ_SECONDS", "10"))
SEED = os.environ.get("EVIXD_FUZZ_SEED") or str(random.randrange(1 << 32))
CLIENTS = int(os.environ.get("EVIXD_FUZZ_CLIENTS", "4"))
FOLDER = os.environ.get("EVIXD_FUZZ_FOLDER")

# What a worker may have at the end: its loop, listeners, logs and the cache's files; and memory,
# with what a sanitizer holds back of what was freed.
MOST_DESCRIPTORS = 120
MOST_MEMORY = 700 << 20

EXPECTED = (
    r"ended early",  # a file was truncated
    r"was ended by signal 9",  # a worker was killed
    r"has not responded for a second",  # or had no CPU, on a machine that is busy
)


def resources(pid):
    """Descriptors and memory; None of a former worker that ends while we look."""
    try:
        return descriptors(pid), memory_bytes(pid)
    except (AssertionError, OSError):
        return None


class Fuzz(unittest.TestCase):
    def setUp(self):
        require_backend()
        self.folder = tempfile.mkdtemp(prefix="evixd-fuzz-", dir=FOLDER)
        os.chmod(self.folder, 0o755)
        if FOLDER is None:
            self.addCleanup(shutil.rmtree, self.folder, True)
        drawn = random.Random("settings/%s" % SEED)
        cache = drawn.choice(("watch", "watch", "stat", "off"))
        # Else files are read by threads, as where a container forbids io_uring.
        self.io_uring = BACKEND == "io_uring" or drawn.random() < 0.5
        self.site = Site(self.folder, "+libcrypt" in run("--version").stdout, cache)
        pool = Pool(SEED)
        self.site.make(pool)
        self.journal = Journal(self.site.journal)
        self.addCleanup(self.journal.close)
        self.files = Files(self.site, pool, self.journal, SEED)
        self.files.begin()
        self.clients = []
        print("seed %s, %g s, %d clients, cache %s, io_uring for files: %s" % (
            SEED, SECONDS, CLIENTS, cache, self.io_uring), flush=True)

    def start_clients(self, daemon, ledger, until):
        for number in range(CLIENTS):
            settings = {
                "address": daemon.addresses[0], "echo": daemon.addresses[1], "journal": self.site.journal,
                "seed": SEED, "number": number, "until": until, "scale": TIME_SCALE,
                "ledger": os.path.join(self.folder, "client-%d" % number),
            }
            if not self.site.has_users:
                settings["kinds"] = [kind for kind in kinds() if kind != "password"]
            ledger.add_client(settings["ledger"])
            output = open(os.path.join(self.folder, "client-%d.out" % number), "w+", encoding="utf-8")
            self.addCleanup(output.close)
            process = subprocess.Popen(
                [sys.executable, "-m", "fuzzing.client", json.dumps(settings)],
                stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
            self.addCleanup(process.kill)
            self.clients.append((process, output))

    def disturb(self, orders, ledger, until):
        """Changes and orders, each at its own pace, as long as the clients are at it."""
        drawn = random.Random("pace/%s" % SEED)
        paces = {self.files.change: 0.025, orders.hang_up: 3, orders.rotate: 2.2, orders.kill: 5,
                 ledger.look: 0.5}
        due = {act: time.monotonic() + seconds_between(drawn, pace) for act, pace in paces.items()}
        while time.monotonic() < until and any(process.poll() is None for process, _ in self.clients):
            act = min(due, key=due.get)
            time.sleep(min(max(0, due[act] - time.monotonic()), 0.02))
            orders.settle()
            if time.monotonic() >= due[act]:
                act()
                due[act] = time.monotonic() + seconds_between(drawn, paces[act])

    def collect(self):
        """The clients end by themselves. Their counts, summed up; what they have to say is a failure."""
        sums, said = {}, []
        for process, output in self.clients:
            status = process.wait(120 * TIME_SCALE)
            output.seek(0)
            text = output.read().strip()
            last = text.splitlines()[-1] if text else ""
            if status != 0 or not last.startswith("{"):
                said.append("a client ended with %d:\n%s" % (status, text))
            if last.startswith("{"):
                for name, count in json.loads(last).items():
                    sums[name] = sums.get(name, 0) + count
        return sums, said

    def check_resources(self, daemon):
        """Once all is over, the processes have what they need and no more."""
        pid = daemon.process.pid

        def few_descriptors():
            found = [each for each in map(resources, [pid, *children(pid)]) if each]
            return found if all(count <= MOST_DESCRIPTORS for count, _memory in found) else None

        found = wait_until(few_descriptors, "processes with few descriptors", 20)
        for _descriptors, memory in found:
            self.assertLess(memory, MOST_MEMORY)
        print("descriptors and MiB: %s" % [(count, memory >> 20) for count, memory in found])

    def test_answers_are_what_they_may_be(self):
        text = self.site.configuration(BACKEND, 0, 2)
        with Daemon(config=text, workers=None, listeners=2, expect=EXPECTED, io_uring=self.io_uring) as daemon:
            ledger = Ledger(self.site.access_log, TIME_SCALE)
            self.addCleanup(ledger.close)
            orders = Orders(daemon, self.site, BACKEND, self.journal, ledger, SEED)
            orders.begin()
            until = time.monotonic() + SECONDS
            self.start_clients(daemon, ledger, until)
            self.disturb(orders, ledger, until)
            counts, said = self.collect()
            orders.finish()
            print("%s; %d changes; %s" % (counts, self.files.count, orders.counts))
            if said:
                self.fail("\n".join(said) + "\n\nthe daemon's log:\n" + daemon.log.text())
            self.check_resources(daemon)
        ledger.finish()
        print(ledger.counts)
        if ledger.faults:
            self.fail("seed %s: %s" % (SEED, "\n".join(ledger.faults[:20])))
        self.assertGreaterEqual(counts["connections"], CLIENTS)


def kinds():
    from fuzzing.client import KINDS

    return list(KINDS)


if __name__ == "__main__":
    suite.main(limit=int(SECONDS) + 150)
