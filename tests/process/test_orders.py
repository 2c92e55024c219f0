# SPDX-License-Identifier: MIT
"""Orders that come almost together end as if they had come apart.

Each try starts a daemon, gives it two orders within some milliseconds, and looks at what is left:
which processes, with what exit status, under which program, configuration and logs. The model says
what may be left. A try is a function of the seed and its number, so what is found can be repeated:

    ORDERS_TRIES=N or ORDERS_SECONDS=N   how many, or for how long (default: some seconds)
    ORDERS_SEED=N                        which ones (default: others each time)
    ORDERS_TRY=N                         this one alone, ORDERS_TRIES times
"""

import collections
import contextlib
import os
import random
import signal
import time
import unittest

import suite
from evixd import BACKEND, require_backend, wait_until
from load import Load
from orders import World, adopt_orphans, children, descendants, is_ending, open_files
from suite import TIME_SCALE

SEED = int(os.environ.get("ORDERS_SEED", random.SystemRandom().randrange(1 << 32)))
TRIES = int(os.environ.get("ORDERS_TRIES", "0"))
SECONDS = float(os.environ.get("ORDERS_SECONDS", "0" if TRIES else "6"))
ONLY = os.environ.get("ORDERS_TRY")
MOST_FINDINGS = 20

STOPS = ("TERM", "QUIT", "INT")
DEATHS = ("worker", "master")
CHANGES = ("HUP", "USR1", "USR2")
ORDERS = (*CHANGES, *STOPS, *DEATHS)
PAIRS = [(first, second) for first in ORDERS for second in ORDERS]
PARENTS = ("plain", "ignoring", "shell", "manager")

GONE, SAME, HEIR = "nothing", "the same program", "the next program"


