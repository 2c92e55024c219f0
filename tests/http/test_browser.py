# SPDX-License-Identifier: MIT
"""The built-in pages in a real browser: light, dark, on a phone, followed and sorted by clicks.

EVIXD_SCREENSHOTS=FOLDER keeps pictures of what it saw."""

import os
import socket

import suite
import tree
from browser import Browser
from evixd import Daemon, TestCase, configuration, host
from wire import fetch

HOSTILE = (
    b"a b", b"100% #?.txt", b"q\"uote<&>'.txt", b"new\nline", b"back\\slash", b"tab\tx",
    b"\xff\xfe", b"-leading", b"a:b", b"javascript:alert(1)", b"plus+plus", b"semi;colon=1&x",
    "käse € \U0001f418".encode(), b"<script>alert(1)", b"&amp;", b"%41", b"//", b"long" * 60,
    "\u202egnp.exe".encode(),
)


class Pages(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()
        super().setUpClass()
        cls.addClassCleanup(cls.daemon.kill)
        cls.browser.__enter__()
        cls.addClassCleanup(cls.browser.__exit__)

    @classmethod
    def serve(cls):
        for name in HOSTILE:
            if b"/" not in name:
                tree.write(cls.root, b"names/" + name, b"content of " + name)
                tree.write(cls.root, b"folders/" + name + b"/inside.txt", b"inside " + name)
        for name, size, time in (("b.txt", 10, 3000), ("a.txt", 5000, 2000), ("c.txt", 300, 1000)):
            os.utime(tree.write(cls.root, "plain/" + name, b"x" * size), (time, time))
        os.mkdir(os.path.join(cls.root, "plain", "folder"))
        os.mkdir(os.path.join(cls.root, "empty"))
        return Daemon(config=configuration(workers=1, hosts=[host(
            cls.root, {"path": "/"}, {"path": "/status", "handler": "status"}, listing=True)]))

    def setUp(self):
        self.browser.dark(False)
        self.browser.desk()
        self.browser.complaints()

    def open(self, target):
        self.browser.open("http://%s:%d%s" % (*self.address, target))

    def tearDown(self):
        """Nothing that the page has was refused by its own policy, nothing failed to load."""
        self.assertEqual(self.browser.complaints(), [])

    def check_looks(self, target, name):
        """A different page in the dark, text that stands out, and no scrolling sideways."""
        colours = set()
        for dark in (False, True):
            self.browser.dark(dark)
            self.open(target)
            paper = self.browser.style("body", "backgroundColor")
            self.assertNotEqual(paper, self.browser.style("body", "color"))
            self.assertNotEqual(paper, "rgba(0, 0, 0, 0)")
            colours.add(paper)
            self.browser.keep("%s-%s" % (name, "dark" if dark else "light"))
        self.assertEqual(len(colours), 2)
        for width in (320, 360, 412):
            self.browser.phone(width)
            self.open(target)
            self.assertEqual(self.browser.overflow(), 0, width)
        self.browser.keep(name + "-phone")

    def test_listing_looks(self):
        self.check_looks("/names/", "listing")
        self.check_looks("/plain/?sort=size", "listing-sorted")
        self.check_looks("/empty/", "listing-empty")

    def rows(self):
        return self.browser.texts("tbody tr td:first-child")

    def test_sorting_by_clicks(self):
        """Each column, and a second click turns it round; folders stay first."""
        self.open("/plain/")
        for column, names in ((2, "acb"), (2, "bca"), (3, "bac"), (3, "cab"), (1, "abc"), (1, "cba")):
            self.browser.click("th:nth-child(%d) a" % column)
            expected = ["../", "folder/"] + [name + ".txt" for name in names]
            self.assertEqual(self.rows(), expected, (column, names))
            self.assertEqual(self.browser.script(
                "return [...document.querySelectorAll('th')].findIndex(e => e.ariaSort) + 1"), column)

    def test_links_with_hostile_names(self):
        """Whatever a name holds, its link leads to its content."""
        links = self.links("/names/")
        self.assertEqual(len(links), len([n for n in HOSTILE if b"/" not in n]))
        found = set()
        for link in links:
            self.assertTrue(link.startswith("http://%s:%d/names/" % self.address), link)
            found.add(fetch(self.address, link.split("/", 3)[3].join(["/", ""])).body)
        self.assertEqual(found, {b"content of " + n for n in HOSTILE if b"/" not in n})

    def links(self, target):
        self.open(target)
        return self.browser.script(
            "return [...document.querySelectorAll('tbody a')].map(a => a.href)")[1:]

    def test_folders_with_hostile_names(self):
        """Into each folder by a click, to the file in it, and up again by the crumbs."""
        for number in range(1, 1 + len(self.links("/folders/"))):
            self.open("/folders/")
            self.browser.click("tbody a", number)
            self.assertEqual(self.rows(), ["../", "inside.txt"])
            inside = self.browser.script("return document.querySelectorAll('tbody a')[1].href")
            response = fetch(self.address, "/" + inside.split("/", 3)[3])
            self.assertTrue(response.body.startswith(b"inside "), inside)
            self.browser.click("h1 a", 1)
            self.assertTrue(self.browser.url.endswith("/folders/"))

    def test_parent(self):
        self.open("/plain/folder/")
        self.browser.click("tbody a")
        self.assertTrue(self.browser.url.endswith("/plain/"))

    def test_status_looks(self):
        for number in range(200):
            fetch(self.address, "/plain/a.txt" if number % 10 else "/nothing")
        self.check_looks("/status?refresh=0", "status")

    def test_shows_what_happens(self):
        fetch(self.address, "/plain/a.txt")
        self.open("/status?refresh=0")
        self.assertEqual(self.browser.texts("h1"), ["evixd on " + socket.gethostname()])
        self.assertEqual(len(self.browser.texts(".tile")), 6)
        self.assertEqual(len(self.browser.texts("tbody tr")[0:1]), 1)
        self.assertGreaterEqual(int(self.browser.texts("section:not(.wide) td")[0].replace(",", "")), 1)

    def test_other_forms_by_clicks(self):
        self.open("/status?refresh=0")
        self.browser.click("nav p:nth-child(2) a", 0)
        self.assertTrue(self.browser.url.endswith("/status/json"))
        self.browser.back()
        self.browser.click("nav p:nth-child(2) a", 1)
        self.assertTrue(self.browser.url.endswith("/status/metrics"))
        self.assertIn("evixd_requests_total", self.browser.texts("body")[0])
        self.tolerate("favicon.ico")  # which only a page can say that there is none

    def test_error_looks(self):
        self.check_looks("/nothing", "error")
        self.assertIn("Not Found", self.browser.texts("h1")[0])
        self.expect("nothing - Failed")

    def expect(self, words):
        """The browser said this, and nothing else; it is no reason to worry."""
        self.assertTrue(self.tolerate(words))

    def tolerate(self, words):
        """The same, if it has said anything yet."""
        complaints = self.browser.complaints()
        for complaint in complaints:
            self.assertIn(words, complaint)
        return complaints


if __name__ == "__main__":
    suite.main(limit=240)
