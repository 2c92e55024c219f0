# SPDX-License-Identifier: MIT
"""The slash that a directory's name needs: redirects never leave this host, and lose nothing."""

import os

import suite
import tree
from evixd import Daemon, TestCase, configuration, host
from wire import exchange, fetch, request

# label, target, Location
REDIRECTED = (
    ("plain", "/dir", "/dir/"),
    ("query kept byte for byte", "/dir?x=1&y=%26", "/dir/?x=1&y=%26"),
    ("odd query", "/dir?a=b?c&//evil&%0d%0a", "/dir/?a=b?c&//evil&%0d%0a"),
    ("empty query", "/dir?", "/dir/?"),
    ("space in the name", "/a%20dir", "/a%20dir/"),
    ("percent in the name", "/100%25", "/100%25/"),
    ("UTF-8 in the name", "/%C3%A4", "/%C3%A4/"),
    ("question mark in the name", "/who%3F", "/who%3F/"),
    ("below another", "/dir/inner", "/dir/inner/"),
    ("dot segments are gone", "/dir/../dir/./inner", "/dir/inner/"),
    ("two slashes", "//evil.example", "/evil.example/"),
    ("three slashes", "///evil.example", "/evil.example/"),
    ("dot and slashes", "/.//evil.example", "/evil.example/"),
    ("dot-dot and slashes", "/..//evil.example", "/evil.example/"),
    ("in absolute form", "http://test//evil.example", "/evil.example/"),
)


class Site(TestCase):
    @classmethod
    def serve(cls):
        for name in ("dir/inner/index.html", "a dir/x", "100%/x", "\u00e4/x", "who?/x",
                     "evil.example/x", "\\evil.example/x", "dir\r\nX-Evil: 1/x", "file.txt"):
            tree.write(cls.root, name, "content")
        return Daemon(directory=cls.root)


@suite.cases(REDIRECTED)
class Redirected(Site):
    def check(self, _label, target, location):
        for method in ("GET", "HEAD"):
            response = fetch(self.address, target, method)
            self.assertIn(response.status, (301, 308))
            self.assertEqual(response.get("Location"), location)

    def test_it_leads_to_the_directory(self):
        for _label, target, _location in REDIRECTED:
            there = fetch(self.address, target).get("Location")
            self.assertEqual(fetch(self.address, there).status, 200, there)


class Elsewhere(Site):
    def test_backslash_is_a_byte_of_a_name(self):
        """Browsers take \\ for a slash, so it is never sent bare."""
        for target in ("/%5Cevil.example", "/%5cevil.example", "//%5Cevil.example"):
            response = fetch(self.address, target)
            self.assertIn(response.status, (301, 308, 404))
            if response.get("Location"):
                self.assertEqual(response.get("Location"), "/%5Cevil.example/")
        response, = exchange(self.address, b"GET /\\evil.example HTTP/1.1\r\nHost: test\r\n\r\n")
        self.assertIn(response.status, (301, 308, 400, 404))
        self.assertIn(response.get("Location"), (None, "/%5Cevil.example/"))

    def test_line_ends_stay_encoded(self):
        """Nothing of the target becomes a field of its own."""
        response = fetch(self.address, "/dir%0d%0aX-Evil:%201")
        self.assertIn(response.status, (301, 308))
        self.assertEqual(response.get("Location").upper(), "/DIR%0D%0AX-EVIL%3A%201/")
        self.assertIsNone(response.get("X-Evil"))

    def test_host_and_port_never_enter(self):
        """A path alone, whatever the client calls us."""
        response = fetch(self.address, "/dir", host="evil.example:1234")
        self.assertEqual(response.get("Location"), "/dir/")

    def test_file_with_a_slash_behind(self):
        """No file, no loop, no 403."""
        for target in ("/file.txt/", "/file.txt/more", "/file.txt/.", "/file.txt//"):
            self.assertEqual(fetch(self.address, target).status, 404, target)

    def test_index_is_served_below_the_slash(self):
        response = fetch(self.address, "/dir/inner/")
        self.assertEqual((response.status, response.body), (200, b"content"))
        self.assertEqual(response.get("Content-Type"), "text/html; charset=utf-8")


# label, target, Location, for { path = "/old/"; redirect = ... to = "/new/" } and others
CONFIGURED = (
    ("the prefix is replaced", "/old/a/b", "/new/a/b"),
    ("the query is kept", "/old/a?x=%26", "/new/a?x=%26"),
    ("the prefix alone", "/old/", "/new/"),
    ("what is encoded stays so", "/old/a%20b%25", "/new/a%20b%25"),
    ("line ends stay encoded", "/old/%0d%0aX:%201", "/new/%0D%0AX%3A%201"),
    ("to another site", "/away/x", "https://example.org/x"),
    ("no second slash grows", "/old///evil.example", "/new/evil.example"),
)


@suite.cases(CONFIGURED)
class Configured(TestCase):
    @classmethod
    def serve(cls):
        os.makedirs(cls.root + "/older")
        tree.write(cls.root, "older/x", "older")
        return Daemon(config=configuration(hosts=[host(
            cls.root,
            {"path": "/"},
            {"path": "/old/", "redirect": {"status": 302, "to": "/new/"}},
            {"path": "/away/", "redirect": {"status": 308, "to": "https://example.org/"}},
        )]))

    def check(self, _label, target, location):
        response = fetch(self.address, target)
        self.assertEqual(response.status, 308 if target.startswith("/away") else 302)
        self.assertEqual(response.get("Location"), location)

    def test_neighbour_is_left_alone(self):
        self.assertEqual(fetch(self.address, "/older/x").body, b"older")


if __name__ == "__main__":
    suite.main()
