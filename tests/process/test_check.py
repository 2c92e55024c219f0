# SPDX-License-Identifier: MIT
"""-t and -T: every error of a file in one run, with file and line, and nothing is touched."""

import os
import re
import shutil
import socket
import tempfile
import unittest

import suite
import tree
from evixd import Daemon, configuration, host, run, wait_until
from wire import fetch


HAS_CRYPT = "+libcrypt" in run("--version").stdout


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="evixd-test-")
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.path = os.path.join(self.folder, "evixd.conf")

    def write(self, text):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(text.replace("ROOT", self.folder))

    def snapshot(self):
        found = {}
        for top, folders, files in os.walk(self.folder):
            for name in folders + files:
                status = os.lstat(os.path.join(top, name))
                found[os.path.join(top, name)] = (status.st_ino, status.st_mtime_ns, status.st_mode)
        return found


# label, configuration (ROOT stands for a folder), line, pattern
WRONG = (
    ("syntax", 'workers = ;\n', 1, "syntax"),
    ("syntax, further down", 'workers = 1;\nhosts = (\n{ root = "ROOT" \n', None, "syntax"),
    ("unknown name", 'workers = 1;\nworker = 2;\nhosts = ({ root = "ROOT"; });\n', 2, "workers"),
    ("unknown name in a group", 'limits = {\n  conections = 5;\n};\nhosts = ({ root = "ROOT"; });\n', 2, "connections"),
    ("unknown name in a location", 'hosts = ({ root = "ROOT";\n locations = ({ path = "/";\n listings = true; }); });\n', 3, "listing"),
    ("wrong type", 'workers = 1;\ntimeouts = { head = "soon"; };\nhosts = ({ root = "ROOT"; });\n', 2, "soon"),
    ("group instead of a value", 'pid_file = { };\nhosts = ({ root = "ROOT"; });\n', 1, "pid_file"),
    ("value instead of a group", 'limits = 5;\nhosts = ({ root = "ROOT"; });\n', 1, "limits"),
    ("out of range", 'limits = { fields = 0; };\nhosts = ({ root = "ROOT"; });\n', 1, "fields"),
    ("negative", 'timeouts = { head = -1; };\nhosts = ({ root = "ROOT"; });\n', 1, "head"),
    ("bad unit", 'limits = { body = "16X"; };\nhosts = ({ root = "ROOT"; });\n', 1, "16X"),
    ("bad backend", 'backend = "kqueue";\nhosts = ({ root = "ROOT"; });\n', 1, "kqueue"),
    ("bad address", 'listen = ({ address = "nowhere"; });\nhosts = ({ root = "ROOT"; });\n', 1, "nowhere"),
    ("missing root", 'hosts = ({\n root = "ROOT/none"; });\n', 2, "none"),
    ("no root at all", 'hosts = ({ names = ("x"); });\n', 1, "root"),
    ("no hosts", 'workers = 1;\n', None, "hosts"),
    ("two defaults", 'hosts = ({ names = ("a"); default = true; root = "ROOT"; },\n { names = ("b"); default = true; root = "ROOT"; });\n', 2, "default"),
    ("the same name twice", 'hosts = ({ names = ("a"); root = "ROOT"; },\n { names = ("a"); root = "ROOT"; });\n', 2, "a"),
    ("the same path twice", 'hosts = ({ root = "ROOT"; locations = ({ path = "/x"; },\n { path = "/x"; }); });\n', 2, "/x"),
    ("path without a slash", 'hosts = ({ root = "ROOT"; locations = (\n{ path = "x"; }); });\n', 2, "x"),
    ("path with dots", 'hosts = ({ root = "ROOT"; locations = (\n{ path = "/a/../b"; }); });\n', 2, r"\.\."),
    ("line end in a header", 'hosts = ({ root = "ROOT"; headers = {\n X-A = "a\\r\\nX-Evil: 1"; }; });\n', 2, "X-A"),
    ("control byte in a header", 'hosts = ({ root = "ROOT"; headers = {\n X-A = "a\\x01"; }; });\n', 2, "X-A"),
    ("redirect to nowhere", 'hosts = ({ root = "ROOT"; locations = ({ path = "/o";\n redirect = { to = "new"; }; }); });\n', 2, "new"),
    ("redirect with a bad status", 'hosts = ({ root = "ROOT"; locations = ({ path = "/o";\n redirect = { status = 200; to = "/n"; }; }); });\n', 2, "200"),
    ("same listener twice", 'listen = ({ address = "127.0.0.1:81"; },\n { address = "127.0.0.1:81"; });\nhosts = ({ root = "ROOT"; });\n', 2, "127.0.0.1:81"),
    ("no such user", 'workers = 1;\nuser = "no-such-user";\nhosts = ({ root = "ROOT"; });\n', 2, "no-such-user"),
    ("shared setting at the top", 'listing = "on";\nhosts = ({ root = "ROOT"; });\n', 1, r":1: listing: "),
    ("missing include", '@include "none.conf"\n', 1, "none.conf"),
    ("an abstract socket", 'listen = ( { address = "unix:@name"; } );\nhosts = ({ root = "ROOT"; });\n', 1,
     r'listen\.address: expected .* or unix:PATH, found "unix:@name"'),
    ("the folder of a unix socket", 'listen = ({ address = "127.0.0.1:0"; },\n { address = "unix:ROOT/none/s"; });\nhosts = ({ root = "ROOT"; });\n', 2,
     r'listen\.address: the folder of "/.*/none/s": No such file or directory'),
    ("bad log format", 'access_log = { target = "ROOT/l"; format = "%Q"; };\nhosts = ({ root = "ROOT"; });\n', None, "%Q"),
)


