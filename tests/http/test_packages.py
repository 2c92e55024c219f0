# SPDX-License-Identifier: MIT
"""A mirror of Debian packages: apt-get updates, resumes, pipelines and installs from it."""

import gzip
import hashlib
import os
import re

import suite
import tree
from clients import ClientCase, files_of, require

COUNT = 12


class Apt(ClientCase):
    """As root or not: apt's folders are the test's, and what it installs is only downloaded."""

    is_built = False

    def setUp(self):
        require(self, "apt-get", "dpkg-deb", "dpkg-scanpackages")
        if not self.is_built:
            self.build("1.0")
            type(self).is_built = True
        self.apt = self.folder()
        for name in ("state/lists/partial", "cache/archives/partial", "etc/sources.list.d",
                     "etc/apt.conf.d", "etc/preferences.d", "etc/trusted.gpg.d"):
            os.makedirs(os.path.join(self.apt, name))
        tree.write(self.apt, "state/status", "")
        tree.write(self.apt, "etc/sources.list", "deb [trusted=yes] %s/debian ./\n" % self.url)
        self.config = tree.write(self.apt, "apt.conf", "".join('%s "%s";\n' % pair for pair in (
            ("Dir::State", self.apt + "/state"), ("Dir::State::status", self.apt + "/state/status"),
            ("Dir::Cache", self.apt + "/cache"), ("Dir::Etc", self.apt + "/etc"),
            ("Dir::Log", self.apt), ("Dir::Bin::dpkg", "/usr/bin/dpkg"),
            ("APT::Architecture", "all"), ("APT::Architectures", "all"),
            ("APT::Sandbox::User", ""), ("Acquire::http::Proxy", "DIRECT"),
            ("Acquire::Languages", "none"), ("Acquire::Retries", "0"),
            ("Acquire::http::Pipeline-Depth", "10"), ("Debug::NoLocking", "1"),
        )))

    def build(self, version):
        """Packages that depend on the first, an index, and its checksums."""
        folder = os.path.join(self.site, "debian")
        for number in range(COUNT):
            package = os.path.join(self.folder(), "p")
            control = "Package: evixd-test-%d\nVersion: %s\nArchitecture: all\nMaintainer: Test " \
                      "<test@example.org>\nDescription: test\n" % (number, version)
            if number:
                control += "Depends: evixd-test-0 (= %s)\n" % version
            tree.write(package, "DEBIAN/control", control)
            tree.write(package, "usr/share/evixd-test/%d" % number, tree.content(5000 * number))
            os.makedirs(folder, exist_ok=True)
            self.run_client("dpkg-deb", "--root-owner-group", "-Znone", "--build", package, folder)
        for name in os.listdir(folder):
            if name.endswith(".deb"):  # 9110 8.8.2.2: a date that is too fresh is no strong validator
                os.utime(os.path.join(folder, name), (1700000000, 1700000000))
        index = self.run_client("dpkg-scanpackages", "-m", ".", "/dev/null", cwd=folder, text=False)
        tree.replace(os.path.join(folder, "Packages"), index)
        tree.replace(os.path.join(folder, "Packages.gz"), gzip.compress(index, mtime=0))
        sums = "".join(" %s %d %s\n" % (hashlib.sha256(data).hexdigest(), len(data), name)
                       for name, data in (("Packages", index),
                                          ("Packages.gz", gzip.compress(index, mtime=0))))
        tree.replace(os.path.join(folder, "Release"),
                     ("Origin: test\nSuite: test\nSHA256:\n" + sums).encode())

    def get(self, *arguments):
        return self.run_client("apt-get", "-q", "-y", *arguments, env={"APT_CONFIG": self.config})

    def archives(self):
        return {name: data for name, data in files_of(self.apt + "/cache/archives").items()
                if name.endswith(b".deb")}

    def there(self, version):
        return {name: data for name, data in files_of(self.site + "/debian").items()
                if name.endswith(b"_%s_all.deb" % version.encode())}

    def packages(self):
        return ["evixd-test-%d" % number for number in range(1, COUNT)]

    def test_update_download_and_update_again(self):
        self.get("update")
        self.get("--download-only", "install", *self.packages())
        self.assertEqual(self.archives(), self.there("1.0"))
        # nothing has changed: conditions are met
        self.get("update")
        self.requests(r"GET /debian/\./?Release 304|GET /debian/Release 304")

        # a new version, seen at once
        self.build("2.0")
        self.get("update")
        out = self.get("--download-only", "install", "evixd-test-1")
        self.assertIn("2.0", out)
        name = b"evixd-test-1_2.0_all.deb"
        self.assertTrue(self.archives()[name] == self.there("2.0")[name])

    def test_resumed(self):
        """If-Range and a range: what came before is not fetched again."""
        self.get("update")
        text = self.get("--print-uris", "--download-only", "install", "evixd-test-11")
        name = re.search(r"' (evixd-test-11_\S+\.deb) ", text)[1]
        whole = files_of(self.site + "/debian")[name.encode()]
        part = tree.write(self.apt, "cache/archives/partial/" + name, whole[:20000])
        there = os.stat(os.path.join(self.site, "debian", name))
        os.utime(part, ns=(there.st_mtime_ns, there.st_mtime_ns))
        self.get("--download-only", "install", "evixd-test-11")
        self.assertTrue(self.archives()[name.encode()] == whole)
        self.requests(r"GET /debian/(\./)?%s 206 \d+ bytes=20000-" % re.escape(name))


if __name__ == "__main__":
    suite.main(limit=180)
