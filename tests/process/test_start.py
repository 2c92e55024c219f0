# SPDX-License-Identifier: MIT
"""Starting: what cannot be is one clear line on standard error and the right exit status."""

import ctypes
import os
import re
import resource
import socket
import subprocess
import unittest

import suite
import tree
from evixd import (
    EVIXD, SERVING, Daemon, TestCase, configuration, host, parse_address, reset_inherited, run,
    wait_until,
)
from wire import fetch

USAGE, START = 1, 2

# label, arguments, status, pattern of the one line
REFUSED = (
    ("missing directory", ["/nonexistent/folder"], USAGE, "/nonexistent/folder"),
    ("file instead of a directory", [EVIXD], USAGE, re.escape(EVIXD)),
    ("unknown long option", ["--frobnicate", "."], USAGE, "--frobnicate"),
    ("unknown short option", ["-Z", "."], USAGE, "-Z"),
    ("option without its value", ["--listen"], USAGE, "--listen|-l"),
    ("two directories", [".", "/tmp"], USAGE, "/tmp"),
    ("directory and configuration", ["-c", "x.conf", "."], USAGE, "config"),
    ("no such backend", ["-b", "select", "."], USAGE, "select"),
    ("no number of workers", ["-w", "many", "."], USAGE, "many"),
    ("zero workers", ["-w", "0", "."], USAGE, "0"),
    ("no address", ["-l", "nowhere", "."], USAGE, "nowhere"),
    ("port out of range", ["-l", "127.0.0.1:65536", "."], USAGE, "65536"),
    ("negative port", ["-l", "127.0.0.1:-1", "."], USAGE, "-1"),
    ("missing configuration", ["-c", "/nonexistent.conf"], USAGE, "/nonexistent.conf"),
    ("address of another host", ["-l", "192.0.2.1:0", "."], START, r"192\.0\.2\.1"),
    ("echo path that is none", ["--echo", "echo", "."], USAGE, "echo"),
    ("access log in a missing folder", ["--access-log", "/nonexistent/log", "."], (USAGE, START), "/nonexistent/log"),
)


@suite.cases(REFUSED)
class Refused(unittest.TestCase):
    def check(self, _label, arguments, statuses, pattern):
        if isinstance(statuses, int):
            statuses = (statuses,)
        if "-l" not in arguments and "--listen" not in arguments:
            arguments = ["-l", "127.0.0.1:0", *arguments]
        result = run(*arguments)
        self.assertIn(result.returncode, statuses, result.stderr)
        self.assertEqual(result.stdout, "")
        lines = result.stderr.splitlines()
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertTrue(lines[0].startswith("evixd: "), lines[0])
        self.assertRegex(lines[0], pattern)


class Port(TestCase):
    @classmethod
    def serve(cls):
        tree.write(cls.root, "index.html", b"index")
        return Daemon(directory=cls.root)

    def test_in_use(self):
        port = self.address[1]
        result = run("-l", "127.0.0.1:%d" % port, self.root)
        self.assertEqual(result.returncode, START)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertIn("127.0.0.1:%d" % port, result.stderr)
        self.assertRegex(result.stderr.lower(), "in use")
        self.assertEqual(fetch(self.address, "/").body, b"index", "the first one goes on")

    def test_in_use_by_somebody_else(self):
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            result = run("-l", "127.0.0.1:%d" % other.getsockname()[1], self.root)
        self.assertEqual(result.returncode, START)
        self.assertRegex(result.stderr.lower(), "in use")

    def test_real_address_is_told(self):
        line, = self.daemon.output.lines
        self.assertEqual(
            line, "Serving %s on http://127.0.0.1:%d/" % (self.root, self.address[1])
        )
        self.assertNotEqual(self.address[1], 0)

    def test_every_address_is_told_as_one_that_can_be_opened(self):
        with Daemon(directory=self.root, arguments=("-l", "0.0.0.0:0")) as daemon:
            line, = daemon.output.lines
            self.assertRegex(line, r" on every address, here on http://localhost:\d+/$")
            self.assertEqual(fetch(("127.0.0.1", daemon.address[1]), "/").body, b"index")

    def test_privileged_port(self):
        with socket.socket() as other:
            try:
                other.bind(("127.0.0.1", 1))
            except PermissionError:
                pass
            except OSError as error:
                self.skipTest("port 1 cannot be asked for: %s" % error)
            else:
                self.skipTest("port 1 may be bound here, by root or by everybody")
        result = run("-l", "127.0.0.1:1", self.root)
        self.assertEqual(result.returncode, START)
        self.assertRegex(result.stderr, "[Pp]ermission")


