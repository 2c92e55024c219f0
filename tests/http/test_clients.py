# SPDX-License-Identifier: MIT
"""Clients that people use: curl, wget, aria2c, lftp and git (dumb HTTP) get what they came for."""

import gzip
import os
import unittest

import suite
import tree
from clients import ClientCase, files_of, require
from evixd import run

SECRET = "$2y$04$KBCwKxOzLha2MUDgW0PjXe/hE/UCO9qF89dOydoHjSwxcHev5LRn."

# What a mirror of a listing must bring home, whatever the names do to links. ("100%25.txt" is not
# among them: wget decodes the names of what it writes twice.)
NAMES = ("plain.txt", "a b.txt", "a+b.txt", "100%.txt", "a&b.txt", "a#b.txt",
         "who?.txt", "quote'd.txt", "double\"d.txt", "<tag>.txt", "-dash.txt", "semi;colon.txt",
         "\u00e4\u00f6\u00fc \u20ac.txt", "eq=ual.txt", "at@.txt", "[set].txt",
         "in/deep/er.txt", "with space/x.txt", "per%cent/x.txt")


class Curl(ClientCase):
    locations = ({"path": "/", "listing": True}, {"path": "/echo", "handler": "echo"})

    @classmethod
    def populate(cls):
        cls.large = tree.content(3000000)
        tree.write(cls.site, "large.bin", cls.large)
        cls.text = b"body { color: green }\n" * 500
        tree.write(cls.site, "x.css", cls.text)
        tree.write(cls.site, "x.css.gz", gzip.compress(cls.text))
        for number in range(20):
            tree.write(cls.site, "n/%d" % number, str(number))

    def setUp(self):
        require(self, "curl")

    def curl(self, *arguments, **options):
        return self.run_client("curl", "-q", "-sS", "--fail", *arguments, **options)

    def test_get_and_head(self):
        self.assertTrue(self.curl(self.url + "/large.bin", text=False) == self.large)
        head = self.curl("-I", self.url + "/large.bin")
        self.assertIn("Content-Length: 3000000", head)

    def test_http_1_0(self):
        self.assertTrue(self.curl("--http1.0", self.url + "/large.bin", text=False) == self.large)

    def test_resume(self):
        path = tree.write(self.folder(), "part", self.large[:1234567])
        self.curl("-C", "-", "-o", path, self.url + "/large.bin")
        with open(path, "rb") as file:
            self.assertTrue(file.read() == self.large)

    def test_ranges(self):
        part = self.curl("-r", "-1000", self.url + "/large.bin", text=False)
        self.assertTrue(part == self.large[-1000:])
        parts = self.curl("-i", "-r", "0-9,100000-100009", self.url + "/large.bin", text=False)
        self.assertIn(b"multipart/byteranges", parts)
        self.assertIn(self.large[100000:100010], parts)

    def test_conditions(self):
        folder = self.folder()
        get = ["-o", folder + "/copy", "-w", "%{http_code}", self.url + "/x.css"]
        self.assertEqual(self.curl("--etag-save", folder + "/tag", *get), "200")
        self.assertEqual(self.curl("--etag-compare", folder + "/tag", *get), "304")
        self.assertEqual(self.curl("-R", *get), "200")
        self.assertEqual(self.curl("-z", folder + "/copy", *get), "304")

    def test_compressed(self):
        self.assertEqual(self.curl("--compressed", self.url + "/x.css", text=False), self.text)
        self.assertIn("Content-Encoding: gzip",
                      self.curl("-I", "-H", "Accept-Encoding: gzip", self.url + "/x.css"))

    def test_upload_with_an_expectation(self):
        path = tree.write(self.folder(), "up", self.large)
        for method in ("POST", "PUT"):
            back = self.curl("-X", method, "-H", "Expect: 100-continue", "--data-binary",
                             "@" + path, self.url + "/echo", text=False)
            self.assertTrue(back == self.large)
        back = self.curl("-T", path, "-H", "Transfer-Encoding: chunked", self.url + "/echo",
                         text=False)
        self.assertTrue(back == self.large)

    def test_one_connection_for_many(self):
        out = self.curl("-w", " %{num_connects}\n", self.url + "/n/[0-19]")
        lines = out.split("\n")[:20]
        self.assertEqual(lines, ["%d %d" % (n, n == 0) for n in range(20)])

    def test_redirects_are_followed(self):
        out = self.curl("-L", "-o", "/dev/null", "-w", "%{http_code} %{url_effective}",
                        self.url + "/n?a=1")
        self.assertEqual(out, "200 %s/n/?a=1" % self.url)


