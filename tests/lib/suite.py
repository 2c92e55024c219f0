# SPDX-License-Identifier: MIT
"""Runs one test module: a case for each row of a table, a time limit, and counts at the end.

A module ends in `suite.main()`. Exit status: 0, 1 if a case failed, 77 if all were skipped. The
last line, `# N passed, N failed, N skipped`, is what scripts/tally adds up.
"""

import faulthandler
import os
import re
import signal
import sys
import unittest

from rings import take_turn

# Sanitizers and emulators make everything slower; limits and time-outs are multiplied by this.
TIME_SCALE = float(os.environ.get("TEST_TIME_SCALE", "1"))


def cases(rows):
    """Class decorator: one test method for each row, which calls self.check(*row).

    The row's first member is its label: the case or the RFC's section that it stands for.
    """

    def decorate(cls):
        for number, row in enumerate(rows, 1):
            def method(self, row=row):
                self.check(*row)

            words = re.sub(r"[^a-z0-9]+", "_", str(row[0]).lower()).strip("_")
            method.__name__ = "test_%03d_%s" % (number, words)
            method.__qualname__ = cls.__name__ + "." + method.__name__
            setattr(cls, method.__name__, method)
        return cls

    return decorate


class _Result(unittest.TextTestResult):
    """Counts what passed, and a failed subTest or class set-up as one failed case each."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1


class TimeLimit(BaseException):
    """Raised in the main thread when a module takes too long; not an Exception, so that no test
    catches it by mistake."""


def main(limit=60):
    """Runs the tests of the calling module, for at most `limit` seconds."""

    def on_alarm(_number, _frame):
        faulthandler.dump_traceback(all_threads=True)
        raise TimeLimit("the module took more than %d s" % (limit * TIME_SCALE))

    if os.path.basename(os.path.dirname(os.path.abspath(sys.argv[0]))) == "process":
        take_turn()
    os.umask(0o022)  # a file that is to be served can be read by the workers' user
    signal.signal(signal.SIGALRM, on_alarm)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
    signal.alarm(int(limit * TIME_SCALE))
    loader = unittest.TestLoader()
    module = sys.modules["__main__"]
    if len(sys.argv) > 1:
        tests = loader.loadTestsFromNames(sys.argv[1:], module)
    else:
        tests = loader.loadTestsFromModule(module)
    results = []

    def make_result(*arguments, **options):
        results.append(_Result(*arguments, **options))
        return results[0]

    runner = unittest.TextTestRunner(
        stream=sys.stdout, verbosity=2, resultclass=make_result, warnings="error"
    )
    late = 0
    try:
        runner.run(tests)
    except TimeLimit as error:
        results[0].printErrors()
        print(error)
        late = 1
    result = results[0]
    failed = late + len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    for test, reason in result.skipped:
        print("# skipped: %s: %s" % (test, reason))
    print("# %d passed, %d failed, %d skipped" % (result.passed, failed, len(result.skipped)))
    if failed or not (result.passed or result.skipped):
        sys.exit(1)
    sys.exit(0 if result.passed else 77)
