# SPDX-License-Identifier: MIT
"""A failure in time is one, and one that comes late is tried again."""

import os
import signal
import subprocess
import sys
import unittest

import suite
from pace import TRIES, in_time

# Waits until a process is stopped, and a while longer.
GO_ON = """import os, signal, time
while open("/proc/{0}/stat").read().rpartition(")")[2].split()[0] != "T":
    time.sleep(0.01)
time.sleep(0.3)
os.kill({0}, signal.SIGCONT)
"""


class InTime(unittest.TestCase):
    def test_failure_in_time(self):
        """Nothing is long enough to excuse it."""
        calls = []

        @in_time(3600)
        def test(_self):
            calls.append(1)
            raise AssertionError("it is wrong")

        with self.assertRaisesRegex(AssertionError, "it is wrong"):
            test(self)
        self.assertEqual(len(calls), 1)

    def held_up(self, fails):
        """Stopped for a moment in each try."""
        calls = []

        @in_time(0.1)
        def test(_self):
            calls.append(1)
            with subprocess.Popen([sys.executable, "-c", GO_ON.format(os.getpid())]):
                os.kill(os.getpid(), signal.SIGSTOP)
            if len(calls) <= fails:
                raise AssertionError("too late")

        return test, calls

    def test_held_up_once(self):
        test, calls = self.held_up(1)
        test(self)
        self.assertEqual(len(calls), 2)

    def test_held_up_always(self):
        test, calls = self.held_up(100)
        with self.assertRaisesRegex(unittest.SkipTest, "held up for"):
            test(self)
        self.assertEqual(len(calls), TRIES)


if __name__ == "__main__":
    suite.main()
