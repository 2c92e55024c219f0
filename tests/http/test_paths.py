# SPDX-License-Identifier: MIT
"""From target to file: decoding, dot segments, hidden names, symbolic links, special files."""

import os
import socket

import suite
import tree
from evixd import Daemon, TestCase, configuration, host
from wire import exchange, fetch

SECRET = b"secret outside of the root"

# label, target, status, content (None: not looked at)
ROWS = (
    ("plain", "/a/b.txt", 200, b"b"),
    ("3986 2.1 lower and upper hex", "/%61/%62.tx%74", 200, b"b"),
    ("plus is literal", "/a+b.txt", 200, b"plus"),
    ("%2B is plus", "/a%2Bb.txt", 200, b"plus"),
    ("%20 is the space", "/a%20b.txt", 200, b"space"),
    ("3986 2.4 decoded once", "/%2561", 404, None),
    ("a name that holds a percent sign", "/%2541", 200, b"percent"),
    ("newline", "/new%0Aline", 200, b"newline"),
    ("backslash", "/back%5Cslash", 200, b"backslash"),
    ("tab", "/tab%09x", 200, b"tab"),
    ("NUL", "/%00", (400, 404), None),
    ("NUL after a name", "/a/b.txt%00", (400, 404), None),
    ("NUL and a suffix", "/a/b.txt%00.html", (400, 404), None),
    ("2.1 escape cut short", "/%4", 400, None),
    ("2.1 escape without digits", "/%zz", 400, None),
    ("2.1 percent alone", "/%", 400, None),
    ("2.1 percent at the end of a name", "/a/b.txt%", 400, None),
    ("2.1 sign in an escape", "/%+1", 400, None),
    ("encoded slash", "/a%2Fb.txt", (400, 404), None),
    ("encoded slash, lower case", "/a%2fb.txt", (400, 404), None),
    ("encoded slashes and dots", "/a%2f..%2fc.txt", (400, 404), None),
    ("up by encoded slashes", "/..%2f..%2fetc%2fpasswd", (400, 404), None),
    ("5.2.4 dot", "/./a/./b.txt", 200, b"b"),
    ("5.2.4 dot-dot", "/x/y/../../a/b.txt", 200, b"b"),
    ("5.2.4 above the root stays at the root", "/../../../a/b.txt", 200, b"b"),
    ("5.2.4 encoded dots are dots", "/a/%2e%2e/a/%2E/b.txt", 200, b"b"),
    ("5.2.4 far above the root", "/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd", 404, None),
    ("5.2.4 backslash dot-dot", "/..%5c..%5csecret.txt", 404, None),
    ("5.2.4 dots and semicolon", "/..;/secret.txt", 404, None),
    ("overlong UTF-8 is no dot", "/%c0%ae%c0%ae/secret.txt", 404, None),
    ("several slashes are one", "//a///b.txt", 200, b"b"),
    ("x..", "/x..", 200, b"dots"),
    ("..x is a hidden name", "/..x", 404, None),
    ("... is a hidden name", "/...", 404, None),
    ("a..b", "/a..b/x", 200, b"dots"),
    ("query does not matter", "/a/b.txt?x=/../..", 200, b"b"),
    ("query with a bad escape does not matter", "/a/b.txt?%zz", 200, b"b"),
    ("question mark in a name", "/a%3Fb", 200, b"question"),
    ("semicolon is literal", "/a;b", 200, b"semicolon"),
    ("case counts", "/A/b.txt", 404, None),
    ("missing", "/none", 404, None),
    ("missing folder", "/none/none", 404, None),
    ("longer than a name can be", "/" + "n" * 300, (404,), None),
    ("longer than a path can be", "/" + "n/" * 3000, (404,), None),
    ("as long as a target may be", "/" + "n" * 8100, (404,), None),
    ("nearly as long as a path can be", "/" + "n" * 4085, (404,), None),
    # Dot files : below the root, at any depth; .well-known is for the public.
    (".htpasswd", "/.htpasswd", 404, None),
    (".git/config", "/.git/config", 404, None),
    ("deeper", "/a/.b/c", 404, None),
    ("encoded dot", "/%2ehtpasswd", 404, None),
    ("directory without its slash", "/.git", 404, None),
    ("8615 .well-known", "/.well-known/acme", 200, b"acme"),
    ("8615 hidden below .well-known", "/.well-known/.secret", 404, None),
    # Symbolic links: followed beneath the root only.
    ("link to a file beneath", "/link-in", 200, b"b"),
    ("link to a folder beneath", "/folder-in/b.txt", 200, b"b"),
    ("chain of links", "/chain", 200, b"b"),
    ("link out of the root", "/link-out", (403, 404), None),
    ("absolute link out of the root", "/link-absolute", (403, 404), None),
    ("through a folder link out of the root", "/folder-out/secret.txt", (403, 404), None),
    ("folder link out of the root", "/folder-out/", (403, 404), None),
    ("folder link out, no slash", "/folder-out", (403, 404), None),
    ("link to itself", "/loop", (403, 404), None),
    ("dangling link", "/dangling", 404, None),
    ("link to /proc", "/proc-root/etc/passwd", (403, 404), None),
    # What is no file .
    ("FIFO", "/fifo", (403, 404), None),
    ("FIFO as the index", "/fifo-index/", (403, 404), None),
    ("socket", "/socket", (403, 404), None),
)


