# SPDX-License-Identifier: MIT
"""What a location says of its files: patterns, fallbacks, error pages, headers, who may see them."""

import os
import socket

import suite
import tree
from evixd import Daemon, TestCase, configuration, host
from wire import Connection, exchange, fetch, request

HTML = "Accept: text/html,application/xhtml+xml,*/*;q=0.8"
YEAR = "public, max-age=31536000, immutable"

# label, target, X-Where
PATTERNS = (
    ("a pattern", "/assets/a.js", "script"),
    ("another of the list", "/assets/a.css", "script"),
    ("deeper below the prefix", "/assets/in/a.js", "script"),
    ("an earlier location goes first", "/assets/first.js", "first"),
    ("none matches: the same path without patterns", "/assets/a.txt", "assets"),
    ("the name alone, not the path", "/assets/a.js.d/x", "assets"),
    ("the whole name", "/assets/a.js.map", "assets"),
    ("a folder matches none", "/assets/", "assets"),
    ("its index file by its name", "/assets/index.html", "page"),
    ("decoded first", "/assets/%61.%6As", "script"),
    ("case counts", "/assets/A.JS", "assets"),
    ("no pattern at the path: the next shorter one", "/only/a.txt", "root"),
    ("only there", "/only/a.js", "only"),
    ("a set", "/set/a.ts", "set"),
    ("not in the set", "/set/a.cs", "root"),
)


class Patterns(TestCase):
    @classmethod
    def serve(cls):
        for name in ("a.js", "a.css", "in/a.js", "first.js", "a.txt", "a.js.d/x", "a.js.map",
                     "index.html", "A.JS"):
            tree.write(cls.root, "assets/" + name, name)
        for name in ("only/a.txt", "only/a.js", "set/a.ts", "set/a.cs"):
            tree.write(cls.root, name, name)

        def where(path, value, *files):
            location = {"path": path, "headers": {"X-Where": value}}
            return dict(location, files=list(files)) if files else location

        return Daemon(config=configuration(hosts=[host(
            cls.root,
            where("/", "root"),
            where("/assets/", "assets"),
            where("/assets/", "first", "first.*"),
            where("/assets/", "script", "*.js", "*.css"),
            where("/assets/", "page", "*.html"),
            where("/only/", "only", "*.js"),
            where("/set/", "set", "*.[jt]s"),
        )]))


@suite.cases(PATTERNS)
class Chosen(Patterns):
    def check(self, _label, target, where):
        response = fetch(self.address, target)
        self.assertEqual((response.status, response.get("X-Where")), (200, where))


# label, target, request fields, status, content
FALLBACKS = (
    ("a page by Accept", "/app/users", [HTML], 200, b"shell"),
    ("a page by Sec-Fetch-Dest", "/app/users", ["Sec-Fetch-Dest: document"], 200, b"shell"),
    ("a frame", "/app/users", ["Sec-Fetch-Dest: iframe"], 200, b"shell"),
    ("deeper", "/app/users/7/edit", [HTML], 200, b"shell"),
    ("a folder's name", "/app/users/", [HTML], 200, b"shell"),
    ("with a query", "/app/users?x=.js", [HTML], 200, b"shell"),
    ("the destination wins over Accept", "/app/users", [HTML, "Sec-Fetch-Dest: empty"], 404, None),
    ("a script by its destination", "/app/users", ["Sec-Fetch-Dest: script"], 404, None),
    ("anything is no page", "/app/users", ["Accept: */*"], 404, None),
    ("HTML is not wanted", "/app/users", ["Accept: text/html;q=0, */*"], 404, None),
    ("no word of what is wanted", "/app/users", [], 404, None),
    ("a missing script", "/app/app.123.js", [HTML], 404, None),
    ("a missing image", "/app/x.png", [HTML, "Sec-Fetch-Dest: document"], 404, None),
    ("what is there", "/app/real", [HTML], 200, b"real"),
    ("elsewhere", "/users", [HTML], 404, None),
    ("a hidden name has a dot", "/app/.env", [HTML], 404, None),
    ("a name that would mean something in a URL", "/odd/x", [HTML], 200, b"odd"),
    ("percent is a byte", "/percent/x", [HTML], 200, b"percent"),
    ("the fallback is missing", "/gone/x", [HTML], 404, None),
    ("the fallback is a folder", "/folder/x", [HTML], 404, None),
    ("taken from the host", "/inherits/x", [HTML], 404, None),
)


