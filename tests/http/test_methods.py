# SPDX-License-Identifier: MIT
"""Methods: GET and HEAD agree, OPTIONS and Allow, what is refused (RFC 9110 9, 15.5.6, 15.6.2)."""

import suite
import tree
from evixd import Daemon, TestCase, configuration, host
from wire import Connection, exchange, fetch, request

FILES = {"get", "head", "options"}
ECHO = {"get", "head", "post", "put", "patch", "options"}
REDIRECT = {"get", "head", "post", "put", "patch", "delete", "options"}

# label, target, fields of the request: whatever GET says of it, HEAD says too
ALIKE = (
    ("9.3.2 small file", "/small.bin", []),
    ("9.3.2 large file", "/large.bin", []),
    ("9.3.2 empty file", "/empty.bin", []),
    ("9.3.2 listing", "/", []),
    ("9.3.2 listing as JSON", "/", ["Accept: application/json"]),
    ("9.3.2 missing file", "/none", []),
    ("9.3.2 directory without its slash", "/folder", []),
    ("9.3.2 directory that is not listed", "/private/", []),
    ("9.3.2 redirect", "/old/a?b", []),
    ("9.3.2 malformed path", "/%zz", []),
    ("8.6 echo as a message", "/echo/a?b", []),
    ("8.6 echo as JSON", "/echo/a?b", ["Accept: application/json"]),
    ("9.3.2 not modified", "/small.bin", ["If-None-Match: *"]),
    ("9.3.2 precondition failed", "/small.bin", ['If-Match: "other"']),
    ("9.3.2 expectation failed", "/small.bin", ["Expect: teapot"]),
)

# label, target, what Allow says
RESOURCES = (
    ("9.3.7 file", "/small.bin", FILES),
    ("9.3.7 missing path", "/none", FILES),
    ("9.3.7 directory", "/", FILES),
    ("9.3.7 echo", "/echo", ECHO),
    ("9.3.7 redirect", "/old/x", REDIRECT),
    ("9.3.7 absolute form", "http://test/small.bin", FILES),
)


class Site(TestCase):
    @classmethod
    def serve(cls):
        tree.write(cls.root, "small.bin", tree.content(1000))
        tree.write(cls.root, "large.bin", tree.content(1000000))
        tree.write(cls.root, "empty.bin", b"")
        tree.write(cls.root, "folder/x", b"")
        tree.write(cls.root, "private/x", b"")
        return Daemon(config=configuration(hosts=[host(
            cls.root,
            {"path": "/", "listing": True},
            {"path": "/private/", "listing": False},
            {"path": "/echo", "handler": "echo"},
            {"path": "/old/", "redirect": {"status": 302, "to": "/new/"}},
        )]))


@suite.cases(ALIKE)
class Head(Site):
    def check(self, _label, target, fields):
        """9.3.2: what HEAD says is what GET would; 8.6: its length as well."""
        for _ in range(2):  # from the disk, then from the cache
            get = fetch(self.address, target, "GET", fields)
            head = fetch(self.address, target, "HEAD", fields)
            self.assertEqual(head.status, get.status)
            self.assertEqual(head.body, b"")
            without_date = lambda response: [f for f in response.fields if f[0] != "date"]
            self.assertEqual(without_date(head), without_date(get))

    def test_no_content_on_a_kept_connection(self):
        """With an error as well, what follows a head is the next head."""
        data = request("/none", "HEAD") + request("/small.bin", "HEAD") + request("/", "HEAD")
        with Connection(self.address) as connection:
            connection.send(data * 5 + request("/small.bin"))
            for _ in range(5):
                self.assertEqual(connection.read_response("HEAD").status, 404)
                self.assertEqual(connection.read_response("HEAD").status, 200)
                self.assertEqual(connection.read_response("HEAD").status, 200)
            self.assertEqual(connection.read_response().body, tree.content(1000))


@suite.cases(RESOURCES)
class Allow(Site):
    def check(self, _label, target, methods):
        options = fetch(self.address, target, "OPTIONS")
        self.assertIn(options.status, (200, 204))
        self.assertEqual(set(options.members("Allow")), methods)
        for method in {"DELETE", "POST", "TRACE", "PUT"}:
            if method.lower() in methods:
                continue
            refused = fetch(self.address, target, method)
            self.assertEqual(refused.status, 405, method)
            self.assertEqual(set(refused.members("Allow")), methods, method)
        for method in ("BREW", "PROPFIND", "get", "GETS", "M-SEARCH"):
            self.assertEqual(fetch(self.address, target, method).status, 501, method)


class Options(Site):
    def test_of_the_server(self):
        """9.3.7: the asterisk is no path; nothing is looked up for it."""
        for target in ("*", "http://test"):
            response = fetch(self.address, target, "OPTIONS")
            self.assertIn(response.status, (200, 204))
            self.assertLessEqual(FILES, set(response.members("Allow")))

    def test_conditions_and_ranges_are_ignored(self):
        """13.2.1, 14.2: nothing is selected, so there is nothing to compare."""
        for field in ("If-None-Match: *", 'If-Match: "x"', "Range: bytes=0-0",
                      "If-Unmodified-Since: Thu, 01 Jan 1970 00:00:00 GMT"):
            self.assertIn(fetch(self.address, "/small.bin", "OPTIONS", [field]).status, (200, 204), field)
            self.assertEqual(fetch(self.address, "/small.bin", "DELETE", [field]).status, 405, field)


class Refused(Site):
    def test_trace_reflects_nothing(self):
        """9.3.8: what a client sent, credentials too, is not sent back by TRACE."""
        for target in ("/small.bin", "/echo", "/none"):
            response = fetch(self.address, target, "TRACE", ["Cookie: secret", "Max-Forwards: 0"])
            self.assertEqual(response.status, 405)
            self.assertNotIn(b"secret", response.body)

    def test_connect(self):
        """9.3.6: no tunnel, and nothing that follows is taken for a request."""
        for authority in ("test:80", "[::1]:443"):
            data = request(authority, "CONNECT", host=authority) + request("/small.bin")
            response, = exchange(self.address, data, ("CONNECT",))
            self.assertEqual(response.status, 405)
            self.assertFalse(response.keeps_alive)

    def test_connect_without_a_valid_port(self):
        """9.3.6: refused as malformed."""
        for authority in ("test", "test:", "test:0", "test:99999", "test:x", "/", "*", ":80"):
            data = request(authority, "CONNECT", host="test")
            self.assertEqual(exchange(self.address, data, ("CONNECT",))[0].status, 400, authority)

    def test_upgrade_is_ignored(self):
        """7.8: a server may go on with what it speaks."""
        for fields in (["Upgrade: websocket", "Connection: Upgrade"], ["Upgrade: h2c", "Connection: Upgrade, HTTP2-Settings"]):
            with Connection(self.address) as connection:
                connection.send(request("/small.bin", fields=fields) + request("/empty.bin"))
                response = connection.read_response()
                self.assertEqual((response.status, response.body), (200, tree.content(1000)))
                self.assertEqual(connection.read_response().body, b"")

    def test_https_targets(self):
        """7.4: what is to be had over a secured connection alone is not given over this one."""
        response, = exchange(self.address, request("https://test/small.bin"))
        self.assertEqual(response.status, 421)


if __name__ == "__main__":
    suite.main()