class Site(TestCase):
    @classmethod
    def populate(cls):
        # The root lies below a hidden folder: the rule for dot files starts beneath it .
        cls.top = cls.root
        cls.root = os.path.join(cls.top, ".cache", "site")
        for name, data in (
            ("a/b.txt", "b"), ("a+b.txt", "plus"), ("a b.txt", "space"), ("%41", "percent"),
            ("new\nline", "newline"), ("back\\slash", "backslash"), ("tab\tx", "tab"),
            ("a?b", "question"), ("a;b", "semicolon"), ("..x", "dots"), ("x..", "dots"),
            ("...", "dots"), ("a..b/x", "dots"), (".htpasswd", SECRET), (".git/config", SECRET),
            ("a/.b/c", SECRET), (".well-known/acme", "acme"), (".well-known/.secret", SECRET),
            ("x/y/z", "z"),
        ):
            tree.write(cls.root, name, data)
        tree.write(cls.top, "secret.txt", SECRET)
        tree.write(cls.top, ".cache/secret.txt", SECRET)
        for name, target in (
            ("link-in", "a/b.txt"), ("folder-in", "a"), ("chain", "link-in"),
            ("link-out", "../secret.txt"), ("link-absolute", cls.top + "/secret.txt"),
            ("folder-out", ".."), ("loop", "loop"), ("dangling", "nowhere"),
            ("proc-root", "/proc/self/root"),
        ):
            os.symlink(target, os.path.join(cls.root, name))
        os.mkfifo(os.path.join(cls.root, "fifo"))
        os.mkdir(os.path.join(cls.root, "fifo-index"))
        os.mkfifo(os.path.join(cls.root, "fifo-index", "index.html"))
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(os.path.join(cls.root, "socket"))

    @classmethod
    def serve(cls):
        cls.populate()
        return Daemon(directory=cls.root)


@suite.cases(ROWS)
class Paths(Site):
    def check(self, _label, target, statuses, content):
        if isinstance(statuses, int):
            statuses = (statuses,)
        for method in ("GET", "GET", "HEAD"):  # the second answer comes from the cache
            response = fetch(self.address, target, method)
            self.assertIn(response.status, statuses)
            if method == "GET" and content is not None:
                self.assertEqual(response.body, content)
            self.assertNotIn(SECRET, response.body)


class Unreadable(Site):
    def test_no_permission_is_403(self):
        path = tree.write(self.root, "locked.txt", "locked")
        os.chmod(path, 0)
        if os.access(path, os.R_OK):
            self.skipTest("this user (root) may read everything")
        self.assertEqual(fetch(self.address, "/locked.txt").status, 403)


@suite.cases((
    ("..x", "/..x", 200), ("...", "/...", 200), ("a..b", "/a..b/x", 200),
    ("dot file", "/.htpasswd", 200), ("dot folder", "/.git/config", 200), ("dot", "/./..x", 200),
    ("still beneath the root", "/../../secret.txt", 404),
    ("still beneath the root, encoded", "/%2e%2e/%2e%2e/secret.txt", 404),
))
class DotfilesOn(Site):
    """Only a segment equal to `..` is special where names that begin with a dot are served."""

    @classmethod
    def serve(cls):
        cls.populate()
        return Daemon(config=configuration(hosts=[host(cls.root, {"path": "/", "dotfiles": True})]))

    def check(self, _label, target, status):
        self.assertEqual(fetch(self.address, target).status, status)


# label, setting of symlinks, target, statuses
LINKS = (
    ("refuse: inside", "refuse", "/link-in", (403, 404)),
    ("refuse: folder inside", "refuse", "/folder-in/b.txt", (403, 404)),
    ("refuse: no link at all", "refuse", "/a/b.txt", (200,)),
    ("follow: inside", "follow", "/link-in", (200,)),
    ("follow: outside", "follow", "/link-out", (200,)),
    ("follow: dot-dot in the target stays", "follow", "/../secret.txt", (404,)),
    ("beneath: outside", "beneath", "/link-out", (403, 404)),
)


class LinkSettings(Site):
    daemons = {}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for setting in ("refuse", "follow", "beneath"):
            daemon = Daemon(config=configuration(
                files={"symlinks": setting}, hosts=[host(cls.root, {"path": "/"})]
            )).start()
            cls.addClassCleanup(daemon.stop)
            cls.daemons[setting] = daemon

    def check(self, _label, setting, target, statuses):
        self.assertIn(fetch(self.daemons[setting].address, target).status, statuses)


LinkSettings = suite.cases(LINKS)(LinkSettings)


class Absolute(Site):
    def test_target_in_absolute_form_is_the_same(self):
        data = b"GET http://test/a/../a/b.txt?q HTTP/1.1\r\nHost: test\r\n\r\n"
        self.assertEqual(exchange(self.address, data)[0].body, b"b")


if __name__ == "__main__":
    suite.main()
