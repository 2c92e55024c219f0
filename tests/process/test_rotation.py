# SPDX-License-Identifier: MIT
"""USR1 under load: every request has its line, whole, in exactly one of the files.

ROTATIONS says how many follow one another.
"""

import collections
import os
import re
import signal

import suite
import tree
from evixd import BACKEND, Daemon, TestCase, configuration, host, wait_until
from load import Load, write_files
from wire import fetch

ROTATIONS = int(os.environ.get("ROTATIONS", "100"))
LINE = re.compile(
    rb'127\.0\.0\.1 - - \[[^\]]+\] "GET /\w+\.bin\?(\d+\.\d+) HTTP/1\.1" 200 (?:\d+|-) "-" "-"\n'
)
EVENT = re.compile(rb"\d{4}-\d\d-\d\dT[\d:.+-]+ \w+ \d+: [^\n]+\n")


class Rotation(TestCase):
    @classmethod
    def serve(cls):
        write_files(cls.root)
        cls.logs = os.path.join(cls.root, "logs")
        os.mkdir(cls.logs)
        hosts = [host(cls.root, access_log={"target": os.path.join(cls.logs, "access")})]
        error_log = {"target": os.path.join(cls.logs, "error"), "level": "info"}
        cls.shutdown = {"shutdown": 60}
        return Daemon(
            config=configuration(workers=2, backend=BACKEND, hosts=hosts, error_log=error_log,
                                 timeouts=cls.shutdown), workers=None, listeners=0,
        )

    def find_address(self):
        log = os.path.join(self.logs, "error")
        match = wait_until(
            lambda: os.path.exists(log) and re.search(rb"listening on http://127\.0\.0\.1:(\d+)/",
                                                      tree.read(log)), "it listens")
        return "127.0.0.1", int(match[1])

    def rotate(self, number):
        for name in ("access", "error"):
            path = os.path.join(self.logs, name)
            os.rename(path, "%s.%d" % (path, number))
        self.daemon.send_signal(signal.SIGUSR1)
        for name in ("access", "error"):
            wait_until(lambda: os.path.exists(os.path.join(self.logs, name)), "a new log", timeout=60)

    def is_in_new_logs(self, address):
        """The master makes the new files; its workers, who may not, go over to them a moment later."""
        self.assertEqual(fetch(address, "/last").status, 404)
        return all(b"/last" in tree.read(os.path.join(self.logs, name)) for name in ("access", "error"))

    def test_no_line_is_lost_or_torn(self):
        address = self.find_address()
        with Load(address) as load:
            for number in range(ROTATIONS):
                self.rotate(number)
                if number % 10 == 5:  # workers of two configurations write to it, then
                    self.daemon.send_signal(signal.SIGHUP)
                if number % 10 == 9:
                    load.goes_on(1)
            load.goes_on()
            load.end()
            self.rotate(ROTATIONS)
            wait_until(lambda: self.is_in_new_logs(address), "workers have the new logs", timeout=60)
        answered = {"%d.%d" % (number, turn) for number, client in enumerate(load.clients)
                    for turn in range(client.answered)}
        type(self).daemon.stop()

        logged = collections.Counter()
        for name in os.listdir(self.logs):
            data = tree.read(os.path.join(self.logs, name))
            pattern = LINE if name.startswith("access") else EVENT
            for line in data.splitlines(keepends=True):
                if b"/last" in line:
                    continue
                match = pattern.fullmatch(line)
                self.assertIsNotNone(match, (name, line))
                if pattern is LINE:
                    logged[match[1].decode()] += 1
        self.assertEqual(set(logged), answered)
        self.assertEqual(set(logged.values()), {1})


if __name__ == "__main__":
    suite.main(limit=120 + ROTATIONS)
