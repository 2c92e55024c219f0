# SPDX-License-Identifier: MIT
"""What `make install` has put where it goes, and nothing of the build folder: the daemon serves a file,
a program is compiled against the library by pkg-config, headers stand alone, the manual is there.

`make installcheck` runs it, and tells the folders in its environment.
"""

import glob
import os
import re
import subprocess

import suite
import tree
from evixd import Daemon, TestCase, run
from wire import fetch

COMPILER = os.environ["COMPILER"].split()
LIBRARIES, HEADERS = os.environ["LIBDIR"], os.environ["INCLUDEDIR"]
MANUAL, SETTINGS = os.environ["MANDIR"], os.environ["SYSCONFDIR"]
README = os.path.join(os.environ["TOP"], "README.md")


def command(*words, **options):
    """What a program says; that it ends with 0 is seen to."""
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False, timeout=60, **options)
    if done.returncode != 0:
        raise AssertionError("%s: %d\n%s" % (" ".join(words), done.returncode, done.stdout))
    return done.stdout


def pkg_config(*options):
    where = os.path.join(LIBRARIES, "pkgconfig")
    others = os.environ.get("PKG_CONFIG_PATH", "")
    return command(os.environ.get("PKG_CONFIG") or "pkg-config", *options, "evix",
                   env=dict(os.environ, PKG_CONFIG_PATH=where + ":" + others)).split()


class Program(TestCase):
    @classmethod
    def serve(cls):
        tree.write(cls.root, "index.html", b"from the installed one")
        return Daemon(directory=cls.root)

    def test_serves(self):
        self.assertEqual(fetch(self.address, "/").body, b"from the installed one")

    def test_version(self):
        self.assertIn(os.environ["VERSION"], run("--version").stdout)

    def test_manual_and_configuration(self):
        for page in ("man8/evixd.8", "man5/evixd.conf.5", "man3/evix.3"):
            self.assertGreater(os.path.getsize(os.path.join(MANUAL, page)), 0, page)
        self.assertGreater(os.path.getsize(os.path.join(SETTINGS, "evixd", "evixd.conf")), 0)


class Library(TestCase):
    @classmethod
    def setUpClass(cls):
        pass

    @classmethod
    def tearDownClass(cls):
        pass

    def countdown(self, *libraries):
        """The program of README, as it stands there."""
        with open(README, encoding="utf-8") as file:
            listing = re.search(r"^## libevix in twenty lines\n\n((?:    .*\n|\n)+?)\n    cc ", file.read(),
                                re.MULTILINE)[1]
        folder = self.folder()
        source = tree.write(folder, "countdown.c", re.sub("(?m)^    ", "", listing).encode())
        program = os.path.join(folder, "countdown")
        command(*COMPILER, "-Wall", "-Wextra", "-Werror", source, "-o", program, *libraries)
        return command(program, env=dict(os.environ, LD_LIBRARY_PATH=LIBRARIES))

    def test_shared(self):
        self.assertEqual(self.countdown(*pkg_config("--cflags", "--libs")), "3\n2\n1\n")

    def test_static(self):
        archive = os.path.join(LIBRARIES, "libevix.a")
        if not os.path.exists(archive):
            self.skipTest("configured with --disable-static")
        words = [archive if word == "-levix" else word
                 for word in pkg_config("--static", "--cflags", "--libs")]
        self.assertEqual(self.countdown(*words), "3\n2\n1\n")

    def test_headers_stand_alone(self):
        headers = glob.glob(os.path.join(HEADERS, "evix", "*.h"))
        self.assertIn(os.path.join(HEADERS, "evix", "evix.h"), headers)
        folder = self.folder()
        for header in headers:
            text = "#include <evix/%s>\n" % os.path.basename(header)
            source = tree.write(folder, "alone.c", text.encode())
            command(*COMPILER, "-std=c11", "-Wall", "-Werror", "-fsyntax-only", source,
                    *pkg_config("--cflags"))


if __name__ == "__main__":
    suite.main()
