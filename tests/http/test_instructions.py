# SPDX-License-Identifier: MIT
"""What a request costs in instructions does not creep upwards: counted on the real program, and
compared with tests/instructions.txt, which says what it holds for."""

import os
import subprocess
import sys
import unittest

import suite
from evixd import BACKEND, EVIXD, require_backend

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SKIP = 77


class Instructions(unittest.TestCase):
    def test_cached_small_file(self):
        require_backend()
        steps = os.path.join(os.path.dirname(EVIXD), "scripts", "wrk", "steps")
        done = subprocess.run(
            [sys.executable, os.path.join(TOP, "scripts", "wrk", "instructions"), "--check",
             "--backend", BACKEND],
            env=dict(os.environ, EVIXD=EVIXD, STEPS=steps), stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, universal_newlines=True)
        if done.returncode == SKIP:
            self.skipTest(done.stdout)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    suite.main(200)
