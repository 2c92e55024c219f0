# SPDX-License-Identifier: MIT
"""Hosts and locations: who answers for which name, and below which path."""

import os

import suite
import tree
from evixd import Daemon, TestCase, configuration, host
from wire import exchange, fetch, request

# label, Host (None: none, in HTTP/1.0), which host answers
HOSTS = (
    ("exact name", "one.example", "one"),
    ("any case", "ONE.Example", "one"),
    ("with a port", "one.example:8080", "one"),
    ("closing dot", "one.example.", ("one", "default")),
    ("second name", "uno.example", "one"),
    ("wildcard", "a.two.example", "two"),
    ("wildcard, deeper", "a.b.two.example", "two"),
    ("wildcard is not the name itself", "two.example", "default"),
    ("wildcard needs its dot", "xtwo.example", "default"),
    ("exact wins over wildcard", "www.two.example", "three"),
    ("unknown name", "unknown.example", "default"),
    ("IPv4 address", "127.0.0.1", "default"),
    ("IPv6 address", "[::1]:80", "default"),
    ("none at all", None, "default"),
)


class Site(TestCase):
    @classmethod
    def serve(cls):
        for name in ("one", "two", "three", "default"):
            tree.write(cls.root, name + "/who.txt", name)
        for name in ("default/a/x", "default/a/b/x", "default/a/bc/x", "default/img/x",
                     "default/img2/x", "default/img../secret", "default/list/x", "default/nolist/x",
                     "default/dot/.x", "default/a/.x", "default/start/home.htm",
                     "default/start/index.html", "default/h/x", "default/h/in/x", "default/file"):
            tree.write(cls.root, name, name)
        tree.write(cls.root, "elsewhere/other/x", "elsewhere")
        root = cls.root
        return Daemon(config=configuration(hosts=[
            host(root + "/one", names=["one.example", "uno.example"], default=False),
            host(root + "/two", names=["*.two.example"], default=False),
            host(root + "/three", names=["www.two.example"], default=False),
            host(
                root + "/default",
                {"path": "/", "headers": {"X-Where": "root"}},
                {"path": "/a", "headers": {"X-Where": "a"}},
                {"path": "/a/b", "headers": {"X-Where": "a-b"}},
                {"path": "/file", "headers": {"X-Where": "file"}},
                {"path": "/img/", "headers": {"X-Where": "img"}},
                {"path": "/list/", "listing": True},
                {"path": "/dot/", "dotfiles": True},
                {"path": "/start/", "index": ["none.html", "home.htm"]},
                {"path": "/other/", "root": root + "/elsewhere"},
                {"path": "/h/", "headers": {"X-Where": "h", "Cache-Control": "max-age=5", "X-Up": ""}},
                {"path": "/e", "handler": "echo"},
                names=["default.example"], headers={"X-Up": "host"},
            ),
        ]))


@suite.cases(HOSTS)
class Hosts(Site):
    def check(self, _label, name, who):
        version = "1.0" if name is None else "1.1"
        response, = exchange(self.address, request("/who.txt", host=name, version=version))
        self.assertIn(response.body.decode(), who if isinstance(who, tuple) else (who,))

    def test_empty_name_is_refused(self):
        """9110 4.2.1: a URI of http has a host."""
        self.assertEqual(exchange(self.address, request("/who.txt", host=""))[0].status, 400)

    def test_absolute_form_wins_over_host(self):
        """9112 3.2.2"""
        data = b"GET http://one.example/who.txt HTTP/1.1\r\nHost: default.example\r\n\r\n"
        self.assertEqual(exchange(self.address, data)[0].body, b"one")


# label, target, X-Where
LOCATIONS = (
    ("longest prefix", "/a/b/x", "a-b"),
    ("shorter prefix", "/a/x", "a"),
    ("the prefix itself", "/file", "file"),
    ("segment border", "/a/bc/x", "a"),
    ("no border, other folder", "/img2/x", "root"),
    ("dots are no border", "/img../secret", "root"),
    ("with a slash", "/img/x", "img"),
    ("normalized first", "/img/../a/b/x", "a-b"),
    ("decoded first", "/%61/%62/x", "a-b"),
    ("slashes joined first", "//a//b//x", "a-b"),
    ("out of it by dots", "/a/b/../../img2/x", "root"),
)


@suite.cases(LOCATIONS)
class Locations(Site):
    def check(self, _label, target, where):
        response = fetch(self.address, target)
        self.assertEqual(response.get("X-Where"), where)


class Settings(Site):
    def get(self, target, *arguments, **options):
        return fetch(self.address, target, *arguments, **options)

    def test_listing_only_where_it_is_on(self):
        self.assertEqual(self.get("/list/").status, 200)
        self.assertIn(self.get("/nolist/").status, (403, 404))

    def test_dotfiles_only_where_they_are_on(self):
        self.assertEqual(self.get("/dot/.x").status, 200)
        self.assertEqual(self.get("/a/.x").status, 404)

    def test_index_names(self):
        self.assertEqual(self.get("/start/").body, b"default/start/home.htm")

    def test_root_of_a_location(self):
        self.assertEqual(self.get("/other/x").body, b"elsewhere")

    def test_handler(self):
        self.assertEqual(self.get("/e").status, 200)
        self.assertEqual(self.get("/ex").status, 404)

    def test_headers_are_there_on_success(self):
        """200, 206, 304 and HEAD carry them."""
        tag = self.get("/h/x").get("ETag")
        for fields, status in ((), 200), (["Range: bytes=0-0"], 206), (["If-None-Match: " + tag], 304):
            for method in ("GET", "HEAD"):
                response = self.get("/h/x", method, fields)
                self.assertIn(response.status, (status, 200))
                self.assertEqual(response.get("X-Where"), "h")
                self.assertEqual(response.get("Cache-Control"), "max-age=5")

    def test_cache_rules_do_not_reach_errors(self):
        """A 404 or a redirect is not to be kept for a year."""
        for target in ("/h/none", "/h/in"):
            self.assertNotIn("max-age=5", self.get(target).all("Cache-Control"), target)

    def test_headers_of_the_host_are_inherited(self):
        self.assertEqual(self.get("/who.txt").get("X-Up"), "host")

    def test_an_empty_value_takes_one_away(self):
        self.assertIsNone(self.get("/h/x").get("X-Up"))


if __name__ == "__main__":
    suite.main()