class Fallback(TestCase):
    @classmethod
    def serve(cls):
        for name, data in (("app/index.html", "shell"), ("app/real", "real"), ("a?b#c.html", "odd"),
                           ("100%41.html", "percent"), ("folder/d/x", "x")):
            tree.write(cls.root, name, data)
        keep = {"Cache-Control": YEAR}
        return Daemon(config=configuration(hosts=[host(
            cls.root,
            {"path": "/app/", "fallback": "/app/index.html", "headers": keep,
             "headers_always": {"X-Always": "yes"}},
            {"path": "/odd/", "fallback": "/a?b#c.html"},
            {"path": "/percent/", "fallback": "/100%41.html"},
            {"path": "/gone/", "fallback": "/none.html"},
            {"path": "/folder/", "fallback": "/folder/d"},
            {"path": "/inherits/"},
        )], error_log={"target": "stderr", "level": "info"}))


@suite.cases(FALLBACKS)
class FallsBack(Fallback):
    def check(self, _label, target, fields, status, content):
        response = fetch(self.address, target, fields=fields)
        self.assertEqual(response.status, status)
        if content is not None:
            self.assertEqual(response.body, content)
        head = fetch(self.address, target, "HEAD", fields)
        self.assertEqual(head.status, status)
        self.assertEqual(head.get("Content-Length"), response.get("Content-Length"))


class FallbackFields(Fallback):
    def test_rules_for_caches_do_not_reach_it(self):
        """The page would be kept for a year under the name of a script, or until it is deployed."""
        response = fetch(self.address, "/app/users", fields=[HTML])
        self.assertIsNone(response.get("Cache-Control"))
        self.assertEqual(response.get("X-Always"), "yes")
        self.assertEqual(response.get("X-Content-Type-Options"), "nosniff")
        self.assertEqual(response.get("Content-Type"), "text/html; charset=utf-8")
        self.assertEqual(fetch(self.address, "/app/index.html").get("Cache-Control"), YEAR)
        self.assertIsNone(fetch(self.address, "/app/none.js").get("Cache-Control"))

    def test_caches_are_told_what_it_depends_on(self):
        """9110 12.5.5: of the page, and of the 404 that another client gets at the same address."""
        for fields in ([HTML], ["Accept: */*"]):
            vary = ", ".join(fetch(self.address, "/app/users", fields=fields).all("Vary"))
            self.assertEqual(sorted(vary.split(", ")), ["Accept", "Sec-Fetch-Dest"])
        for field, status in ("If-Match: \"x\"", 412), ("Range: bytes=500-", 416):
            response = fetch(self.address, "/app/users", fields=[HTML, field])
            self.assertEqual(response.status, status)
            self.assertLessEqual({"accept", "sec-fetch-dest"}, set(response.members("Vary")), field)

    def test_the_log_says_why_there_is_none(self):
        for target, fields, why in (
            ("/app/users", ["Accept: */*"], "no such file, and no fallback for what asks for no page"),
            ("/app/none.js", [HTML], "no such file, and no fallback for a name with an extension"),
            ("/gone/x", [HTML], "neither the file nor the fallback is there"),
            ("/folder/x", [HTML], "no such file, and the fallback is a directory"),
        ):
            self.assertEqual(fetch(self.address, target, fields=fields).status, 404)
            self.daemon.log.wait("%s.* 404: %s, location" % (target, why))

    def test_it_can_be_revalidated(self):
        first = fetch(self.address, "/app/users", fields=[HTML])
        again = fetch(self.address, "/app/other", fields=[HTML, "If-None-Match: " + first.get("ETag")])
        self.assertEqual(again.status, 304)
        self.assertIsNone(again.get("Cache-Control"))

    def test_a_page_that_comes_to_be_is_seen(self):
        self.assertEqual(fetch(self.address, "/app/late", fields=[HTML]).body, b"shell")
        tree.write(self.root, "app/late", "late")
        self.assertEqual(fetch(self.address, "/app/late", fields=[HTML]).body, b"late")


