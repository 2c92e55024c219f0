# SPDX-License-Identifier: MIT
"""What an error says, to people and programs, and what it does not say."""

import base64
import hashlib
import json
import re

import suite
import tree
from evixd import Daemon, TestCase, configuration, host
from wire import Connection, exchange, fetch, request

HTML, TEXT, JSON = "text/html; charset=utf-8", "text/plain; charset=utf-8", "application/json"
BROWSER = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

# status, the request that leads to it, words of the answer
ERRORS = (
    (400, request("/", fields=["Host: a", "Host: b"]), "could not be understood"),
    (403, request("/private/"), "may not see"),
    (404, request("/nothing"), "nothing at this address"),
    (405, request("/", "DELETE"), "cannot be done"),
    (412, request("/file.txt", fields=['If-Match: "x"']), "has changed"),
    (413, request("/echo", "POST", ["Content-Length: 2000"]), "more than is accepted"),
    (414, request("/" + "x" * 600), "too long"),
    (416, request("/file.txt", fields=["Range: bytes=100-"]), "no such part"),
    (417, request("/", fields=["Expect: the-unexpected"]), "cannot be done"),
    (431, request("/", fields=["X: " + "x" * 3000]), "too long fields"),
    (501, request("/", "NEVERHEARD"), "unknown here"),
    (505, request("/", version="2.0"), "not spoken here"),
)


class Site(TestCase):
    @classmethod
    def serve(cls):
        tree.write(cls.root, "file.txt", b"content")
        return Daemon(config=configuration(
            workers=1, limits={"body": 1000, "target": 512, "head": 2048}, hosts=[host(
                cls.root, {"path": "/"}, {"path": "/echo", "handler": "echo"},
                {"path": "/private/", "allow": []}, listing=True)]))

    def answer(self, data, accept=None, method="GET"):
        if accept is not None:
            data = data.replace(b"\r\n", b"\r\nAccept: " + accept.encode() + b"\r\n", 1)
        with Connection(self.address) as connection:
            connection.send(data)
            return connection.read_response(method)


@suite.cases([(status, *row) for status, *row in ERRORS])
class Words(Site):
    """Each status says in words what happened, and in its own form."""

    def check(self, status, data, words):
        for accept in (None, "*/*", "text/plain"):
            response = self.answer(data, accept)
            self.assertEqual(response.status, status)
            self.assertEqual(response.all("Content-Type"), [TEXT])
            text = response.body.decode("utf-8")
            self.assertRegex(text, r"\A%d [^\n]+\n[^\n]+\n\Z" % status)
            self.assertIn(words, text)
            for name in ("ETag", "Last-Modified", "Accept-Ranges", "Cache-Control"):
                self.assertIsNone(response.get(name), name)
            self.assertEqual(response.all("X-Content-Type-Options"), ["nosniff"])
            self.assertIn("accept", response.members("Vary"))
        if status in (400, 431, 414, 505):
            return  # of a head that was refused nothing is believed, what it accepts neither
        response = self.answer(data, BROWSER[len("Accept: "):])
        self.assertEqual(response.all("Content-Type"), [HTML])
        page = response.body.decode("utf-8")
        self.assertIn(words, page)
        self.assertRegex(page, r"<title>%d " % status)
        self.assertTrue(page.endswith("</html>\n"))
        response = self.answer(data, "application/json")
        self.assertEqual(response.all("Content-Type"), [JSON])
        told = json.loads(response.body)
        self.assertEqual((told["status"], told["title"]), (status, response.reason))
        self.assertIn(words, told["detail"])


class Page(Site):
    def test_runs_and_loads_nothing(self):
        response = self.answer(request("/nothing", fields=[BROWSER]))
        page = response.body.decode("utf-8")
        for pattern in (r"<script", r"\sstyle=", r"\son[a-z]+=", r"(src|href)=\"(?!/\"|data:,\")"):
            self.assertNotRegex(page, pattern)
        style, = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        self.assertIn("style-src 'sha256-%s'" % digest, response.get("Content-Security-Policy"))

    def test_shows_nothing_of_the_request(self):
        response = self.answer(request("/%3Cscript%3Ealert(1)", fields=[BROWSER]))
        self.assertEqual(response.status, 404)
        self.assertNotIn(b"alert", response.body)

    def test_is_small(self):
        self.assertLess(len(self.answer(request("/nothing", fields=[BROWSER])).body), 1200)
        self.assertLess(len(self.answer(request("/nothing")).body), 100)


class Framing(Site):
    def test_head_has_no_content(self):
        """9110 9.3.2: the fields of GET and no content; the next request is understood."""
        for accept in ((), (BROWSER,), ("Accept: application/json",), ("Accept: text/plain",)):
            get, head, after = exchange(
                self.address,
                request("/nothing", fields=accept) + request("/nothing", "HEAD", accept) +
                request("/file.txt"), ("GET", "HEAD", "GET"))
            self.assertEqual(head.status, 404)
            self.assertEqual([f for f in get.fields if f[0] != "date"],
                             [f for f in head.fields if f[0] != "date"])
            self.assertEqual(after.body, b"content")

    def test_metadata_is_its_own(self):
        """An error after a file on one connection has nothing of the file's."""
        file, error, again = exchange(
            self.address,
            request("/file.txt") + request("/nothing") + request("/file.txt"), ("GET",) * 3)
        self.assertIsNotNone(file.get("ETag"))
        self.assertIsNone(error.get("ETag"))
        self.assertIsNone(error.get("Last-Modified"))
        self.assertNotEqual(error.get("Content-Length"), file.get("Content-Length"))
        self.assertEqual(again.body, b"content")

    def test_its_own_fields(self):
        self.assertEqual(set(self.answer(request("/", "DELETE")).members("Allow")),
                         {"get", "head", "options"})
        self.assertEqual(self.answer(request("/file.txt", fields=["Range: bytes=9-"])).get(
            "Content-Range"), "bytes */7")


if __name__ == "__main__":
    suite.main()
