# SPDX-License-Identifier: MIT
"""The units as systemd reads them, without running it. UNITS names their folder."""

import os
import re
import shutil
import subprocess
import unittest

import suite

UNITS = os.environ.get("UNITS", "systemd")
SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "systemd")
MOST_EXPOSURE = 20  # of 100


def analyze(*arguments):
    if not shutil.which("systemd-analyze"):
        raise unittest.SkipTest("systemd-analyze is not installed")
    return subprocess.run(
        ["systemd-analyze", *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=60 * suite.TIME_SCALE, check=False,
    )


class Units(unittest.TestCase):
    def setUp(self):
        self.service = os.path.join(UNITS, "evixd.service")
        if not os.path.exists(self.service):
            self.skipTest("no units are made here: --with-systemdsystemunitdir")

    def read(self):
        with open(self.service, encoding="utf-8") as file:
            return file.read()

    def test_every_key_is_known(self):
        """An unknown one is only a warning to systemd; so is one that is of another section."""
        for unit in (self.service, os.path.join(SOURCES, "evixd.socket")):
            result = analyze("verify", unit)
            said = [
                line for line in (result.stdout + result.stderr).splitlines()
                if re.search(r"[Uu]nknown|[Ii]nvalid|[Ff]ailed to parse|deprecated", line)
            ]
            self.assertEqual(said, [])

    def test_exposure(self):
        """The same with the drop-in for a dynamic user, which is to be no weaker."""
        result = analyze(
            "security", "--offline=true", "--threshold=%d" % MOST_EXPOSURE, self.service
        )
        if "unrecognized option" in result.stderr:
            self.skipTest("this systemd-analyze knows no --offline")
        self.assertEqual(result.returncode, 0, result.stdout[-2000:] + result.stderr)

    def test_nothing_is_left_to_be_filled_in(self):
        self.assertEqual(re.findall(r"@\w+@", self.read()), [])

    def test_starts_again_for_as_long_as_it_takes(self):
        """Systemd gives a service up after five starts within ten seconds, by default."""
        self.assertRegex(self.read(), r"(?m)^StartLimitIntervalSec=0$")
        self.assertRegex(self.read(), r"(?m)^RestartSec=[1-9]")

    def test_stopping_takes_longer_than_the_longest_request_in_flight(self):
        """By default: else systemd kills what timeouts.shutdown still waits for."""
        limit, = re.findall(r"^TimeoutStopSec=(\d+)$", self.read(), re.M)
        self.assertGreater(int(limit), 30)


if __name__ == "__main__":
    suite.main()
