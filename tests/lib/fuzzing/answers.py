# SPDX-License-Identifier: MIT
"""What an answer may be: a request's, and that of a file in one of its states."""

import re

import wire

BLOCK = 512  # a size to compare by
FEW = 16  # bytes that two versions may have in common

class Wrong(AssertionError):
    """An answer that no model allows."""


class View:
    """What is known when an answer is judged: the times, the states, the tags that were seen."""

    def __init__(self, history, pool, tags, sent, received, opened):
        self.history, self.pool, self.tags = history, pool, tags
        self.sent, self.received, self.opened = sent, received, opened

    def possible(self, name):
        return self.history.possible(name, self.sent, self.received)

    def key(self, state):
        """The same for the same content: of a few bytes there is more than one version."""
        return bytes(self.content(state)) if state.size < FEW else state.key

    def content(self, state):
        return self.pool.content(state.source, state.version, state.size)


class Request:
    """One request: its bytes, and judge(view, response), which raises Wrong."""

    def __init__(self, method, target, ident="", fields=(), body=b"", version="1.1", host="test"):
        self.method = method
        self.ident = ident
        self.fields = list(fields)
        self.version = version
        if ident:
            target += ("&" if "?" in target else "?") + "id=" + ident
        self.target = target
        self.head = wire.request(target, method, self.fields, host, version)
        self.body = body
        self.file = None  # the name of the file that it is for, if it may be truncated
        self.closes = version == "1.0" and not any("keep-alive" in f for f in self.fields)
        self.may_close = False  # or may not, as the daemon likes
        self.is_logged = bool(ident)
        self.pause = 0.0  # between head and body
        self.is_half = False  # its content never comes
        self.may_interim = False

    @property
    def data(self):
        return self.head + self.body

    def close(self):
        """Makes it the connection's last one."""
        if not self.closes:
            self.head = self.head[:-2] + b"Connection: close\r\n\r\n"
            self.closes = True

    def judge(self, view, response):
        raise NotImplementedError

    def __repr__(self):
        return "<%s %s>" % (type(self).__name__, self.ident)


def expect(condition, text, *arguments):
    if not condition:
        raise Wrong(text % arguments if arguments else text)


def expect_status(response, *statuses):
    expect(response.status in statuses, "status %d where %s is right", response.status, statuses)


def expect_body(response, content, what):
    if response.body != content:
        raise Wrong("%s: %s" % (what, difference(response.body, content)))


def difference(found, expected):
    """Where two contents differ, in a line."""
    if len(found) != len(expected):
        text = "%d bytes where %d are right; " % (len(found), len(expected))
    else:
        text = ""
    for at in range(min(len(found), len(expected))):
        if found[at] != expected[at]:
            return text + "the first other byte is at %d: %r, not %r" % (
                at, bytes(found[at : at + 24]), bytes(expected[at : at + 24]))
    return text + "the same as far as they go"


def pieces_of(view, name, body):
    """Which versions a content is made of, as far as that can be told: for a person to read."""
    found = []
    states = {state.key: state for state in view.history.states.get(name, ()) if state.key}
    for at in range(0, len(body), 4096):
        piece = body[at : at + 4096]
        keys = [key for key, state in states.items()
                if len(piece) > 8 and view.content(state)[at : at + len(piece)] == piece]
        if not found or found[-1][1] != keys:
            found.append((at, keys))
    return "; ".join("from %d: %s" % (at, keys or "no version known") for at, keys in found[:20])


# ---- a file in one of its states ------------------------------------------------------------


