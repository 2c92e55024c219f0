# SPDX-License-Identifier: MIT
"""Requests for what is no file: echoes, passwords, listings, redirects, errors, the status."""

import base64
import json
import re

from fuzzing.answers import Request, expect, expect_body, expect_status
from fuzzing.files import BROWSER
from fuzzing.site import FIXED, SHELF

SMUGGLED = (b"0\r\n\r\nGET /fixed/100.bin HTTP/1.1\r\nHost: test\r\n\r\n",
            b"\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            b"POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 9\r\n\r\n", b"\0\r\n\xff", b"5\r\nhello\r\n0\r\n\r\n")
SIZES = (0, 1, 10, 300, 4000, 16384, 65536, 65537, 200000)


class Answer(Request):
    """An answer of one status, perhaps with one content, and fields that it has to have."""

    def __init__(self, *arguments, statuses=(200,), content=None, has=None, **options):
        super().__init__(*arguments, **options)
        self.statuses, self.content, self.has = statuses, content, has or {}

    def judge(self, view, response):
        expect_status(response, *self.statuses)
        if self.method == "HEAD":
            expect(response.body == b"", "content for HEAD")
        elif self.content is not None:
            expect_body(response, self.content, "the content")
        for name, value in self.has.items():
            expect(response.get(name) == value, "%s is %r, not %r", name, response.get(name), value)


# ---- echo -----------------------------------------------------------------------------------


def _content(random):
    size = random.choice(SIZES)
    if random.random() < 0.4:
        return random.randbytes(size)
    text = random.choice(SMUGGLED)
    return (text * (size // len(text) + 1))[:size]


def _chunks(random, content):
    made, at = b"", 0
    while at < len(content):
        step = min(len(content) - at, random.choice((1, 7, 100, 5000, 70000)))
        if len(content) - at > 5000:
            step = max(step, 5000)
        extension = random.choice((b"", b"", b";a=b", b';x="y z"'))
        made += b"%x%s\r\n%s\r\n" % (step, extension, content[at : at + step])
        at += step
    trailer = random.choice((b"", b"", b"X-Trailer: GET / HTTP/1.1\r\n"))
    return made + random.choice((b"0", b"000", b"0;last")) + b"\r\n" + trailer + b"\r\n"


def echo_length(random, ident, _tags):
    content = _content(random)
    fields = ["Content-Length: %d" % len(content), "Content-Type: text/x-fuzz"]
    request = Answer(random.choice(("POST", "PUT", "PATCH")), "/echo/some", ident, fields, content,
                     content=content, has={"Content-Type": "text/x-fuzz", "Content-Length": str(len(content))})
    _perhaps_expect(random, request)
    return request


def echo_chunked(random, ident, _tags):
    content = _content(random)
    request = Answer("POST", "/echo", ident, ["Transfer-Encoding: chunked"], _chunks(random, content),
                     content=content)
    _perhaps_expect(random, request)
    return request


def _perhaps_expect(random, request):
    """With Expect: 100-continue, whose client does not wait for the 100 for long, or at all."""
    if random.random() < 0.2:
        request.head = request.head[:-2] + b"Expect: 100-continue\r\n\r\n"
        request.pause = random.choice((0, 0.003))
        request.may_interim = True


class EchoedHead(Request):
    """The head comes back as it was sent."""

    def __init__(self, random, ident):
        super().__init__(random.choice(("GET", "GET", "HEAD")), "/echo/x?y=%2e", ident,
                         random.choice(([], ["X-One: 1", "x-two:2"], BROWSER[:1])))

    def judge(self, view, response):
        expect_status(response, 200)
        expect(response.get("Content-Type") == "message/http", "no message/http")
        if self.method == "GET":
            expect_body(response, self.head, "the head as it was sent")
        else:
            expect(response.get("Content-Length") == str(len(self.head) - 1), "the length of GET's")


def echo_head(random, ident, _tags):
    return EchoedHead(random, ident)


# ---- access ---------------------------------------------------------------------------------


def _basic(text):
    return "Authorization: Basic " + base64.b64encode(text.encode()).decode()


def password(random, ident, _tags):
    way = random.randrange(5)
    if way < 3:
        return Secret("GET", "/private/secret.bin", ident, [_basic("alice:secret")])
    fields = [[], [_basic("alice:guess")]][way - 3]
    return Answer("GET", "/private/secret.bin", ident, fields, statuses=(401,),
                  has={"WWW-Authenticate": 'Basic realm="vault", charset="UTF-8"'})


class Secret(Request):
    def judge(self, view, response):
        expect_status(response, 200)
        expect_body(response, view.pool.content("private/secret.bin", 0, FIXED["private/secret.bin"]),
                    "the secret")


def denied(random, ident, _tags):
    return Answer("GET", "/denied/x", ident, statuses=(403,))


# ---- listings -------------------------------------------------------------------------------


class Listing(Request):
    """Of a folder in which nothing changes."""

    def __init__(self, random, ident):
        self.is_json = random.random() < 0.5
        query = random.choice(("", "?sort=name", "?sort=size&order=desc", "?sort=time"))
        super().__init__("GET", "/list/" + query, ident, ["Accept: application/json"] if self.is_json else [])

    def judge(self, view, response):
        expect_status(response, 200)
        expected = {name[5:]: size for name, size in FIXED.items() if name.startswith("list/")}
        if self.is_json:
            found = {entry["name"]: entry["size"] for entry in json.loads(response.body)}
            expect(found == expected, "the listing has %s", found)
        else:
            names = re.findall(rb'<a href="\./([^"?/]+)"', response.body)
            expect({name.decode() for name in names} == set(expected), "the page has %s", names)
            expect(response.body.rstrip().endswith(b"</html>"), "the page has no end")


def listing(random, ident, _tags):
    return Listing(random, ident)


class Shelf(Request):
    """Of a folder in which files come and go: each as it may have been in the meantime."""

    def judge(self, view, response):
        expect_status(response, 200)
        found = {entry["name"]: entry["size"] for entry in json.loads(response.body)}
        for name in SHELF:
            states = view.possible(name)
            size = found.pop(name.split("/")[1], None)
            expect(any(state.size == size for state in states), "%s has %s bytes in the listing, not as in %s",
                   name, size, states)
        expect(not found, "unknown names in the listing: %s", found)


def shelf(random, ident, _tags):
    return Shelf("GET", "/shelf/", ident, ["Accept: application/json"])


# ---- elsewhere, errors, the server itself ----------------------------------------------------


def redirect(random, ident, _tags):
    way = random.randrange(3)
    if way == 0:
        return Answer("GET", "/old/100.bin", ident, statuses=(301,), has={"Location": "/fixed/100.bin?id=" + ident})
    if way == 1:
        return Answer("GET", "/list", ident, statuses=(301,), has={"Location": "/list/?id=" + ident})
    return Generation("GET", "/gen", ident)


class Generation(Request):
    """Where it leads tells the configuration in force: for a connection, since it was opened."""

    def judge(self, view, response):
        expect_status(response, 302)
        states = view.history.possible("configuration", view.opened, view.received)
        location = (response.get("Location") or "").partition("?")[0]
        expect(location in ["/g%d" % state.version for state in states],
               "Location is %s where these are right: %s", location, states)


def fallback(random, ident, _tags):
    target = random.choice(("/app/users/7", "/app/x"))
    if random.random() < 0.6:
        return App("GET", target, ident, BROWSER)
    return Answer("GET", target, ident, ["Accept: */*"], statuses=(404,))


class App(Request):
    def judge(self, view, response):
        expect_status(response, 200)
        expect_body(response, view.pool.content("app/index.html", 0, FIXED["app/index.html"]), "the fallback")


class OwnError(Request):
    def judge(self, view, response):
        expect_status(response, 404)
        if self.method == "GET":
            expect_body(response, view.pool.content("errors/404.html", 0, FIXED["errors/404.html"]), "the page")


def missing(random, ident, _tags):
    method = random.choice(("GET", "GET", "HEAD"))
    if random.random() < 0.3:
        return OwnError(method, "/own/nothing", ident)
    target = random.choice(("/nothing", "/fixed/nothing.bin", "/fixed/100.bin/x", "/fixed/.hidden", "/%2e%2e/etc/passwd"))
    return Answer(method, target, ident, random.choice(([], BROWSER)), statuses=(404,))


def no_listing(random, ident, _tags):
    return Answer("GET", "/fixed/", ident, statuses=(403,))


def options(random, ident, _tags):
    if random.random() < 0.3:
        request = Answer("OPTIONS", "*", "", statuses=(204,))
        request.is_logged = False
        return request
    target, allow = random.choice((("/fixed/1.bin", "GET, HEAD, OPTIONS"),
                                   ("/echo", "GET, HEAD, POST, PUT, PATCH, OPTIONS")))
    return Answer("OPTIONS", target, ident, statuses=(204,), has={"Allow": allow})


def refused_method(random, ident, _tags):
    way = random.randrange(4)
    if way == 0:
        return Answer("DELETE", "/fixed/100.bin", ident, statuses=(405,))
    if way == 1:
        content = SMUGGLED[0] * random.choice((1, 100, 900))
        return Answer("POST", "/fixed/100.bin", ident, ["Content-Length: %d" % len(content)], content, statuses=(405,))
    if way == 2:
        return Answer("POST", "/list/", ident, ["Transfer-Encoding: chunked"],
                      _chunks(random, SMUGGLED[2] * 50), statuses=(405,))
    request = Answer(random.choice(("BREW", "PROPFIND", "get")), "/fixed/1.bin", ident, statuses=(501,))
    request.may_close = True
    return request


def expectation(random, ident, _tags):
    request = Answer("GET", "/fixed/1.bin", ident, ["Expect: teapot"], statuses=(417,))
    request.may_close = True
    return request


class Status(Request):
    def judge(self, view, response):
        expect_status(response, 200)
        if "json" in self.target:
            found = json.loads(response.body)
            expect(found["connections"]["open"] >= 1, "no connection is open")
        elif "metrics" in self.target:
            expect(response.body.endswith(b"\n") and b"\nevixd_" in response.body, "no metrics")
        else:
            expect(response.body.rstrip().endswith(b"</html>"), "the page has no end")


def status(random, ident, _tags):
    path = random.choice(("/json", "/metrics", ""))
    return Status("GET", "/status" + path, ident, BROWSER if not path else [])