class Try:
    """What is tried: everything that is up to chance."""

    def __init__(self, seed, number):
        chance = random.Random("%d/%d" % (seed, number))
        pairs = list(PAIRS)
        random.Random("%d/%d" % (seed, number // len(pairs))).shuffle(pairs)
        self.seed, self.number = seed, number
        self.pair = pairs[number % len(pairs)]
        self.distance_ms = chance.choice((0, chance.uniform(0, 3), chance.uniform(0, 20)))
        self.parent = chance.choice(PARENTS)
        self.workers = chance.choice((1, 2, 2, 4, 8))
        self.victim = chance.random()
        self.is_held = chance.random() < 1 / 16
        self.is_loaded = chance.random() < 1 / 4 and not self.is_held and not self.has(*STOPS, *DEATHS)
        self.shutdown = 1 if self.is_held else 20

    def has(self, *orders):
        return any(order in self.pair for order in orders)

    def __str__(self):
        return "ORDERS_SEED=%d ORDERS_TRY=%d: %s, %s after %.3f ms; parent: %s, workers: %d%s%s" % (
            self.seed, self.number, *self.pair, self.distance_ms, self.parent, self.workers,
            ", a client that takes nothing" * self.is_held, ", under load" * self.is_loaded,
        )


# The model.

def ends(pair):
    """What may be left."""
    first, second = pair
    ending = [order for order in pair if order in STOPS or order == "master"]
    if "USR2" not in pair:
        return {GONE} if ending else {SAME}
    if first == "USR2" and ending:
        return {GONE, HEIR}  # the former one may have handed over, and be the one that ends
    return {GONE} if ending else {HEIR}


def statuses_of_master(pair, end):
    """Exit statuses that the process may have that the orders were sent to."""
    if end == SAME:
        return {None}
    return {0, -9} if "master" in pair and (pair != ("master", "master")) else {-9} if "master" in pair else {0}


def allowed_lines(pair, is_held):
    """Of warnings and errors, those that such a pair may cause."""
    # One that is not let run for a second, or is a second about its end, is no matter of orders.
    lines = ["workers run as root", "has not responded for a second"]
    if "worker" in pair:
        lines += ["signal 9", "reload failed", "could not start"]
    if "master" in pair or ("USR2" in pair and any(order in STOPS for order in pair)):
        lines += ["the master is gone"]
    if TIME_SCALE > 1:  # the search for leaks at the end of a process may take that long
        lines += ["did not stop in time: killed", "did not in time: killed", "signal 9"]
    return lines


class Finding(Exception):
    pass


class Run:
    """One try, from the start to the end."""

    def __init__(self, tried, patience=10):
        self.tried = tried
        self.patience = patience  # seconds until the end has to be there
        self.world = World(tried.parent, tried.workers, tried.shutdown)
        self.killed = set()
        self.is_too_late = False  # the last order, which nobody could obey any more

    def give(self, order):
        world = self.world
        if order == "HUP":
            world.write_next_configuration()
        elif order == "USR1":
            world.rotate()
        elif order == "USR2":
            world.install()
        if order == "worker":
            self.kill_worker()
        else:
            self.send(world.master, signal.SIGKILL if order == "master" else signal.Signals["SIG" + order])
        self.is_too_late = order in CHANGES and self.has_ended()

    def has_ended(self):
        """The first master; with sanitizers also if it looks for leaks, on its way out."""
        world = self.world
        return is_ending(world.master) or (TIME_SCALE > 1 and " %d: stopped" % world.master in world.log())

    def send(self, pid, number):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)

    def kill_worker(self):
        """Any that there is; during an upgrade or a stop, when others may be no workers, of the first."""
        found = set(children(self.world.master))
        if self.tried.has("USR2", *STOPS):
            found &= set(self.world.first_workers)
        found = sorted(found)
        if found:
            pid = found[int(self.tried.victim * len(found))]
            self.killed.add(pid)
            self.send(pid, signal.SIGKILL)

    def give_both(self):
        first, second = self.tried.pair
        self.give(first)
        due = time.monotonic() + self.tried.distance_ms / 1000
        while time.monotonic() < due:
            time.sleep(0.0001)
        self.give(second)

    # What is left.

    def is_gone(self):
        return not descendants() and self.world.is_port_free()

    def serves(self, pid):
        """With all its workers, its configuration and its logs, and without anybody else."""
        world = self.world
        workers = children(pid)
        shell = {world.process.pid} if world.parent == "shell" and pid == world.master else set()
        if len(workers) != world.workers or descendants() != {pid, *workers} | shell:
            return False
        if self.killed & set(workers) or not (self.is_too_late or self.logs_right(pid, workers)):
            return False
        numbers = world.numbers_served(2 * world.workers)
        return numbers == {world.number} or (self.is_too_late and numbers == {world.number - 1})

    def logs_right(self, pid, workers):
        world = self.world
        if not world.rotations:
            return True
        logs = [set(n for n in open_files(p) if n.startswith(world.path("access.log"))) for p in workers]
        own = {n for n in open_files(pid) if n.startswith(world.path("error.log"))}
        return (own == {world.path("error.log")}
                and all(names == {world.path("access.log")} for names in logs))

    def is_same(self):
        return self.world.read_pid() == self.world.master and self.serves(self.world.master)

    def is_heir(self):
        world = self.world
        pid = world.read_pid()
        if pid in (0, world.master):
            return False
        try:
            program = os.readlink("/proc/%d/exe" % pid)
        except OSError:
            return False
        newest = {world.program_number, world.program_number - self.is_too_late}
        return program in [world.path("evixd-%d" % n) for n in newest] and self.serves(pid)

    def reload_again(self):
        """Where the death of a worker that was about to serve has kept a configuration from being in
        force, which is said, the next order puts it there."""
        log = self.world.log()
        if self.tried.has("HUP") and "reload failed" in log and any(
                "(%d) could not start" % pid in log for pid in self.killed):
            self.send(self.world.master, signal.SIGHUP)

    def wait_for_end(self):
        looks = {GONE: self.is_gone, SAME: self.is_same, HEIR: self.is_heir}
        possible = ends(self.tried.pair)
        begun = time.monotonic()
        limit = (self.patience + (2 * self.tried.shutdown if self.tried.is_held else 0)) * TIME_SCALE
        again = begun + 1
        while time.monotonic() < begun + limit:
            for end in possible:
                if looks[end]():
                    return end
            if time.monotonic() > again:
                self.reload_again()
                again = begun + limit
            time.sleep(0.003)
        raise Finding("after %.1f s there is not %s, but %s" % (
            time.monotonic() - begun, " or ".join(sorted(possible)), self.describe()))

    def describe(self):
        world = self.world
        lines = ["port free: %s, in the pid file: %d, the first master: %d" % (
            world.is_port_free(), world.read_pid(), world.master)]
        for pid in sorted(descendants()):
            with contextlib.suppress(OSError):
                lines.append("%d %s, children %r, files %r" % (
                    pid, os.readlink("/proc/%d/exe" % pid), children(pid),
                    [name for name in open_files(pid) if ".log" in name]))
        lines.append("configurations that answer: %r, not %d" % (
            world.numbers_served(2 * world.workers), world.number))
        return "\n".join(lines)

    # What came of it.

    def check_statuses(self, end):
        tried, world = self.tried, self.world
        wanted = statuses_of_master(tried.pair, end)
        found = world.status(world.process.pid)
        if world.parent == "shell" and found is not None and found > 128:
            found = 128 - found
        if found not in wanted:
            raise Finding("the exit status of the first one is %r, not of %r" % (found, wanted))
        for pid, status in world.statuses().items():
            may_be_killed = status == -9 and (tried.has("USR2") or pid in self.killed)
            # What attends a new program ends by itself if it finds that the master is gone, and a search
            # for leaks has a process of its own, which goes with the one that is searched.
            may_be_alone = status == 1 and tried.has("master") and tried.has("USR2")
            may_search = TIME_SCALE > 1 and (tried.has(*DEATHS) or "in time: killed" in world.log())
            if pid != world.process.pid and status != 0 and not (
                    may_be_killed or may_be_alone or may_search):
                raise Finding("%d has exit status %d" % (pid, status))

    def check_rest(self, end):
        """Files that only a clean stop removes, and that no other may."""
        world = self.world
        is_clean = end == GONE and not self.tried.has("master")
        for name in ("pid", "socket"):
            if os.path.exists(world.path(name)) == is_clean and (is_clean or end != GONE):
                raise Finding("%s is %s" % (name, "left" if is_clean else "gone"))

    def check_manager(self, end):
        world = self.world
        if world.manager is None:
            return
        world.manager.listen()
        is_told = not self.tried.has("master")
        main = world.manager.main_process(world.master, is_told)
        if end == HEIR and is_told and main != world.read_pid():
            raise Finding("the manager believes in %d: %r" % (main, world.manager.said))
        if end == GONE and is_told and ("STOPPING", "1") not in [s[1:] for s in world.manager.said]:
            raise Finding("nobody said that it stops: %r" % world.manager.said)
        if end != GONE:
            wait_until(self.is_told_ready, "a reload ends: %r" % world.manager.said, timeout=10)

    def is_told_ready(self):
        manager = self.world.manager
        manager.listen()
        return [s[1] for s in manager.said if s[1] in ("READY", "RELOADING")][-1] == "READY"

    def check_log(self):
        complaints = self.world.complaints(allowed_lines(self.tried.pair, self.tried.is_held))
        if complaints:
            raise Finding("the log complains: %s" % "\n".join(complaints))

    def stop_what_is_left(self):
        pid = self.world.read_pid()
        self.send(pid, signal.SIGTERM)
        wait_until(self.is_gone, "the end of what was left", timeout=20)
        status = self.world.status(pid if self.world.parent != "shell" or pid != self.world.master
                                   else self.world.process.pid)
        if status != 0:
            raise Finding("%d, stopped at last, has exit status %r" % (pid, status))

    def go(self):
        tried, world = self.tried, self.world
        with contextlib.ExitStack() as stack:
            stack.callback(world.end)
            try:
                world.start()
                wait_until(world.note_start, "the start", timeout=20)
                if tried.is_held:
                    stack.enter_context(world.holding())
                self.give_under_load()
                end = self.wait_for_end()
                self.check_statuses(end)
                self.check_rest(end)
                self.check_manager(end)
                if end != GONE:
                    self.stop_what_is_left()
                self.check_log()
                return end
            except (Finding, AssertionError) as error:
                raise Finding("%s\n%s\nlog:\n%s" % (tried, error, world.log())) from None

    def give_under_load(self):
        if not self.tried.is_loaded:
            self.give_both()
            return
        with Load(self.world.address, kept=1, fresh=1) as load:
            self.give_both()
            load.goes_on()


class Early:
    """A stop, or the end of the master, while it starts: whatever there is by then goes."""

    def __init__(self, seed, number):
        chance = random.Random("early %d/%d" % (seed, number))
        self.label = "ORDERS_SEED=%d, start %d" % (seed, number)
        self.number = signal.Signals["SIG" + chance.choice((*STOPS, "KILL"))]
        self.distance_ms = chance.uniform(0, 25)
        self.world = World(chance.choice(("plain", "manager")), chance.choice((1, 2, 8)), 20)

    def go(self):
        world = self.world
        with contextlib.ExitStack() as stack:
            stack.callback(world.end)
            world.start()
            time.sleep(self.distance_ms / 1000)
            with contextlib.suppress(ProcessLookupError):
                os.kill(world.process.pid, self.number)
            try:
                wait_until(lambda: not descendants(), "its end", timeout=10)
                self.check()
            except (Finding, AssertionError) as error:
                raise Finding("%s: %s after %.3f ms\n%s\nlog:\n%s" % (
                    self.label, self.number.name, self.distance_ms, error, world.log())) from None

    def check(self):
        world = self.world
        status = world.status(world.process.pid)
        if status not in (0, -self.number):
            raise Finding("exit status %r" % status)
        left = [name for name in ("pid", "socket") if os.path.exists(world.path(name))]
        if left and status == 0:
            raise Finding("left: %r" % left)
        complaints = world.complaints(allowed_lines(("master",), False))
        if complaints:
            raise Finding("the log complains: %s" % "\n".join(complaints))


class Deaf(Run):
    """One in which no order comes to anybody."""

    def send(self, pid, number):
        del pid, number


class Looks(unittest.TestCase):
    """An order that is lost is noticed, each kind by what is left."""

    def test_lost_orders_are_noticed(self):
        require_backend()
        adopt_orphans()
        for order in ("HUP", "USR1", "USR2", "TERM", "worker", "master"):
            with self.subTest(order):
                tried = Try(SEED, 0)
                tried.pair, tried.is_held, tried.is_loaded = (order, order), False, False
                with self.assertRaisesRegex(Finding, "there is not"):
                    Deaf(tried, patience=0.3).go()


def numbers(seconds, tries):
    """Of the tries that there is time for, or as many as were asked for."""
    deadline = time.monotonic() + seconds * TIME_SCALE
    number = 0
    while number < tries or (not tries and time.monotonic() < deadline):
        yield number
        number += 1


class Pairs(unittest.TestCase):
    def setUp(self):
        require_backend()
        adopt_orphans()
        self.seen, self.findings = collections.Counter(), []
        self.begun = time.monotonic()

    def note(self, go):
        """One try; it ends the test when there is enough to look at."""
        done = self.seen.total() + len(self.findings)
        if done and done % 500 == 0:
            print("# %d in %.0f s" % (done, time.monotonic() - self.begun), flush=True)
        try:
            self.seen[go()] += 1
        except Finding as finding:
            self.findings.append(str(finding))
            print("FOUND", finding, flush=True)
            self.assertLess(len(self.findings), MOST_FINDINGS)

    def tell(self, what):
        print("# %s, %s, seed %d: %d in %.0f s, %d findings" % (
            what, BACKEND, SEED, self.seen.total() + len(self.findings),
            time.monotonic() - self.begun, len(self.findings)))
        self.assertEqual(self.findings, [])

    def test_as_if_they_had_come_apart(self):
        def go(tried):
            return tried.pair, Run(tried).go()

        for number in numbers(SECONDS, TRIES):
            tried = Try(SEED, int(ONLY) if ONLY else number)
            self.note(lambda: go(tried))
        for (pair, end), count in sorted(self.seen.items()) if TRIES else ():
            print("#   %-6s %-6s %5d ended with %s" % (*pair, count, end))
        self.tell("pairs")

    def test_while_it_starts(self):
        for number in numbers(SECONDS / 6, TRIES // 4):
            self.note(Early(SEED, number).go)
        self.tell("starts")


if __name__ == "__main__":
    suite.main(limit=60 + SECONDS * 2 + TRIES * 3)