class ErrorPages(TestCase):
    @classmethod
    def serve(cls):
        for name, data in (("404.html", "<p>ours"), ("403.txt", "no entry"), ("405.html", "<p>405"),
                           (".errors/413.html", "<p>too much"), ("416.html", "<p>416"),
                           ("api/404.json", '{"error":404}'), ("large.html", tree.content(300000)),
                           ("empty.html", ""), ("file", "0123456789"), ("folder/x", "x"),
                           ("secret/x", "x")):
            tree.write(cls.root, name, data)
        page = lambda status, file: {"status": status, "file": file}
        return Daemon(config=configuration(
            limits={"body": 1000, "target": 2000, "head": 4000},
            hosts=[host(
                cls.root,
                {"path": "/api/", "error_pages": [page(404, "/api/404.json")]},
                {"path": "/none/", "error_pages": []},
                {"path": "/gone/", "error_pages": [page(404, "/nothing.html")]},
                {"path": "/isfolder/", "error_pages": [page(404, "/folder")]},
                {"path": "/large/", "error_pages": [page(404, "/large.html")]},
                {"path": "/empty/", "error_pages": [page(404, "/empty.html")]},
                {"path": "/echo", "handler": "echo"},
                {"path": "/secret/", "allow": ["192.0.2.0/24"]},
                {"path": "/kept/", "headers": {"Cache-Control": YEAR},
                 "headers_always": {"X-Always": "yes"}},
                error_pages=[page(404, "/404.html"), page(403, "/403.txt"), page(405, "/405.html"),
                             page(413, "/.errors/413.html"), page(416, "/416.html")],
            )]), arguments=("-v",), expect=[
                r"warning \d+: \S+:\d+: error_pages: /(nothing\.html|folder), for status 404: "
                r"(there is no such file|it is a directory); the built-in page is sent"])

    def get(self, target, *arguments, **options):
        return fetch(self.address, target, *arguments, **options)

    def test_the_file_is_the_content_and_the_status_stays(self):
        response = self.get("/missing")
        self.assertEqual((response.status, response.body), (404, b"<p>ours"))
        self.assertEqual(response.get("Content-Type"), "text/html; charset=utf-8")
        response = self.get("/secret/x")
        self.assertEqual((response.status, response.body), (403, b"no entry"))
        self.assertEqual(response.get("Content-Type"), "text/plain; charset=utf-8")

    def test_it_has_no_metadata_of_the_file(self):
        """Another page's validators would make a client keep an error for the page."""
        for _ in range(2):
            response = self.get("/missing")
            for name in ("ETag", "Last-Modified", "Accept-Ranges", "Content-Range"):
                self.assertIsNone(response.get(name), name)

    def test_conditions_and_ranges_do_not_concern_it(self):
        tag = self.get("/404.html").get("ETag")
        for field in ("Range: bytes=0-1", "If-None-Match: " + tag, "If-None-Match: *",
                      "If-Match: \"x\"", "If-Modified-Since: Sun, 29 Nov 2099 00:00:00 GMT"):
            response = self.get("/missing", fields=[field])
            self.assertEqual((response.status, response.body), (404, b"<p>ours"), field)

    def test_head_and_a_pipelined_get(self):
        """A page after a HEAD would be taken for the next response."""
        data = request("/missing", "HEAD") + request("/file") + request("/missing")
        first, second, third = exchange(self.address, data, ("HEAD", "GET", "GET"))
        self.assertEqual((first.status, first.get("Content-Length")), (404, "7"))
        self.assertEqual(second.body, b"0123456789")
        self.assertEqual((third.status, third.body), (404, b"<p>ours"))

    def test_of_a_location(self):
        response = self.get("/api/missing")
        self.assertEqual(response.body, b'{"error":404}')
        self.assertEqual(response.get("Content-Type"), "application/json")

    def test_what_is_wrong_with_the_file_ends_with_the_built_in_page(self):
        """No loop, no 500."""
        for target in ("/gone/x", "/isfolder/x", "/none/x"):
            response = self.get(target)
            self.assertEqual(response.status, 404, target)
            self.assertIn(b"404", response.body)
            self.assertNotEqual(response.body, b"<p>ours")

    def test_what_is_wrong_with_the_file_is_in_the_log(self):
        """Each time at level info; the first time, and then once a minute, as a warning."""
        for target, file, why in (("/gone/x", "/nothing.html", "there is no such file"),
                                  ("/isfolder/x", "/folder", "it is a directory")):
            self.assertEqual(self.get(target).status, 404)
            self.daemon.log.wait("(info|warning) .*: error_pages: %s, for status 404: %s; "
                                 "the built-in page is sent" % (file, why))
        self.daemon.log.wait("warning .*: error_pages: ")

    def test_the_reason_is_in_the_log_however_long_the_target_is(self):
        self.assertEqual(self.get("/none/" + "n" * 1900).status, 404)
        self.daemon.log.wait(r'nnn\.\.\." 404: a name is longer than any can be, location /none/$')

    def test_it_may_be_large_or_empty(self):
        self.assertEqual(self.get("/large/x").body, tree.content(300000))
        response = self.get("/empty/x")
        self.assertEqual((response.status, response.body), (404, b""))
        self.assertEqual(response.get("Content-Length"), "0")

    def test_fields_of_the_error_are_kept(self):
        response = self.get("/file", "POST")
        self.assertEqual((response.status, response.body), (405, b"<p>405"))
        self.assertIn("GET", response.get("Allow"))
        response = self.get("/file", fields=["Range: bytes=50-"])
        self.assertEqual((response.status, response.body), (416, b"<p>416"))
        self.assertEqual(response.get("Content-Range"), "bytes */10")

    def test_while_content_arrives(self):
        """The page is looked up while the client goes on sending."""
        for fields, body in (["Content-Length: 2000"], b"x" * 2000), (
                ["Transfer-Encoding: chunked"], b"7d0\r\n" + b"x" * 2000 + b"\r\n0\r\n\r\n"):
            with Connection(self.address) as connection:
                connection.send(request("/echo", "POST", fields, body=body))
                response = connection.read_response("POST")
                self.assertEqual((response.status, response.body), (413, b"<p>too much"))

    def test_refused_by_the_head(self):
        """Before a handler has seen it, and yet by the rules of its location."""
        for target in ("/kept/x", "/kept/%zz", "http://test/kept/x"):
            with Connection(self.address) as connection:
                connection.send(request(target, "POST", ["Content-Length: 2000"]))
                response = connection.read_response("POST")
                self.assertEqual((response.status, response.body), (413, b"<p>too much"), target)
                self.assertEqual(response.get("X-Always"), None if "%" in target else "yes")
                self.assertFalse(response.keeps_alive)
        for method, fields, status in ("BREW", [], 501), ("GET", ["Expect: tea"], 417):
            response = self.get("/kept/x", method, fields=fields)
            self.assertEqual((response.status, response.get("X-Always")), (status, "yes"))
        with Connection(self.address) as connection:
            connection.send(request("*", "OPTIONS", ["Content-Length: 2000"]))
            self.assertEqual(connection.read_response("OPTIONS").status, 413)

    def test_encoded_slash(self):
        self.assertEqual(self.get("/a%2Fb").body, b"<p>ours")

    def test_rules_for_caches_do_not_reach_it(self):
        response = self.get("/kept/x")
        self.assertEqual(response.body, b"<p>ours")
        self.assertIsNone(response.get("Cache-Control"))
        self.assertEqual(response.get("X-Always"), "yes")

    def test_a_change_of_the_page_is_seen(self):
        path = os.path.join(self.root, "empty.html")
        self.assertEqual(self.get("/empty/y").body, b"")
        tree.replace(path, b"full")
        try:
            self.assertEqual(self.get("/empty/y").body, b"full")
        finally:
            tree.replace(path, b"")