@suite.cases(WRONG)
class Wrong(Folder):
    def check(self, _label, text, line, pattern):
        self.write(text)
        for option in ("-t", "-T", None):
            before = self.snapshot()
            result = run(*([option] if option else []), "-c", self.path, "-l", "127.0.0.1:0") \
                if "listen" not in text else run(*([option] if option else []), "-c", self.path)
            self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
            self.assertEqual(result.stdout, "")
            lines = result.stderr.splitlines()
            self.assertGreaterEqual(len(lines), 1)
            where = re.escape(self.path) + (":%d: " % line if line else "")
            self.assertRegex(lines[0], r"\Aevixd: " + where)
            self.assertRegex(lines[0], pattern)
            self.assertEqual(self.snapshot(), before)


class Right(Folder):
    def test_all_errors_in_one_run(self):
        self.write('worker = 1;\nlimits = { fields = 0; };\nbackend = "x";\nhosts = ({ root = "ROOT/none"; });\n')
        result = run("-t", "-c", self.path)
        self.assertEqual(result.returncode, 1)
        found = [int(m) for m in re.findall(re.escape(self.path) + r":(\d+): ", result.stderr)]
        self.assertEqual(sorted(found), [1, 2, 3, 4], result.stderr)

    def test_error_in_an_included_file_names_that_file(self):
        self.write('@include "more.conf"\nhosts = ({ root = "ROOT"; });\n')
        more = tree.write(self.folder, "more.conf", b"workers = 1;\nworkerz = 2;\n")
        result = run("-t", "-c", self.path)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"more\.conf:2: .*workerz")
        del more

    def full(self):
        return configuration(
            listen=[{"address": "127.0.0.1:0"}, {"address": "unix:" + self.folder + "/s"}],
            pid_file=self.folder + "/pid",
            error_log={"target": self.folder + "/error.log"},
            hosts=[host(
                self.folder, {"path": "/", "listing": True}, {"path": "/e", "handler": "echo"},
                access_log={"target": self.folder + "/access.log"}, headers={"X-A": 'q"\\'},
            )],
        )

    def lines(self, path, words):
        """How many lines of a log, which may not be there yet, have the words."""
        if not os.path.exists(path):
            return 0
        with open(path, encoding="utf-8") as file:
            return sum(words in line for line in file)

    def test_well(self):
        self.write(self.full())
        result = run("-t", "-c", self.path)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn(self.path, result.stdout)

    def test_nothing_is_touched(self):
        """While the server runs, a test removes, creates and binds nothing."""
        self.write(self.full())
        with Daemon(config=self.full().replace("/error.log", "/other.log"), listeners=0) as daemon:
            del daemon
            log = self.folder + "/other.log"
            wait_until(lambda: self.lines(log, "listening on") == 2, "two listeners")
            self.assertEqual(fetch(self.folder + "/s", "/").status, 200)
            wait_until(lambda: os.path.exists(self.folder + "/pid"), "the pid file")
            wait_until(lambda: self.lines(self.folder + "/access.log", "GET / ") == 1, "its line")
            before = self.snapshot()
            for option in ("-t", "-T"):
                self.assertEqual(run(option, "-c", self.path).returncode, 0)
            self.assertEqual(self.snapshot(), before)
            self.assertEqual(fetch(self.folder + "/s", "/").status, 200)

    def test_a_port_in_use_does_not_matter(self):
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            self.write(configuration(
                listen=[{"address": "127.0.0.1:%d" % other.getsockname()[1]}], hosts=[host(self.folder)]
            ))
            self.assertEqual(run("-t", "-c", self.path).returncode, 0)

    def test_dump_reads_back_as_the_same(self):
        self.write(self.full())
        first = run("-T", "-c", self.path)
        self.assertEqual((first.returncode, first.stderr), (0, ""))
        for name in ("timeouts", "limits", "files", "keep_alive", "min_rate", "symlinks"):
            self.assertIn(name, first.stdout)
        self.write(first.stdout)
        second = run("-T", "-c", self.path)
        self.assertEqual((second.returncode, second.stderr), (0, ""))
        self.assertEqual(second.stdout, first.stdout)

    def test_dump_of_a_directory_serves_it(self):
        tree.write(self.folder, "site/index.html", b"index")
        dump = run("-T", "-l", "127.0.0.1:0", self.folder + "/site")
        self.assertEqual((dump.returncode, dump.stderr), (0, ""))
        with Daemon(config=dump.stdout) as daemon:
            self.assertEqual(fetch(daemon.address, "/").body, b"index")

    def test_units(self):
        self.write(
            'limits = { body = "1G"; head = 16384; target = "4K"; };\n'
            'timeouts = { head = "500ms"; body = 1.5; keep_alive = "5m"; send = "1h"; };\n'
            'hosts = ({ root = "ROOT"; });\n'
        )
        result = run("-t", "-c", self.path)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_files_that_may_come_later_are_warnings(self):
        """As workers see them: what is missing, what is left out, each once and by its line."""
        users = tree.write(self.folder, "users", b"old:$apr1$abcdefgh$h9FWgUz3n9YxylKLlR5SQ/\n")
        self.write("hosts = ({ root = \"ROOT\";\n fallback = \"/app.html\";\n"
                   "error_pages = ({ status = 404; file = \"/404.html\"; },\n"
                   " { status = 403; file = \"/users\"; });\n locations = ({ path = \"/e\"; "
                   "handler = \"echo\"; },\n { path = \"/a/\"; },\n { path = \"/s\"; %s }); });\n"
                   % ("auth = { users = \"%s\"; };" % users if HAS_CRYPT else ""))
        result = run("-t", "-c", self.path)
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = result.stderr.splitlines()
        expected = [r"conf:\d+: warning: fallback: .*/app\.html: No such file",
                    r"conf:\d+: warning: error_pages: .*/404\.html: No such file"]
        if HAS_CRYPT:
            expected.append(r"users:1: warning: left out: .*apr1")
        for pattern in expected:
            self.assertEqual(len([line for line in lines if re.search(pattern, line)]), 1,
                             (pattern, result.stderr))
        self.assertEqual(len(lines), len(expected), result.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "only root can give its rights up")
    def test_files_that_workers_cannot_read_are_warnings(self):
        os.chmod(self.folder, 0o755)
        os.mkdir(self.folder + "/www")
        for name in ("www/404.html", "types"):
            os.chmod(tree.write(self.folder, name, b""), 0o600)
        os.mkdir(self.folder + "/hidden", 0o700)
        os.mkdir(self.folder + "/hidden/www")
        text = ("%smime_types = \"ROOT/types\";\nhosts = ({ root = \"ROOT/www\"; error_pages = "
                "({ status = 404; file = \"/404.html\"; });\n"
                "locations = ({ path = \"/h\"; root = \"ROOT/hidden/www\"; }); });\n")
        self.write(text % "user = \"nobody\";\n")
        result = run("-t", "-c", self.path)
        self.assertEqual(result.returncode, 0, result.stderr)
        for pattern in (r"mime_types: .*/types: Permission", r"error_pages: .*404\.html: Permission",
                        r"conf:4: warning: root: .*/hidden/www: Permission"):
            self.assertRegex(result.stderr, pattern)
        self.assertEqual(len(result.stderr.splitlines()), 3, result.stderr)
        self.write(text % "")  # workers that stay root can
        self.assertEqual(run("-t", "-c", self.path).stderr, "")

    @unittest.skipUnless(os.geteuid() == 0, "only root can give its rights up")
    def test_roots_that_workers_cannot_search_are_warnings(self):
        """A folder can be opened without any right to it; all beneath would be answered with 403."""
        os.chmod(self.folder, 0o755)
        for name, mode in (("shut", 0o700), ("readable", 0o744), ("open", 0o711)):
            os.mkdir(os.path.join(self.folder, name))
            os.chmod(os.path.join(self.folder, name), mode)
        self.write("user = \"nobody\";\nhosts = ({ root = \"ROOT/shut\"; fallback = \"/x\"; locations = (\n"
                   "{ path = \"/s\"; }, { path = \"/r\"; fallback = \"\";\n root = \"ROOT/readable\"; },\n"
                   "{ path = \"/o\"; fallback = \"\"; root = \"ROOT/open\"; }); });\n")
        result = run("-t", "-c", self.path)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 2, result.stderr)
        for name in ("shut", "readable"):
            self.assertRegex(
                result.stderr, r"conf:\d: warning: root: workers cannot search .*/%s: Permission denied" % name)

    def test_both_options_at_once(self):
        self.write(self.full())
        self.assertIn("timeouts", run("-t", "-T", "-c", self.path).stdout)


if __name__ == "__main__":
    suite.main()
