# SPDX-License-Identifier: MIT
"""A hunt for stale answers: hunt_staleness.c changes the root in every way that there is, and asks
for what it has changed on open, busy connections of the real daemon.

EVIXD_HUNT_ROUNDS says how many changes in all, EVIXD_HUNT_SEED where they begin:

    EVIXD_HUNT_ROUNDS=1000000 make check TESTS=tests/http/test_staleness-io_uring.test
"""

import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest

import suite
from evixd import EVIXD, IS_POOR, Daemon, configuration, host, require_backend, watched_inodes
from wire import fetch

ROUNDS = int(os.environ.get("EVIXD_HUNT_ROUNDS", "4000"))
SEED = os.environ.get("EVIXD_HUNT_SEED", "1")
HUNT = os.path.join(os.path.dirname(EVIXD), "tests/http/hunt_staleness")
# How the rounds are shared out. The mode that watches is the one that has something to miss.
SHARES = (("watch", 0.8), ("stat", 0.1), ("off", 0.1))


@suite.cases([(mode, mode, share) for mode, share in SHARES])
class Hunt(unittest.TestCase):
    def check(self, _label, mode, share):
        """Nothing stale."""
        require_backend()
        folder = tempfile.mkdtemp(prefix="evixd-hunt-")
        self.addCleanup(shutil.rmtree, folder, True)
        os.chmod(folder, 0o755)
        for release in ("1", "2"):
            os.makedirs(os.path.join(folder, "releases", release))
        os.symlink("releases/1", os.path.join(folder, "current"))
        settings = {"files": {"cache": mode, "small": 64},
                    "hosts": [host(os.path.join(folder, "current"))],
                    "error_log": {"target": "stderr", "level": "notice"}}
        if os.getuid() == 0:  # else permissions would mean nothing
            settings["user"] = "nobody"
        with Daemon(config=configuration(**settings), expect=[r"ended early"]) as daemon:
            rounds = str(max(1, int(ROUNDS * share)))
            began = time.monotonic()
            hunt = subprocess.run(
                [HUNT, str(daemon.address[1]), folder, rounds, SEED],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                errors="replace")
            print("%s, %.0f s: %s" % (mode, time.monotonic() - began, hunt.stdout))
            self.assertEqual(hunt.returncode, 0, hunt.stdout + "\n" + daemon.log.text())
            self.check_watches(daemon, mode, os.path.join(folder, "current"))
            counts = re.findall(r"  \w+: (\d+) of (\d+)", hunt.stdout)
            seen, made = (sum(int(count[i]) for count in counts) for i in (0, 1))
            self.assertGreater(seen * 5, made, "too little changed to find anything")
            if made >= 5000:
                self.assertFalse([c for c in counts if c[0] == "0"], "a change that was never seen")

    def check_watches(self, daemon, mode, root):
        """That nothing is stale would be easy if it looked at each file each time."""
        if mode == "watch" and not IS_POOR:
            fetch(daemon.address, "/hot/page.txt")
            watched = watched_inodes(daemon.worker_pids[0])
            for path in (root, root + "/hot", root + "/hot/page.txt"):
                self.assertIn(os.stat(path).st_ino, watched, path)


if __name__ == "__main__":
    suite.main(limit=90 + ROUNDS // 200)
