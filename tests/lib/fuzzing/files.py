# SPDX-License-Identifier: MIT
"""Requests for files: whole, in part, on conditions; of files that stay and of files that change."""

import email.utils

from fuzzing.answers import FileRequest, Request, expect, expect_body, expect_status
from fuzzing.site import CUT, FIXED, LIVE

PLAIN = sorted(name for name in FIXED if name.startswith("fixed/"))
QUICK = [name for name in PLAIN if FIXED[name] < 1 << 20]
CODINGS = {"gzip": ".gz", "br": ".br", "zstd": ".zst"}
BROWSER = [
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "Accept-Language: en-US,en;q=0.5", "Sec-Fetch-Dest: document", "Sec-Fetch-Mode: navigate",
]
SETS = ([], BROWSER, ["User-Agent: curl/8.5.0", "Accept: */*"], ["X-Long: " + "x" * 900], ["x:y"] * 20)


def pick(random, names, large=0.03):
    """A name; the largest ones seldom."""
    if random.random() < large:
        return random.choice(sorted(names))
    return random.choice([name for name in sorted(names) if names[name] < 1 << 20])


def fixed_name(random):
    return pick(random, {name: FIXED[name] for name in PLAIN})


def some_fields(random):
    return list(random.choice(SETS))


def whole(random, ident, _tags):
    return FileRequest(fixed_name(random), "GET", some_fields(random), ident)


def small(ident):
    """In place of one that is too large."""
    return FileRequest("fixed/100.bin", "GET", [], ident)


def head(random, ident, _tags):
    return FileRequest(fixed_name(random), "HEAD", some_fields(random), ident)


def absolute(random, ident, _tags):
    request = FileRequest(fixed_name(random), "GET", [], ident)
    request.head = request.head.replace(b"GET /", b"GET http://test/", 1)
    return request


def old_version(random, ident, _tags):
    fields = ["Connection: keep-alive"] if random.random() < 0.7 else []
    request = FileRequest(random.choice(QUICK), "GET", fields, ident, version="1.0")
    return request


def content_unasked(random, ident, _tags):
    """GET with content, which is read and dropped."""
    size = random.choice((1, 10, 5000, 60000))
    request = FileRequest(random.choice(QUICK), "GET", ["Content-Length: %d" % size], ident)
    text = b"GET /none HTTP/1.1\r\nHost: test\r\n\r\n"
    request.body = (text * (size // len(text) + 1))[:size]
    return request


def _ranges(random, size, count):
    """Some of them beyond the end, or the last bytes, or to the end."""
    made = []
    for _ in range(count):
        way = random.random()
        first = random.randrange(max(1, size))
        if way < 0.1:
            made.append((None, random.randrange(1, size + 10)))
        elif way < 0.2:
            made.append((first, None))
        elif way < 0.27:
            made.append((size + random.randrange(1000), size + 2000))
        else:
            made.append((first, first + random.choice((0, 1, 99, 4095, 40000, 2 << 20))))
    return made


def _range_text(ranges):
    return "Range: bytes=" + ",".join(
        "%s-%s" % ("" if first is None else first, "" if last is None else last)
        for first, last in ranges)


def _with_ranges(random, name, size, ident, count, fields=()):
    ranges = _ranges(random, size, count)
    request = FileRequest(name, "GET", [_range_text(ranges), *fields], ident)
    request.range = ranges
    return request


def one_range(random, ident, _tags):
    name = fixed_name(random)
    return _with_ranges(random, name, FIXED[name], ident, 1, some_fields(random))


def many_ranges(random, ident, _tags):
    name = fixed_name(random)
    return _with_ranges(random, name, FIXED[name], ident, random.randrange(2, 9))


def known_tag(random, tags, name):
    """One that an answer had, as far as there was one."""
    known = sorted(tags.get(name, ()))
    return random.choice(known) if known else '"nothing"'


def _conditional(random, name, ident, tags):
    tag = known_tag(random, tags, name)
    others = ['"other"', 'W/"x,y"', '""']
    way = random.random()
    if way < 0.6:
        field = "If-None-Match: " + ", ".join(others[: random.randrange(3)] + [tag])
        request = FileRequest(name, random.choice(("GET", "GET", "HEAD")), [field], ident)
        request.none_match = {tag}
    elif way < 0.8:
        first, last = random.randrange(150), 150 + random.randrange(100000)
        request = FileRequest(name, "GET", ["Range: bytes=%d-%d" % (first, last), "If-Range: " + tag], ident)
        request.range, request.if_range = [(first, last)], tag
    else:
        request = FileRequest(name, "GET", ['If-Match: "never", "was"'], ident)
        request.matches_nothing = True
    return request


def condition(random, ident, tags):
    return _conditional(random, fixed_name(random), ident, tags)


def unmodified(random, ident, _tags):
    date = email.utils.formatdate(1700000000, usegmt=True)
    request = FileRequest(fixed_name(random), "GET", ["If-Modified-Since: " + date], ident)
    request.is_unmodified = True
    return request


def live(random, ident, _tags):
    return FileRequest(pick(random, LIVE, 0.1), random.choice(("GET", "GET", "GET", "HEAD")),
                       some_fields(random), ident)


def live_condition(random, ident, tags):
    return _conditional(random, pick(random, LIVE, 0.1), ident, tags)


def live_range(random, ident, _tags):
    name = pick(random, LIVE, 0.1)
    return _with_ranges(random, name, LIVE[name], ident, random.choice((1, 1, 3)))


def cut(random, ident, _tags):
    """Of a file that may be truncated while it is served."""
    request = FileRequest(random.choice(sorted(CUT)), "GET", some_fields(random), ident)
    request.file = request.name
    return request


class Sibling(Request):
    """A precompressed sibling, or the file itself."""

    def __init__(self, random, ident):
        name = random.choice(("pre/page.html", "pre/large.css"))
        codings = [c for c in sorted(CODINGS) if name + CODINGS[c] in FIXED]
        self.coding = random.choice(codings + [None])
        fields = ["Accept-Encoding: %s" % (self.coding or "identity")]
        super().__init__("GET", "/" + name, ident, fields)
        self.name = name + (CODINGS[self.coding] if self.coding else "")

    def judge(self, view, response):
        expect_status(response, 200)
        expect(response.get("Content-Encoding") == self.coding, "the coding is %s, not %s",
               response.get("Content-Encoding"), self.coding)
        expect("accept-encoding" in response.members("Vary"), "no Vary: Accept-Encoding")
        expect_body(response, view.pool.content(self.name, 0, FIXED[self.name]), "the sibling")
        configurations = {"g%d" % state.version for state in
                          view.history.possible("configuration", view.opened, view.received)}
        expect(response.get("X-Generation") in configurations, "X-Generation is %s where %s is right",
               response.get("X-Generation"), configurations)


def sibling(random, ident, _tags):
    return Sibling(random, ident)
