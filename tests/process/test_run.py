# SPDX-License-Identifier: MIT
"""scripts/run serves the folder that it is given, wherever it is called from. The tree it runs in is
a copy whose build is done already."""

import os
import shutil
import subprocess
import tempfile
import unittest
from urllib.parse import urlsplit

import suite
from evixd import EVIXD, SERVING, reset_inherited
from wire import fetch

RUN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "run")


def put(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


class Run(unittest.TestCase):
    def setUp(self):
        self.top = tempfile.mkdtemp(prefix="evixd-run-")
        self.addCleanup(shutil.rmtree, self.top)
        os.mkdir(os.path.join(self.top, "scripts"))
        shutil.copy(RUN, os.path.join(self.top, "scripts", "run"))
        put(os.path.join(self.top, "scripts", "packages"), "#!/bin/sh\nexit 0\n", 0o755)
        put(os.path.join(self.top, "configure"), "#!/bin/sh\nexit 1\n", 0o755)
        put(os.path.join(self.top, "build", "config.status"), "")
        put(os.path.join(self.top, "build", "Makefile"), ".PHONY: evixd\nevixd:\n\t@:\n")
        os.symlink(EVIXD, os.path.join(self.top, "build", "evixd"))
        put(os.path.join(self.top, "conf", "www", "index.html"), "the sample site")
        put(os.path.join(self.top, "site", "index.html"), "the site")

    def started(self, *arguments, cwd="."):
        return subprocess.Popen([os.path.join(self.top, "scripts", "run"), *arguments],
                                cwd=os.path.join(self.top, cwd), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                preexec_fn=reset_inherited)

    def page_of(self, process):
        for line in process.stdout:
            found = SERVING.match(line)
            if found:
                url = urlsplit(found["url"])
                return fetch((url.hostname, url.port)).body.decode()
        raise AssertionError(process.stderr.read())

    def page(self, *arguments, cwd="."):
        with self.started(*arguments, cwd=cwd) as process:
            try:
                return self.page_of(process)
            finally:
                process.terminate()
                process.communicate()

    def test_relative(self):
        self.assertEqual(self.page("site", "-l", "127.0.0.1:0"), "the site")
        self.assertEqual(self.page("../site", "-l", "127.0.0.1:0", cwd="conf"), "the site")
        self.assertEqual(self.page(".", "-l", "127.0.0.1:0", cwd="site"), "the site")

    def test_absolute(self):
        self.assertEqual(self.page(os.path.join(self.top, "site"), "-l", "127.0.0.1:0"), "the site")

    def test_options_are_relative_too(self):
        self.assertEqual(self.page("site", "-l", "127.0.0.1:0", "--access-log", "./site/log"),
                         "the site")
        self.assertTrue(os.path.exists(os.path.join(self.top, "site", "log")))

    def test_no_directory(self):
        done = subprocess.run([os.path.join(self.top, "scripts", "run"), "none"], cwd=self.top,
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr),
                         (1, "scripts/run: none is not a directory\n"))

    def test_failed_build(self):
        put(os.path.join(self.top, "build", "Makefile"), ".PHONY: evixd\nevixd:\n\t@echo broken; exit 1\n")
        done = subprocess.run([os.path.join(self.top, "scripts", "run"), "site"], cwd=self.top,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("broken", done.stderr)
        self.assertIn("the build failed", done.stderr)
        self.assertIn("build/run.log", done.stderr)

    def test_packages_speak_in_the_log(self):
        """What dpkg says would hide the line that tells where it serves."""
        put(os.path.join(self.top, "scripts", "packages"), "#!/bin/sh\necho Unpacking; echo Hm >&2\n", 0o755)
        with self.started("site", "-l", "127.0.0.1:0") as process:
            self.assertEqual(self.page_of(process), "the site")
            process.terminate()
            said = process.communicate()[1]
        self.assertNotRegex(said, "Unpacking|Hm")
        with open(os.path.join(self.top, "build", "run.log"), encoding="utf-8") as file:
            self.assertEqual(file.read().splitlines()[:2], ["Unpacking", "Hm"])

    def test_failed_packages(self):
        put(os.path.join(self.top, "scripts", "packages"), "#!/bin/sh\necho no network >&2; exit 100\n", 0o755)
        done = subprocess.run([os.path.join(self.top, "scripts", "run"), "site"], cwd=self.top,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no network", done.stderr)
        self.assertIn("the installation of packages failed", done.stderr)


if __name__ == "__main__":
    suite.main()