# label, target, fields, status, of headers, of headers_always
HEADERS = (
    ("200", "/h/x", [], 200, True, True),
    ("206", "/h/x", ["Range: bytes=0-0"], 206, True, True),
    ("304", "/h/x", ["If-None-Match: *"], 304, True, True),
    ("listing", "/h/list/", [], 200, True, True),
    ("404", "/h/none", [], 404, False, True),
    ("412", "/h/x", ['If-Match: "no"'], 412, False, True),
    ("416", "/h/x", ["Range: bytes=9-"], 416, False, True),
    ("slash", "/h/list", [], 301, False, True),
    ("redirect", "/old/", [], 302, False, True),
    ("echo", "/echo", [], 200, True, True),
)


class Headers(TestCase):
    @classmethod
    def serve(cls):
        tree.write(cls.root, "h/x", "x")
        tree.write(cls.root, "h/list/x", "x")
        return Daemon(config=configuration(hosts=[host(
            cls.root,
            {"path": "/h/", "listing": True},
            {"path": "/old/", "redirect": {"status": 302, "to": "/new/"}},
            {"path": "/echo", "handler": "echo"},
            {"path": "/both/", "headers": {"X-Both": "special"}},
            {"path": "/sniff/", "headers_always": {"X-Content-Type-Options": "maybe"}},
            headers={"X-Served": "1"}, headers_always={"X-Always": "1", "X-Both": "always"},
        )]))