class Passwords(ClientCase):
    @classmethod
    def populate(cls):
        tree.write(cls.site, "x", "x")
        users = tree.write(cls.root, "users", ("alice:%s\n" % SECRET).encode())
        cls.locations = ({"path": "/", "auth": {"users": users}},)

    @classmethod
    def setUpClass(cls):
        if "+libcrypt" not in run("--version").stdout:
            raise unittest.SkipTest("built without libcrypt")
        super().setUpClass()

    def test_curl(self):
        require(self, "curl")
        get = ["curl", "-q", "-s", "--fail", self.url + "/x"]
        self.assertEqual(self.run_client(*get, "-u", "alice:secret"), "x")
        self.assertEqual(self.run_client(*get, "--anyauth", "-u", "alice:secret"), "x")
        self.run_client(*get, "-u", "alice:wrong", status=22)
        self.run_client(*get, status=22)

    def test_wget(self):
        require(self, "wget")
        get = ["wget", "--no-config", "-q", "-O", "-", self.url + "/x"]
        self.assertEqual(self.run_client(*get, "--user=alice", "--password=secret"), "x")
        self.run_client(*get, "--user=alice", "--password=wrong", status=6)


class Mirrors(ClientCase):
    @classmethod
    def populate(cls):
        for name in NAMES:
            tree.write(cls.site, name, "content of " + name)
        for number in range(300):
            tree.write(cls.site, "many/%d.txt" % number, str(number))
        cls.large = tree.content(20 * 1048576)
        tree.write(cls.site, "large/large.bin", cls.large)

    def check(self, folder):
        got = {name: data for name, data in files_of(folder).items()
               if not os.path.basename(name).startswith(b"index.html")}
        want = {name: data for name, data in files_of(self.site).items()
                if not name.startswith(b"large/")}
        self.assertEqual(sorted(got), sorted(want))
        self.assertTrue(got == want)

    def test_wget_mirror(self):
        require(self, "wget")
        folder = self.folder()
        command = ["wget", "--no-config", "-nv", "--mirror", "--no-parent", "-nH", "-X", "/large",
                   "--restrict-file-names=nocontrol", "-P", folder, self.url + "/"]
        self.run_client(*command)
        self.check(folder)
        # again: nothing is fetched that is here and has not changed
        self.run_client(*command)
        self.requests(r"(GET|HEAD) /many/\d+\.txt 304 .*Wget", 300)
        self.assertEqual(len(self.requests(r"GET /many/\d+\.txt 200 .*Wget")), 300)

    def test_wget_continue(self):
        require(self, "wget")
        folder = self.folder()
        tree.write(folder, "large.bin", self.large[:7000001])
        self.run_client("wget", "--no-config", "-nv", "-c", self.url + "/large/large.bin", cwd=folder)
        self.assertTrue(files_of(folder)[b"large.bin"] == self.large)
        self.requests(r"GET /large/large.bin 206 \d+ bytes=7000001-")

    def test_lftp_mirror(self):
        require(self, "lftp")
        folder = self.folder()
        self.run_client(
            "lftp", "-c", "set net:max-retries 2; set net:timeout 20; set cmd:fail-exit yes; "
            "set http:use-propfind no; open %s; mirror --parallel=4 -X large/ / %s" % (self.url, folder))
        self.check(folder)

    def test_aria2c_in_segments(self):
        require(self, "aria2c")
        folder = self.folder()
        self.run_client(
            "aria2c", "--no-conf=true", "-q", "-x8", "-s8", "-k1M", "--file-allocation=none",
            "--allow-overwrite=true", "-d", folder,
            self.url + "/large/large.bin")
        self.assertTrue(files_of(folder)[b"large.bin"] == self.large)
        self.requests(r"GET /large/large.bin 206 \d+ bytes=\d+-", 7)


class Git(ClientCase):
    def git(self, *arguments, cwd=None):
        return self.run_client(
            "git", "-c", "user.name=Test", "-c", "user.email=test@example.org", "-c",
            "safe.directory=*", "-c", "init.defaultBranch=main", *arguments, cwd=cwd,
            env={"GIT_TERMINAL_PROMPT": "0"})

    def test_clone_over_dumb_http(self):
        """Packs and loose objects, fetched again after a push."""
        require(self, "git")
        work, copy, bare = self.folder(), self.folder() + "/copy", self.site + "/repository.git"
        self.git("init", "-q", work)
        for number in range(30):
            tree.write(work, "file-%d" % number, tree.content(number * 1000))
            self.git("-C", work, "add", ".")
            if number % 10 == 0:
                self.git("-C", work, "commit", "-q", "-m", "commit %d" % number)
        self.git("clone", "-q", "--bare", work, bare)
        self.git("-C", bare, "repack", "-q", "-a", "-d")
        self.git("-C", bare, "update-server-info")
        self.git("clone", "-q", self.url + "/repository.git", copy)
        head = self.git("-C", work, "rev-parse", "HEAD").strip()
        self.assertEqual(self.git("-C", copy, "rev-parse", "HEAD").strip(), head)
        self.git("-C", copy, "fsck", "--full")

        self.git("-C", work, "commit", "-q", "-m", "the rest")
        self.git("-C", work, "push", "-q", bare, "main")
        self.git("-C", bare, "update-server-info")
        self.git("-C", copy, "pull", "-q", "--ff-only")
        there = {n: d for n, d in files_of(work).items() if not n.startswith(b".git/")}
        here = {n: d for n, d in files_of(copy).items() if not n.startswith(b".git/")}
        self.assertTrue(there == here)


if __name__ == "__main__":
    suite.main(limit=180)
