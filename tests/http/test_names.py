# SPDX-License-Identifier: MIT
"""Every name that a file can have is served by its encoded form, and listed; no target leads off."""

import json
import re
import urllib.parse

import suite
import tree
from evixd import Daemon, TestCase
from wire import exchange, fetch, request

NAMES = (
    b"plain", b"a b", b" lead", b"trail ", b"100%", b"100%25", b"%2e%2e", b"%2F", b"%00", b"+x.css",
    b"#hash", b"who?", b"a&b", b"&amp;", b"'single'", b'"double"', b"<tag>", b"<title>", b"-dash",
    b"--", b"--help", b"\xc3\xa4", b"a\xcc\x88", b"\xe2\x82\xac", b"\xff\xfe", b"caf\xe9", b"n" * 255,
    b"\xc3\xa4" * 127 + b"x", b"new\nline", b"tab\t", b"cr\r", b"crlf\r\nX-Evil: 1", b"esc\x1b[31m",
    b"\x01\x02", b"\x7f", b"back\\slash", b"\\\\host", b"c:d", b"http:", b"javascript:alert(1)",
    b"x..", b"a..b", b"semi;colon", b"com,ma", b"@at", b"=eq", b"[b]", b"{c}", b"|p|", b"^", b"`",
    b"~t", b"*star*", b"$d", b"!bang", b"(p)", b"index", b"Case", b"CON", b"evil.example",
)


def quoted(name):
    return urllib.parse.quote_from_bytes(name, safe="")


def folder_of(name):
    return name[:254] + b"D"


class Site(TestCase):
    @classmethod
    def serve(cls):
        for name in NAMES:
            tree.write(cls.root, b"f/" + name, name)
            tree.write(cls.root, b"d/" + folder_of(name) + b"/in", name)
        return Daemon(directory=cls.root)


@suite.cases([(name.decode("latin-1"), name) for name in NAMES])
class Names(Site):
    def check(self, _label, name):
        """As a file, as a folder, with the query kept, and not as what it is not."""
        for _ in range(2):  # the second answer comes from the cache
            response = fetch(self.address, "/f/" + quoted(name))
            self.assertEqual((response.status, response.body), (200, name))
        for tail in ("/", "/x", "/.", "%2F", "%00", "%"):
            self.assertIn(fetch(self.address, "/f/" + quoted(name) + tail).status, (400, 404), tail)
        other = name.swapcase()
        if other not in NAMES:
            self.assertEqual(fetch(self.address, "/f/" + quoted(other)).status, 404)

        folder = quoted(folder_of(name))
        response = fetch(self.address, "/d/" + folder + "?x=%2F&y")
        self.assertEqual(response.status, 301)
        location = response.get("Location")
        self.assertRegex(location, r"\A/d/[A-Za-z0-9%._~!$&'()*+,;=:@-]+/\?x=%2F&y\Z")
        self.assertEqual(urllib.parse.unquote_to_bytes(location.partition("?")[0]),
                         b"/d/" + folder_of(name) + b"/")
        self.assertIsNone(response.get("X-Evil"))
        self.assertEqual(fetch(self.address, location).status, 200)
        self.assertEqual(fetch(self.address, "/d/" + folder + "/in").body, name)


class Listed(Site):
    def test_every_link_leads_to_its_file(self):
        page = fetch(self.address, "/f/").body.decode()
        links = {urllib.parse.unquote_to_bytes(re.sub(r"\A\./", "", link.replace("&amp;", "&")))
                 for link in re.findall(r'<a href="([^"?][^"]*)"', page)}
        self.assertEqual(set(NAMES) - links, set())
        self.assertNotIn("<tag>", page)

    def test_json_names_them_all(self):
        response = fetch(self.address, "/f/", fields=["Accept: application/json"])
        entries = json.loads(response.body.decode())
        self.assertEqual(len(entries if isinstance(entries, list) else entries["entries"]), len(NAMES))


# label, target, status, Location
TARGETS = (
    ("two slashes, no host", "//d", 301, "/d/"),
    ("three", "///d", 301, "/d/"),
    ("a name like a host's", "//d/evil.exampleD", 301, "/d/evil.exampleD/"),
    ("a dot before them", "/.//d", 301, "/d/"),
    ("dots before them", "/..//d", 301, "/d/"),
    ("encoded dots before them", "/%2e%2e//d", 301, "/d/"),
    ("behind, too", "/d//", 200, None),
    ("a query that begins so", "/d?//x", 301, "/d/?//x"),
    ("a backslash for the second", "/\\d", 404, None),
    ("an encoded backslash", "/%5Cd", 404, None),
    ("an encoded slash", "/%2Fd", 404, None),
    ("two of them", "/%2f%2fd", 404, None),
    ("an encoded slash at the end", "/d%2F", 404, None),
    ("an encoded slash across a folder", "/f%2Fplain", 404, None),
    ("an encoded backslash across a folder", "/f%5Cplain", 404, None),
    ("a backslash across a folder", "/f\\plain", 404, None),
    ("decoded once", "/f/%2570lain", 404, None),
    ("the absolute form's host stays out of it", "http://evil.example/d", 301, "/d/"),
    ("dots that leave nothing", "//evil.example/..", 200, None),
    ("a parameter is part of the name", "/d;x", 404, None),
    ("a fragment is no part of a target", "/f/plain#x", 400, None),
)


@suite.cases(TARGETS)
class Targets(Site):
    def check(self, _label, target, status, location):
        response, = exchange(self.address, request(target))
        self.assertEqual((response.status, response.get("Location")), (status, location))


if __name__ == "__main__":
    suite.main()