@suite.cases(HEADERS)
class ByStatus(Headers):
    def check(self, _label, target, fields, status, served, always):
        response = fetch(self.address, target, fields=fields)
        self.assertEqual(response.status, status)
        self.assertEqual(response.all("X-Served"), ["1"] if served else [])
        self.assertEqual(response.all("X-Always"), ["1"] if always else [])
        self.assertEqual(response.all("X-Content-Type-Options"), ["nosniff"])


class Both(Headers):
    def test_each_name_once(self):
        tree.write(self.root, "both/x", "x")
        self.assertEqual(fetch(self.address, "/both/x").all("X-Both"), ["special"])
        self.assertEqual(fetch(self.address, "/both/none").all("X-Both"), ["always"])

    def test_nosniff_may_be_set_otherwise(self):
        for target in ("/sniff/x", "/sniff/none"):
            self.assertEqual(fetch(self.address, target).all("X-Content-Type-Options"), ["maybe"])

    def test_a_request_without_a_location(self):
        """9112 3.2: refused before there is one."""
        response, = exchange(self.address, b"GET / HTTP/1.1\r\nHost: a b\r\n\r\n")
        self.assertEqual((response.status, response.all("X-Always")), (400, []))
        self.assertEqual(response.all("X-Content-Type-Options"), ["nosniff"])


# label, which listener, target, status
ALLOWED = (
    ("IPv4, its network", 0, "/v4/x", 200),
    ("IPv4, another network", 0, "/net/x", 403),
    ("IPv4, IPv6 alone allowed", 0, "/v6/x", 403),
    ("IPv4, unix alone allowed", 0, "/unix/x", 403),
    ("IPv4 through [::], the rule for IPv4", 1, "/v4/x", 200),
    ("IPv4 through [::], IPv6 alone allowed", 1, "/v6/x", 403),
    ("IPv4 through [::], all of IPv6", 1, "/any6/x", 403),
    ("IPv6, its address", 2, "/v6/x", 200),
    ("IPv6, the rule for IPv4", 2, "/v4/x", 403),
    ("IPv6, all of IPv6", 2, "/any6/x", 200),
    ("unix, allowed", 3, "/unix/x", 200),
    ("unix, addresses alone allowed", 3, "/v4/x", 403),
    ("unix, all addresses allowed", 3, "/addresses/x", 403),
    ("nobody", 0, "/nobody/x", 403),
    ("all, below a host that is not open", 0, "/open/x", 200),
    ("from the host", 0, "/x", 403),
    ("the decoded path counts", 0, "/%6eet/x", 403),
    ("dots lead into it", 0, "/v4/../net/x", 403),
    ("what is not there is refused as well", 0, "/net/none", 403),
    ("a redirect", 0, "/old/x", 403),
    ("an echo", 0, "/echo", 403),
)