class Information(unittest.TestCase):
    def test_help(self):
        for option in ("-h", "--help"):
            result = run(option)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            for name in ("--config", "--listen", "--workers", "--backend", "--test", "--dump",
                         "--quiet", "--verbose", "--access-log", "--echo", "--help", "--version"):
                self.assertIn(name, result.stdout)

    def test_version(self):
        for option in ("-V", "--version"):
            result = run(option)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertRegex(result.stdout, r"\Aevixd \d+\.\d+\.\d+\n")
            for name in ("epoll", "poll"):
                self.assertRegex(result.stdout, r"\b%s\b" % name)

    def test_full_disk_is_noticed(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full here")
        with open("/dev/full", "wb") as full:
            result = subprocess.run([EVIXD, "--version"], stdout=full, check=False, timeout=10)
        self.assertEqual(result.returncode, 3)


def hide_devices():
    """For a child, as root: there is nothing in /dev. It exits with 77 where that cannot be."""
    libc = ctypes.CDLL(None)
    new_namespace, private_recursively = 0x20000, (1 << 18) | (1 << 14)
    if (libc.unshare(new_namespace) != 0
            or libc.mount(None, b"/", None, private_recursively, None) != 0
            or libc.mount(b"none", b"/dev", b"tmpfs", 0, None) != 0):
        os._exit(77)


class NoDevices(TestCase):
    """As in a container's bare root."""

    @classmethod
    def serve(cls):
        tree.write(cls.root, "index.html", b"index")
        return Daemon(directory=cls.root)

    def start(self, before=lambda: None):
        for path in (EVIXD, self.root):
            if os.path.realpath(path).startswith("/dev/"):
                self.skipTest("%s is in /dev, which is hidden here" % path)

        def before_exec():
            reset_inherited()
            before()
            hide_devices()

        process = subprocess.Popen(
            [EVIXD, "-l", "127.0.0.1:0", "-w", "1", self.root], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=before_exec,
        )
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def test_it_is_not_needed(self):
        process = self.start()
        line = process.stdout.readline()
        if not line and process.wait(10) == 77:
            self.skipTest("file systems cannot be mounted here")
        self.assertRegex(line, SERVING)
        self.assertEqual(fetch(parse_address(SERVING.search(line)["url"]), "/").body, b"index")
        process.terminate()
        self.assertEqual(process.wait(10 * suite.TIME_SCALE), 0)

    def test_it_is_needed(self):
        """Where something is closed; what is missing is said."""
        process = self.start(lambda: os.close(0))
        _, said = process.communicate(timeout=10 * suite.TIME_SCALE)
        if process.returncode == 77:
            self.skipTest("file systems cannot be mounted here")
        self.assertEqual((process.returncode, said),
                         (START, "evixd: cannot open /dev/null: No such file or directory\n"))


class Quick(TestCase):
    @classmethod
    def serve(cls):
        tree.write(cls.root, "index.html", b"index")
        return Daemon(directory=cls.root)

    def test_start_and_stop_are_cheap(self):
        """Within 20 ms it listens by design; here it is the work that counts, on a shared machine."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        for _ in range(10):
            with Daemon(directory=self.root) as daemon:
                self.assertEqual(fetch(daemon.address, "/").body, b"index")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.assertLess(spent / 10, 0.2 * suite.TIME_SCALE)

    def test_answers_as_soon_as_it_says_so(self):
        for _ in range(5):
            with Daemon(directory=self.root, workers=4) as daemon:
                for _ in range(8):
                    self.assertEqual(fetch(daemon.address, "/").status, 200)

    def test_backlog_that_the_kernel_cuts_is_said(self):
        with open("/proc/sys/net/core/somaxconn", encoding="ascii") as file:
            most = int(file.read())
        if most >= 65535:
            self.skipTest("the kernel allows any backlog")
        config = configuration(
            hosts=[host(self.root, {"path": "/"})],
            listen=[{"address": "127.0.0.1:0", "backlog": most + 1}],
        )
        warning = "backlog = %d is cut to net.core.somaxconn = %d" % (most + 1, most)
        with Daemon(config=config, expect=[warning]) as daemon:
            daemon.log.wait(warning)
            self.assertEqual(fetch(daemon.address, "/").body, b"index")

    def test_closed_standard_streams(self):
        """A descriptor of a client must never become standard error."""
        folder = self.folder()
        config = tree.write(folder, "evixd.conf", configuration(
            hosts=[host(self.root, {"path": "/"})], workers=1,
            listen=[{"address": "unix:" + folder + "/s"}],
            error_log={"target": folder + "/error.log", "level": "info"},
        ))
        process = subprocess.Popen(["/bin/sh", "-c", 'exec "$0" -c "$1" <&- >&- 2>&-', EVIXD, config],
                                   preexec_fn=reset_inherited)
        try:
            def serves():
                try:
                    return fetch(folder + "/s", "/").status == 200
                except OSError:
                    return False

            wait_until(serves, "it serves")
            for _ in range(10):  # each has a line in the error log, none in another's answer
                self.assertEqual(fetch(folder + "/s", "/none").status, 404)
        finally:
            process.terminate()
            self.assertEqual(process.wait(10), 0)
        with open(folder + "/error.log", encoding="utf-8") as file:
            self.assertEqual(file.read().count(" 404: "), 10)

    def test_relative_directory(self):
        result = Daemon(directory=".")
        with result as daemon:
            self.assertEqual(fetch(daemon.address, "/").status, 200)


class Options(TestCase):
    @classmethod
    def serve(cls):
        tree.write(cls.root, "index.html", b"index")
        return Daemon(directory=cls.root)

    def test_several_listeners(self):
        with Daemon(directory=self.root, arguments=["-l", "127.0.0.1:0", "-l", "127.0.0.1:0"]) as daemon:
            found = daemon.output.wait(SERVING, 2)
            for match in found:
                self.assertEqual(fetch(parse_address(match["url"]), "/").body, b"index")

    def test_echo_path(self):
        with Daemon(directory=self.root, arguments=["--echo", "/mirror"]) as daemon:
            self.assertIn(b"GET /mirror/x", fetch(daemon.address, "/mirror/x").body)
            self.assertEqual(fetch(daemon.address, "/").body, b"index")

    def test_access_log_on_stdout(self):
        with Daemon(directory=self.root, arguments=["--access-log", "stdout"]) as daemon:
            fetch(daemon.address, "/?logged")
            daemon.output.wait(r'"GET /\?logged HTTP/1.1" 200 5')

    def test_access_log_in_a_file(self):
        path = os.path.join(self.folder(), "log")
        with Daemon(directory=self.root, arguments=["--access-log", path]) as daemon:
            fetch(daemon.address, "/?logged")
        with open(path, encoding="ascii") as file:
            self.assertIn("/?logged", file.read())

    def test_verbose_says_why(self):
        with Daemon(directory=self.root, arguments=["-v"]) as daemon:
            fetch(daemon.address, "/none")
            daemon.log.wait(r"404.*none|none.*404")

    def test_quiet_says_nothing(self):
        daemon = Daemon(directory=self.root, arguments=["-q"])
        with daemon:
            fetch(daemon.address, "/none")
        self.assertEqual(daemon.log.lines, [])

    def test_listen_overrides_the_file(self):
        with Daemon(
            config=configuration(listen=[{"address": "192.0.2.1:1"}], hosts=[host(self.root, {"path": "/"})]),
            arguments=["--listen", "127.0.0.1:0"],
        ) as daemon:
            self.assertEqual(fetch(daemon.address, "/").body, b"index")


if __name__ == "__main__":
    suite.main(limit=90)
