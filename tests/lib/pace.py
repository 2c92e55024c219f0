# SPDX-License-Identifier: MIT
"""For the few tests in which the client has to be in time: a failure counts only if it was."""

import functools
import threading
import time
import unittest

TRIES = 5


class Pace:
    """`with Pace() as pace`: the longest time for which a thread that wanted to run was held up."""

    STEP = 0.01

    def __enter__(self):
        self.longest = 0
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def watch(self):
        before, is_over = time.monotonic(), False
        while not is_over:
            is_over = self.ended.wait(self.STEP)
            now = time.monotonic()
            self.longest = max(self.longest, now - before - self.STEP)
            before = now

    def __exit__(self, *_error):
        self.ended.set()
        self.thread.join()


def in_time(seconds):
    """Decorator of a test that needs no thread of this process to be held up for so long. Where it
    fails and one was, by whatever else runs on this machine, it begins anew; a few times, then it is
    skipped with that reason."""

    def decorate(test):
        @functools.wraps(test)
        def tried(self):
            for _ in range(TRIES):
                try:
                    with Pace() as pace:
                        return test(self)
                except unittest.SkipTest:
                    raise
                except Exception:
                    if pace.longest < seconds:
                        raise
            raise unittest.SkipTest("held up for %.2f s in each of %d tries" % (pace.longest, TRIES))

        return tried

    return decorate