class Allow(TestCase):
    @classmethod
    def serve(cls):
        names = ("v4", "v6", "any6", "net", "unix", "addresses", "nobody", "open")
        for name in names:
            tree.write(cls.root, name + "/x", name)
        tree.write(cls.root, "x", "x")
        allow = dict(v4=["127.0.0.0/8"], v6=["::1"], any6=["::/0"], net=["192.0.2.0/24"],
                     unix=["unix"], addresses=["0.0.0.0/0", "::/0"], nobody=[], open=["all"])
        cls.v6 = socket.has_ipv6 and os.path.exists("/proc/net/if_inet6") and has_loopback6()
        listen = [{"address": "127.0.0.1:0"}, {"address": "unix:" + cls.root + "/socket"}]
        if cls.v6:
            listen[1:1] = [{"address": "[::]:0"}]
        return Daemon(listeners=len(listen), config=configuration(listen=listen, hosts=[host(
            cls.root,
            *({"path": "/%s/" % name, "allow": allow[name]} for name in names),
            {"path": "/old/", "redirect": {"status": 301, "to": "/new/"}, "allow": ["::1"]},
            {"path": "/echo", "handler": "echo", "allow": ["::1"]},
            allow=["198.51.100.7"],
        )]))


def has_loopback6():
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
        return True
    except OSError:
        return False


@suite.cases(ALLOWED)
class Admitted(Allow):
    def check(self, _label, listener, target, status):
        addresses = self.daemon.addresses
        if listener in (1, 2) and not self.v6:
            self.skipTest("no IPv6 here")
        if listener == 0 or listener == 3:
            address = addresses[0 if listener == 0 else -1]
        else:
            address = ("127.0.0.1" if listener == 1 else "::1", addresses[1][1])
        response = fetch(address, target)
        self.assertEqual(response.status, status)
        if status == 403:
            self.assertNotIn(b"x\n", response.body)
            self.assertIsNone(response.get("ETag"))

    def test_every_method(self):
        for method in ("GET", "HEAD", "POST", "OPTIONS", "DELETE"):
            self.assertEqual(fetch(self.daemon.addresses[0], "/net/x", method).status, 403, method)


# label, target, Location
FOLDERS = (
    ("a redirect's", "/old", "/old/"),
    ("with its query", "/old?a=%20b", "/old/?a=%20b"),
    ("an echo's", "/echo", "/echo/"),
    ("of another root", "/other", "/other/"),
    ("not what merely begins so", "/olde", None),
    ("not with patterns alone in the way", "/ol", None),
)


@suite.cases(FOLDERS)
class Folders(TestCase):
    """A location is found by its name without the slash, as a folder is."""

    @classmethod
    def serve(cls):
        tree.write(cls.root, "elsewhere/other/x", "x")
        tree.write(cls.root, "www/file", "x")
        return Daemon(config=configuration(hosts=[host(
            cls.root + "/www",
            {"path": "/old/", "redirect": {"status": 302, "to": "/new/"}},
            {"path": "/echo/", "handler": "echo"},
            {"path": "/other/", "root": cls.root + "/elsewhere"},
            {"path": "/file/", "handler": "echo"},
        )]))

    def check(self, _label, target, location):
        response = fetch(self.address, target)
        self.assertEqual((response.status, response.get("Location")),
                         (301, location) if location else (404, None))

    def test_a_file_of_that_name_goes_first(self):
        self.assertEqual(fetch(self.address, "/file").body, b"x")


if __name__ == "__main__":
    suite.main()