class FileRequest(Request):
    """GET or HEAD of a file, with a range or a condition."""

    def __init__(self, name, method="GET", fields=(), ident="", **options):
        super().__init__(method, "/" + name, ident, fields, **options)
        self.name = name
        self.range = None  # [(first, last or None)], last included; (None, n): the last n
        self.none_match = None  # tags
        self.matches_nothing = False  # If-Match with a tag that never was
        self.if_range = None
        self.is_unmodified = False  # If-Modified-Since with the file's own time

    def judge(self, view, response):
        states = view.possible(self.name)
        reasons = []
        for state in states:
            try:
                self._judge_state(view, response, state)
                break
            except Wrong as wrong:
                reasons.append("%r: %s" % (state, wrong))
        else:
            raise Wrong("%r is no answer that /%s could have: %s\n  all states: %s\n  it is made of: %s" % (
                response, self.name, "; ".join(reasons),
                view.history.states.get(self.name), pieces_of(view, self.name, response.body)))
        self._remember(view, response, state)

    def _remember(self, view, response, state):
        tag = response.get("ETag")
        if tag is None or state.size is None or response.status not in (200, 206, 304):
            return
        known = view.tags.setdefault(self.name, {})
        key = view.key(state)
        other = known.setdefault(tag, key)
        expect(other == key, "one strong tag, %s, for two contents: %s and %s", tag, other, key)
        if len(known) > 40:
            del known[next(iter(known))]

    def _tag_names(self, view, tag, state):
        return view.tags.get(self.name, {}).get(tag) == view.key(state)

    def _judge_state(self, view, response, state):
        if state.size is None:
            expect_status(response, 404)
            return
        if self.matches_nothing:
            expect_status(response, 412)
            return
        if self.is_unmodified:
            expect_status(response, 304)
            return
        if response.status == 304:
            expect(any(self._tag_names(view, tag, state) for tag in self.none_match or ()),
                   "304, but no tag that was sent is this version's")
            return
        own = response.get("ETag")
        if self.none_match and own is not None and response.status in (200, 206):
            expect(own not in self.none_match, "%d, but its tag %s was sent as known",
                   response.status, own)
        content = view.content(state)
        ranges = self.range
        if ranges and self.if_range is not None:
            # The same content may have got another tag, but no tag another content.
            if not self._tag_names(view, self.if_range, state) or own not in (None, self.if_range):
                ranges = None
        if ranges is None:
            if self.file is not None and len(response.body) == len(content):
                content = self._as_cut(view, response.body, content)
            self._judge_whole(response, content)
        else:
            self._judge_ranges(response, content, ranges)

    def _as_cut(self, view, body, content):
        """What leaves by sendfile(2) is the page cache's own pages, until the client has it. Where a
        file is truncated meanwhile, the kernel sets to zero what of the last page, or folio, it cut
        off. Returns the body, if it differs from the content by nothing else."""
        cuts = [state.size for state in view.possible(self.name) if state.is_cut]
        for at in range(min(cuts, default=len(body)) // BLOCK * BLOCK, len(body), BLOCK):
            found, right = body[at : at + BLOCK], content[at : at + BLOCK]
            if found != right and any(found[i] not in (0, right[i]) for i in range(len(found))):
                return content
        return body if body[: min(cuts, default=0)] == content[: min(cuts, default=0)] else content

    def _judge_whole(self, response, content):
        expect_status(response, 200)
        expect(response.get("Content-Length") == str(len(content)), "Content-Length is %s, not %d",
               response.get("Content-Length"), len(content))
        expect_body(response, b"" if self.method == "HEAD" else content, "the content")

    def _judge_ranges(self, response, content, ranges):
        size = len(content)
        if response.status == 200 and (size == 0 or len(ranges) > 1):
            # Of nothing, all is as good as no part; and many parts may be more than all.
            self._judge_whole(response, content)
            return
        wanted = []
        for first, last in ranges:
            if first is None:
                first, last = max(0, size - last), size - 1
            last = size - 1 if last is None else min(last, size - 1)
            if first <= last:
                wanted.append((first, last))
        if not wanted:
            expect_status(response, 416)
            expect(response.get("Content-Range") == "bytes */%d" % size, "Content-Range is %s",
                   response.get("Content-Range"))
            return
        expect_status(response, 206)
        parts = self._parts(response, size)
        for first, last, data in parts:
            expect_body_part(data, content, first, last)
            expect(any(first <= b and a <= last for a, b in wanted), "a part that nobody asked for")
        for first, last in wanted:
            expect(any(a <= first and last <= b for a, b, _data in parts), "bytes %d to %d are missing",
                   first, last)

    def _parts(self, response, size):
        kind = response.get("Content-Type") or ""
        if not kind.startswith("multipart/byteranges"):
            return [content_range(response.get("Content-Range"), size) + (response.body,)]
        boundary = re.search(r'boundary="?([^";]+)', kind)[1].encode()
        pieces = response.body.split(b"\r\n--" + boundary)
        expect(pieces[-1].strip() == b"--", "the last boundary is missing")
        parts = []
        for piece in pieces[:-1]:
            if not piece:
                continue
            head, _, data = piece.partition(b"\r\n\r\n")
            field = re.search(rb"(?i)content-range: ([^\r]+)", head)
            if field is None and not parts:
                continue  # a preamble
            expect(field is not None, "a part without Content-Range: %r", head[:200])
            parts.append(content_range(field[1].decode(), size) + (data,))
        expect(parts, "no part")
        return parts


def content_range(value, size):
    match = re.match(r"bytes (\d+)-(\d+)/(\d+)\Z", value or "")
    expect(match, "Content-Range is %r", value)
    expect(int(match[3]) == size, "Content-Range says %s of a file of %d bytes", value, size)
    return int(match[1]), int(match[2])


def expect_body_part(data, content, first, last):
    if data != content[first : last + 1]:
        raise Wrong("bytes %d to %d: %s" % (first, last, difference(data, content[first : last + 1])))
